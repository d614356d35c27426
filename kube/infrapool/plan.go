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
	"github.com/muster-project/muster/kube/infrapool/ownership"
	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/policy/limiter"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/rollouts"
)

// NewPlanner returns the planner of one kind over its driver. It uses the options Client, ClusterCache, Policies and Now. Its policies have
// no ledger and ask no gates.
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
	return p.adapter.Kind().groupKind()
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

// indexes returns the indexes that a pass selects by.
func (p *planner[O, S]) indexes() []clustercache.CacheOptionsIndex {
	var list []clustercache.CacheOptionsIndex
	for _, i := range slices.Concat(watch.Indexes(), p.adapter.Kind().Indexes()) {
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
	m, err := r.readMachines(ctx, s, f.input.Desired)
	if err != nil {
		return preview.Look{}, err
	}
	in := extend(f.input, m)
	look := preview.Look{
		Object: o, Pool: s.machinePool, Desired: in.Desired, Traits: r.engine.Traits(), Now: in.Now, Paused: pausedBy(r.kind.Name, s.cluster, o),
	}
	look.Limits = limitsAt(ctx, r.Policies, r.kind.Name, s)
	if s.cluster != nil {
		look.InfraCluster = r.adapter.InfraCluster(s.cluster)
	}
	if r.kind.Health != nil {
		health := r.kind.Health(o)
		look.Health = &health
	}
	other, err := r.otherOwner(ctx, s.object, f)
	if err != nil {
		return look, err
	}
	if look.NotObserved = notObservable(s, f, other); look.NotObserved != nil {
		return look, nil
	}
	_, look.Unreachable = r.workloads.Client(ctx, s.workload())
	in.Target.Cache.MaxAge = age
	workload := s.workload()
	workload.ForceAfter = forceAfter(in.Desired.Strategy)
	nodes := throughMachines(m, r.workloads.Nodes(ctx, workload))
	out := r.engine.Look(ctx, in, nodes)
	if step := out.Plan.Step; step != nil && step.Kind == pool.Adopt {
		in.Desired.Adopt.Done, in.Target.AssumeOwned = true, true
		look.Desired, look.Adopts = in.Desired, out.Observed.Unowned
		out = r.engine.Look(ctx, in, nodes)
	}
	look.Observed, look.Seen = out.Observed, out.Seen
	if !out.Seen {
		look.NotObserved = asCause(out.Err)
	}
	return look, nil
}

// limitsAt returns what rollout policies allow at a time; nil if none are read.
func limitsAt[O Object](ctx context.Context, by *limiter.Limiter, kind string, s scope[O]) func(time.Time) rollouts.Limits {
	if by == nil {
		return nil
	}
	return func(at time.Time) rollouts.Limits {
		l := limits(ctx, by, kind, s, at)
		l.Returns = s.asked.returns
		return l
	}
}

// notObservable returns why the cloud cannot be read, or nil.
func notObservable[O Object, S any](s scope[O], f facts[S], other ownership.OtherOwner) *pool.Cause {
	switch {
	case other.Name.Name != "":
		return &pool.Cause{Reason: reasonOwnerIDTaken, Message: fmt.Sprintf("%s %s has the same annotation %s", other.Kind, other.Name,
			ownership.Annotation)}
	case f.notObservable != nil:
		return f.notObservable
	case s.observeBlocked:
		return s.createBlocked
	}
	return nil
}

// asCause returns why there is no observation.
func asCause(err error) *pool.Cause {
	return &pool.Cause{Reason: string(cloud.KindOf(err)), Message: err.Error()}
}

// observing is a driver that starts nothing.
type observing[S any] struct{ cloud.Driver[S] }

// Start returns preview.ErrReadOnly.
func (observing[S]) Start(_ context.Context, _ cloud.Target[S], s pool.Step) error {
	return fmt.Errorf("%s: %w", s.Kind, preview.ErrReadOnly)
}
