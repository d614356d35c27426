package infrapool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// Planner looks at the pools of one infrastructure kind as the reconciler does, and changes nothing: neither in the cloud,
// which it only observes, nor in Kubernetes, where every write is refused.
type Planner interface {
	// Kind of the infrastructure objects.
	Kind() schema.GroupKind
	// Look looks at one pool with the edited objects in the place of those that the API server has. An observation of the
	// cloud may be as old as age says. That the cloud can't be asked, or does not answer, is in the Look; the error is
	// one of the API server.
	Look(ctx context.Context, edited []client.Object, key client.ObjectKey, age time.Duration) (Look, error)
}

// ReasonWaitingForBootstrap is why a pool is held whose bootstrap data is still to be made.
const ReasonWaitingForBootstrap = reasonWaitBootstrap

// Look is what a pass over one pool would decide from.
type Look struct {
	// Object is the infrastructure object, Pool its MachinePool (nil when there is none).
	Object client.Object
	Pool   *clusterv1.MachinePool
	// InfraCluster is what the cluster's place in the cloud is read from; its name is empty when there is none.
	InfraCluster clusterv1.ContractVersionedObjectReference
	// Desired, Observed and Traits go into pool.Decide, with Now.
	Desired  pool.Desired
	Observed pool.Observed
	Traits   pool.Traits
	Now      time.Time
	// Seen says that the cloud has answered; without that Observed means nothing.
	Seen bool
	// Paused says why the reconciler would leave the pool alone; empty when it would not.
	Paused string
	// NotObserved says why the cloud was not asked, or what it answered in the place of an observation.
	NotObserved *pool.Cause
	// Unreachable is why the workload cluster can't be asked for nodes; nil when it can.
	Unreachable error
	// Health is what the cloud's own roll keeps to, when the kind has one.
	Health *Health
	// Adopts is the group of another tool that the pool would adopt first; Observed is what it would observe then. It is nil without one.
	Adopts *pool.Unowned
}

// Health are the bounds that a cloud's own roll keeps to, as percentages of the group's size.
type Health struct {
	// MinPercent serve at any time; up to MaxPercent may exist.
	MinPercent, MaxPercent int
}

// Bounds are the least number that serve and the largest that exist while a group of so many machines is rolled. Where the
// percentages leave no room for a single machine, one goes at a time nevertheless.
func (h Health) Bounds(size int) (least, most int) {
	least, most = min(size, (size*h.MinPercent+99)/100), size
	switch {
	case h.MaxPercent > 100:
		most = size + max(1, size*(h.MaxPercent-100)/100)
	case least == size:
		least = max(0, size-1)
	}
	return least, most
}

// NewPlanner makes the planner of one kind over its driver. Of the options it needs Client, ClusterCache and Now.
func NewPlanner[O Object, S any](a Adapter[O, S], d cloud.Driver[S], o Options) Planner {
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
func (p *planner[O, S]) Look(ctx context.Context, edited []client.Object, key client.ObjectKey, age time.Duration) (Look, error) {
	options := p.options
	options.Client = newPreview(p.options.Client, edited, slices.Concat(Indexes(), []Index{OwnerIDIndex(p.adapter.Kind().New())}, MachineIndexes(p.adapter)))
	r := New(p.adapter, p.driver, options)
	o := r.kind.New()
	if err := options.Client.Get(ctx, key, o); err != nil {
		return Look{}, fmt.Errorf("read %s %s: %w", r.kind.Name, key, err)
	}
	return r.preview(ctx, o, age)
}

// preview is a pass without its writes.
func (r *Reconciler[O, S]) preview(ctx context.Context, o O, age time.Duration) (Look, error) {
	s, err := r.gather(ctx, o)
	if err != nil {
		return Look{}, err
	}
	f, err := r.facts(ctx, s)
	if err != nil {
		return Look{}, err
	}
	if err := r.findMachines(ctx, s, f); err != nil {
		return Look{}, err
	}
	look := Look{
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

// errReadOnly is what every write of a plan meets.
var errReadOnly = errors.New("a plan writes nothing")

// observing is a driver that begins nothing.
type observing[S any] struct{ cloud.Driver[S] }

// Start refuses.
func (observing[S]) Start(_ context.Context, _ cloud.Target[S], s pool.Step) error {
	return fmt.Errorf("%s: %w", s.Kind, errReadOnly)
}
