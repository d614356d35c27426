package infrapool

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/pool"
)

// ReasonWaitingForBootstrap is why a pool is held whose bootstrap data is still to be made.
const ReasonWaitingForBootstrap = reasonWaitBootstrap

// NewPlanner makes the planner of one kind over its driver. Of the options it needs Client, ClusterCache and Now.
func NewPlanner[O Object, S any](a Adapter[O, S], d cloud.Driver[S], o Options) preview.Planner {
	return &planner[O, S]{adapter: a, driver: observing[S]{d}, options: o}
}

type planner[O Object, S any] struct {
	adapter Adapter[O, S]
	driver  cloud.Driver[S]
	options Options
}

// Kind of the infrastructure objects.
func (p *planner[O, S]) Kind() schema.GroupKind {
	kind := p.adapter.Kind()
	return schema.GroupKind{Group: kind.Group, Kind: kind.Name}
}

// Look runs the reading half of a pass.
func (p *planner[O, S]) Look(ctx context.Context, edited []client.Object, key client.ObjectKey, age time.Duration) (preview.Look, error) {
	options := p.options
	options.Client = preview.NewClient(p.options.Client, edited, p.indexes())
	r := New(p.adapter, p.driver, options)
	o := r.kind.New()
	if err := options.Client.Get(ctx, key, o); err != nil {
		return preview.Look{}, fmt.Errorf("read %s %s: %w", r.kind.Name, key, err)
	}
	return r.preview(ctx, o, age)
}

// indexes are those that a pass selects by.
func (p *planner[O, S]) indexes() []clustercache.CacheOptionsIndex {
	var list []clustercache.CacheOptionsIndex
	for _, i := range slices.Concat(Indexes(), []Index{OwnerIDIndex(p.adapter.Kind().New())}, MachineIndexes(p.adapter)) {
		list = append(list, clustercache.CacheOptionsIndex{Object: i.Object, Field: i.Field, ExtractValue: i.Values})
	}
	return list
}

// preview is a pass without its writes.
func (r *Reconciler[O, S]) preview(ctx context.Context, o O, age time.Duration) (preview.Look, error) {
	s, err := r.gather(ctx, o)
	if err != nil {
		return preview.Look{}, err
	}
	f, err := r.facts(ctx, s)
	if err != nil {
		return preview.Look{}, err
	}
	if err := r.findMachines(ctx, s, f); err != nil {
		return preview.Look{}, err
	}
	look := preview.Look{
		Object: o, Pool: s.pool, Desired: f.Desired, Traits: r.engine.Traits(), Now: f.Now, Paused: pauses(r.kind.Name, s.cluster, o),
	}
	if s.cluster != nil {
		look.InfraCluster = r.adapter.InfraCluster(s.cluster)
	}
	if r.kind.Health != nil {
		health := r.kind.Health(o)
		look.Health = &health
	}
	if look.NotObserved, err = r.notObservable(ctx, s, f); err != nil || look.NotObserved != nil {
		return look, err
	}
	_, look.Unreachable = r.remote(ctx, s)
	f.Target.MaxAge = age
	out := r.engine.Look(ctx, f.Input, r.workload(ctx, s))
	if step := out.Plan.Step; step != nil && step.Kind == pool.Adopt {
		f.Desired.Adopt.Done, f.Target.AssumeOwned = true, true
		look.Desired, look.Adopts = f.Desired, out.Observed.Unowned
		out = r.engine.Look(ctx, f.Input, r.workload(ctx, s))
	}
	look.Observed, look.Seen = out.Observed, out.Seen
	if !out.Seen {
		look.NotObserved = asCause(out.Err)
	}
	return look, nil
}

// notObservable says why there is no cloud to ask.
func (r *Reconciler[O, S]) notObservable(ctx context.Context, s *scope[O], f *facts[S]) (*pool.Cause, error) {
	rival, _, err := r.ownerIDConflict(ctx, s.object, f)
	if err != nil {
		return nil, err
	}
	switch {
	case rival.Name != "":
		return &pool.Cause{Reason: reasonOwnerIDTaken, Message: fmt.Sprintf("%s %s has the same annotation %s", r.kind.Name, rival, OwnerIDAnnotation)}, nil
	case f.notObservable != nil:
		return f.notObservable, nil
	case s.observeBlocked:
		return s.held, nil
	}
	return nil, nil
}

// asCause says in an observation's place why there is none.
func asCause(err error) *pool.Cause {
	return &pool.Cause{Reason: string(cloud.KindOf(err)), Message: err.Error()}
}

// observing is a driver that begins nothing.
type observing[S any] struct{ cloud.Driver[S] }

// Start refuses.
func (observing[S]) Start(_ context.Context, _ cloud.Target[S], s pool.Step) error {
	return fmt.Errorf("%s: %w", s.Kind, preview.ErrReadOnly)
}
