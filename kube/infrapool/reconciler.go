package infrapool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util/annotations"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/trace"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/conflicts"
	"github.com/muster-project/muster/kube/definitions"
	"github.com/muster-project/muster/kube/drain"
	"github.com/muster-project/muster/kube/metrics"
	"github.com/muster-project/muster/kube/tokens"
	"github.com/muster-project/muster/pool"
)

const (
	// staleRetry is how soon an object is read again that the cache gave older than we wrote it.
	staleRetry = 50 * time.Millisecond
	// unreachableGrace is how long a workload cluster must have been out of reach before a pool that is being deleted is
	// no longer drained. A shorter absence is a hiccup.
	unreachableGrace = 5 * time.Minute
	// connectGrace bounds the wait for the first connection to a workload cluster after a start of the process, and
	// connectRetry the time between two looks; the cache of clusters wakes the pools as soon as it has connected.
	connectGrace, connectRetry = 30 * time.Second, 2 * time.Second
	// definitionRetry is the time between two looks at the definition of a kind that is not run.
	definitionRetry = time.Minute
)

// Options are what a reconciler works with.
type Options struct {
	// Client of the management cluster. Secrets are read live, everything else from the cache.
	Client client.Client
	// ClusterCache has the clients of the workload clusters, with the indexes of package kube/nodes.
	ClusterCache clustercache.ClusterCache
	// Live reads the management cluster without a cache, before a Machine is deleted; nil trusts the cache.
	Live client.Reader
	// Recorder of events.
	Recorder events.EventRecorder
	// WatchFilter is the value of the label cluster.x-k8s.io/watch-filter that objects must have; empty takes all.
	WatchFilter string
	// Steady is the time between two looks at a pool in which nothing moves; zero takes the engine's default.
	Steady time.Duration
	// SkipModelReconciliation says that a changed template is no reason to replace an instance, in any pool (feature gate
	// SkipMachinePoolModelReconciliation).
	SkipModelReconciliation bool
	// Machines says that every instance gets a Machine and an infrastructure machine of its own, in pools that do not say
	// otherwise (feature gate MachinePoolMachines).
	Machines bool
	// IdentityNamespace is where the secrets of identities lie; empty takes DefaultIdentityNamespace.
	IdentityNamespace string
	// Passes puts spans around passes; nil puts none.
	Passes *trace.Passes
	// Metrics are told what each pass saw; nil are told nothing.
	Metrics *metrics.Pools
	// Definitions says whether the kind's CustomResourceDefinition is the one that this build comes with; nil takes it for that.
	Definitions *definitions.Checker
	// Now is the clock; nil takes the machine's.
	Now func() time.Time
}

// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinepools,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters;machinedrainrules,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch

// Reconciler runs the pools of one kind.
type Reconciler[O Object, S any] struct {
	Options
	adapter Adapter[O, S]
	kind    Kind[O, S]
	driver  *lookupPersister[S]
	engine  *engine.Engine[S]
	stale   *staleCache
	drains  *drain.Memory
	sources *Sources
	tokens  tokens.Memory
	begin   sync.Once
	began   time.Time
	metrics poolMetrics
	watches watches
	// taggedFor holds the object that a group's tags named when they were read last, for each object that has a rival.
	taggedFor sync.Map
	// requests maps what is watched to pools.
	requests *requests
}

// New makes the reconciler of one kind over its driver.
func New[O Object, S any](a Adapter[O, S], d cloud.Driver[S], o Options) *Reconciler[O, S] {
	if o.Now == nil {
		o.Now = time.Now
	}
	driver, kind, sources := newLookupPersister(d), a.Kind(), NewSources(o.Client, o.IdentityNamespace)
	return &Reconciler[O, S]{
		Options:  o,
		adapter:  a,
		kind:     kind,
		driver:   driver,
		engine:   engine.New(driver, engine.Options{Steady: o.Steady}),
		stale:    newStaleCache(),
		drains:   drain.NewMemory(),
		sources:  sources,
		metrics:  poolMetrics{recorder: o.Metrics, kind: kind.Name},
		requests: &requests{group: kind.Group, kind: kind.Name, reader: o.Client, sources: sources, infraCluster: a.InfraCluster},
	}
}

// reconcile is one pass over one object.
func (r *Reconciler[O, S]) reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	o := r.kind.New()
	if err := r.Client.Get(ctx, req.NamespacedName, o); err != nil {
		r.stale.forget(req.NamespacedName)
		r.sources.Use(req.NamespacedName, nil)
		if apierrors.IsNotFound(err) {
			r.metrics.forget(req.NamespacedName)
			r.taggedFor.Delete(req.NamespacedName)
			err = r.releaseMachines(ctx, req.NamespacedName)
		}
		return ctrl.Result{}, err
	}
	if r.stale.read(o) {
		return ctrl.Result{RequeueAfter: staleRetry}, nil
	}
	if !r.isManaged(o) {
		r.metrics.forget(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	if is, err := r.Definitions.Check(ctx, schema.GroupKind{Group: r.kind.Group, Kind: r.kind.Name}); err != nil || is.Message() != "" {
		r.metrics.forget(req.NamespacedName)
		return ctrl.Result{RequeueAfter: definitionRetry}, errors.Join(err, reportDefinition(ctx, r, o, is))
	}
	s, err := r.gather(ctx, o)
	if err != nil {
		return ctrl.Result{}, err
	}
	if why := pauses(r.kind.Name, s.cluster, o); why != "" {
		r.metrics.forget(req.NamespacedName)
		return r.reconcilePaused(ctx, s, why)
	}
	result, err := r.pass(ctx, s)
	if conflicts.IsOnlyConflict(err) {
		// Somebody else was faster, which is no news: their change is looked at next.
		return ctrl.Result{RequeueAfter: staleRetry}, nil
	}
	return result, err
}

// isManaged says whether the object is for this reconciler: it is among those that are watched, and there still is something
// to be done for it.
func (r *Reconciler[O, S]) isManaged(o O) bool {
	if r.WatchFilter != "" && o.GetLabels()[clusterv1.WatchLabel] != r.WatchFilter {
		return false
	}
	return o.GetDeletionTimestamp().IsZero() || controllerutil.ContainsFinalizer(o, r.kind.Finalizer)
}

// pass lets the engine run, if the cloud may be asked, and writes down what was seen.
func (r *Reconciler[O, S]) pass(ctx context.Context, s *scope[O]) (ctrl.Result, error) {
	if wait := r.connecting(ctx, s); wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	if err := r.watchNodes(ctx, s); err != nil {
		return ctrl.Result{}, err
	}
	f, err := r.facts(ctx, s)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.findMachines(ctx, s, f); err != nil {
		return ctrl.Result{}, err
	}
	v, err := r.nextAction(ctx, s, f)
	if err != nil {
		return ctrl.Result{}, err
	}
	if v == releaseObject {
		return ctrl.Result{}, r.release(ctx, s.object, f.Target.Owner)
	}
	out, err := r.runWithTokens(ctx, s, f, v)
	if err != nil {
		return ctrl.Result{}, err
	}
	tended := s.syncMachines(ctx, &out)
	r.metrics.observe(client.ObjectKeyFromObject(s.object), metrics.Pass{Cluster: s.clusterName(), Outcome: out, TokensEnd: f.tokensEnd, Now: f.Now})
	rep := report.Build(f.Desired, out, r.engine.Traits())
	reportConflicts(s.machines, &rep)
	reportGroupName(f, r.engine.Traits().Group, &rep)
	logPass(ctx, out)
	r.emitEvents(s.object, begun(rep.Events))
	if s.deleting() && out.Plan.DeletionComplete {
		r.emitEvents(s.object, append(lifecycleEvents(s.object.GetCommonStatus(), out, r.engine.Traits()), left(out.Observed.OwnershipConflict)...))
		r.endTokens(ctx, s, out.Observed)
		return ctrl.Result{}, r.release(ctx, s.object, f.Target.Owner)
	}
	return ctrl.Result{RequeueAfter: out.RequeueAfter}, errors.Join(tended, r.write(ctx, s, rep, out), f.failed)
}

// action is what may be done for an object in a pass.
type action int

const (
	// statusOnly: the cloud can't or need not be asked; the object tells why.
	statusOnly action = iota
	// runEngine: the cloud is asked.
	runEngine
	// releaseObject: the object goes, and nothing in the cloud is its own.
	releaseObject
)

// nextAction says what may be done. The cloud is not asked when nothing tells where to ask, or when nothing may be made and
// nothing can have been. Before it is asked, whatever will be made there can be found again.
func (r *Reconciler[O, S]) nextAction(ctx context.Context, s *scope[O], f *facts[S]) (action, error) {
	rival, sure, err := r.ownerIDConflict(ctx, s.object, f)
	if err != nil {
		return statusOnly, err
	}
	switch {
	case rival.Name != "" && s.deleting() && sure:
		return releaseObject, nil
	case rival.Name != "":
		f.Desired.CreateBlocked = &pool.Cause{Reason: reasonOwnerIDTaken, Message: fmt.Sprintf(
			"%s %s has the same annotation %s: take it away from this object to give it a group of its own", r.kind.Name, rival, OwnerIDAnnotation)}
		return statusOnly, nil
	case f.notObservable != nil:
		return statusOnly, nil
	case f.Desired.CreateBlocked != nil && !s.deleting() && (s.observeBlocked || !r.kind.hasIdentity(s.object)):
		return statusOnly, nil
	}
	return runEngine, r.claim(ctx, s.object, f.keep, f.drop)
}

// runWithTokens is run, with the tokens kept alive that machines may still be launched with. That this fails keeps nothing
// else from being done, and so does what keeps the cloud from being asked: it may launch machines all the same.
func (r *Reconciler[O, S]) runWithTokens(ctx context.Context, s *scope[O], f *facts[S], v action) (engine.Outcome, error) {
	var kept tokens.Refreshed
	kept, f.Desired.LostBootstrapData, f.failed = r.refreshTokens(ctx, s, f.Target.Remembered)
	f.Desired.RotatedBootstrapData = rotatedData(f.Target.Remembered, s.bootstrap.Hash())
	f.tokensEnd = kept.Until
	out := engine.Outcome{RequeueAfter: engine.DefaultSteady}
	var err error
	if v == runEngine {
		out, err = r.run(ctx, s, f)
	}
	if err == nil && out.Seen && !out.Plan.DeletionComplete {
		err = r.forgetTokens(ctx, s, f, out.Observed)
	}
	if kept.Next > 0 {
		out.RequeueAfter = min(out.RequeueAfter, kept.Next)
	}
	return out, err
}

// reconcilePaused is a pass over an object that is not to be touched: its machines may be launched all the same.
func (r *Reconciler[O, S]) reconcilePaused(ctx context.Context, s *scope[O], why string) (ctrl.Result, error) {
	o := s.object
	before := o.DeepCopyObject().(O)
	setPaused(o, why, r.Now())
	remembered, _ := resolved(o)
	kept, _, failed := r.refreshTokens(ctx, s, remembered)
	return ctrl.Result{RequeueAfter: kept.Next}, errors.Join(r.writeStatus(ctx, before, o), failed)
}

// run is the engine's pass, with look-ups written down before anything rests on them.
func (r *Reconciler[O, S]) run(ctx context.Context, s *scope[O], f *facts[S]) (engine.Outcome, error) {
	write := func(ctx context.Context, found map[string]string) error {
		if len(found) == 0 {
			return nil
		}
		return r.remember(ctx, s.object, merged(found, f.keep))
	}
	done := r.driver.during(f.Target.Owner.ID, write)
	defer done()
	nodes := throughMachines(s, r.workload(ctx, s))
	f.NeedsFreshRead = func(o pool.Observed) bool { return contradicts(s, o) }
	out := r.engine.Run(ctx, f.Input, nodes)
	if !out.Seen || out.Plan.DeletionComplete {
		return out, nil
	}
	return out, write(ctx, merged(f.adopted(out.Observed), out.Observed.ResolvedLookups))
}

// contradicts says that what was seen a moment ago is not what the objects say. Somebody has seen something newer, as a
// second manager does while a lease changes hands: to write what is older would begin a quarrel.
func contradicts[O Object](s *scope[O], o pool.Observed) bool {
	if !lists(s, o) {
		return false
	}
	if !slices.Equal(report.ProviderIDs(o), s.object.GetProviderIDList()) {
		return true
	}
	return o.Group != nil && (o.Group.ID != s.object.GetProviderID() || sizedElsewhere(s.pool) && replicas(s.pool) != o.Group.Size-o.Group.Surge)
}

// release lets the object go: nothing of it is left in the cloud, or nothing there was ever its own.
func (r *Reconciler[O, S]) release(ctx context.Context, o O, owner cloud.Owner) error {
	if err := r.dropFinalizer(ctx, o); err != nil {
		return client.IgnoreNotFound(err)
	}
	r.engine.Forget(owner.ID)
	r.metrics.forget(client.ObjectKeyFromObject(o))
	return nil
}

// sizedElsewhere says whether somebody else sizes the group.
func sizedElsewhere(mp *clusterv1.MachinePool) bool {
	return mp != nil && annotations.ReplicasManagedByExternalAutoscaler(mp)
}

// replicas is how many machines the MachinePool asks for; one where it says nothing, as its defaulting has it.
func replicas(mp *clusterv1.MachinePool) int {
	if mp == nil {
		return 0
	}
	return int(ptr.Deref(mp.Spec.Replicas, 1))
}
