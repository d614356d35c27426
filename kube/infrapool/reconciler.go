package infrapool

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/trace"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/definitions"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/ownership"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/infrapool/workload"
	"github.com/muster-project/muster/kube/metrics"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/kube/policy/limiter"
	"github.com/muster-project/muster/kube/tokens"
)

const (
	// staleRetry is the delay before an object is read again that the cache returned in an older version than was written.
	staleRetry = 50 * time.Millisecond
	// definitionRetry is the time between two checks of the definition of a kind that is not reconciled.
	definitionRetry = time.Minute
)

// Options configure a reconciler.
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
	// Steady is the time between two observations of a quiescent pool; zero is the engine's default.
	Steady time.Duration
	// SkipModelReconciliation is true if a changed template is no reason to replace an instance, in any pool (feature gate
	// SkipMachinePoolModelReconciliation).
	SkipModelReconciliation bool
	// ForeignHolds are the marks of other tools that keep the machines of Nodes from being replaced. Unless it is empty, pods keep theirs too,
	// by the annotation that Karpenter honors.
	ForeignHolds []nodes.Mark
	// Machines is true if every instance has a Machine and an infrastructure machine, in pools without an annotation for it (feature gate
	// MachinePoolMachines).
	Machines bool
	// IdentityNamespace is the namespace of the secrets of cluster-scoped identities; empty is identity.DefaultNamespace.
	IdentityNamespace string
	// OwnCredentials are the namespaces that may use the manager's own credentials; nil is every namespace.
	OwnCredentials *common.AllowedNamespaces
	// IdentityEndpoints are the addresses of clouds' APIs that secrets of identities may name, in addition to the public ones.
	IdentityEndpoints []string
	// Policies limits rollouts by the rollout policies; nil limits none.
	Policies *limiter.Limiter
	// MayWatch returns an error if the manager may not list and watch a kind without namespaces; nil allows all.
	MayWatch func(context.Context, schema.GroupVersionKind) error
	// Passes creates spans around passes; nil creates none.
	Passes *trace.Passes
	// Metrics records what each pass observed; nil records nothing.
	Metrics *metrics.Pools
	// Definitions checks that the kind's CustomResourceDefinition is the one of this build; nil assumes that it is.
	Definitions *definitions.Checker
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinepools,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters;machinedrainrules,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch

// Reconciler reconciles the pools of one kind.
type Reconciler[O Object, S any] struct {
	Options
	adapter    Adapter[O, S]
	kind       Kind[O, S]
	driver     cloud.Driver[S]
	engine     *engine.Engine[S]
	writer     *writer[O]
	workloads  *workload.Clusters
	identities *identity.Sources
	owners     *ownership.Registry
	tokens     tokens.Memory
	metrics    poolMetrics
	rollbacks  *rollbacks[O, S]
	requests   watch.Requests
	watches    watches
}

// New returns the reconciler of one kind over its driver.
func New[O Object, S any](a Adapter[O, S], d cloud.Driver[S], o Options) *Reconciler[O, S] {
	if o.Now == nil {
		o.Now = time.Now
	}
	kind, identities := a.Kind(), identity.NewSources(o.Client, o.IdentityNamespace)
	identities.MayWatch, identities.OwnCredentials, identities.Endpoints = o.MayWatch, o.OwnCredentials, o.IdentityEndpoints
	r := &Reconciler[O, S]{
		Options:    o,
		adapter:    a,
		kind:       kind,
		driver:     d,
		engine:     engine.New(d, engine.Options{Steady: o.Steady}),
		writer:     newWriter[O](o.Client, kind.Name),
		workloads:  workload.NewClusters(o.ClusterCache, o.Client, o.Now),
		identities: identities,
		owners:     ownership.NewRegistry(o.Client, o.Now, ownership.Objects{Kind: kind.Name, NewList: kind.NewList}, kind.Kin...),
		metrics:    poolMetrics{recorder: o.Metrics, kind: kind.Name},
		requests: watch.Requests{Group: kind.Group, Kind: kind.Name, Reader: o.Client, Identities: identities,
			InfraCluster: a.InfraCluster, ControlPlane: kind.ControlPlane},
	}
	r.workloads.ForeignHolds = o.ForeignHolds
	r.rollbacks = newRollbacks(r)
	return r
}

// Reconcile is one pass over one object, with a span around it whose trace the logs name.
func (r *Reconciler[O, S]) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return control.WithSpan(ctx, r.Passes, r.kind.Name, req, func(ctx context.Context) (ctrl.Result, error) { return r.reconcile(ctx, req) })
}

func (r *Reconciler[O, S]) reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	o := r.kind.New()
	if err := r.Client.Get(ctx, req.NamespacedName, o); err != nil {
		return ctrl.Result{}, r.forget(ctx, req.NamespacedName, err)
	}
	if r.writer.stale.read(o) {
		return ctrl.Result{RequeueAfter: staleRetry}, nil
	}
	if !r.isManaged(o) {
		r.metrics.forget(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	if is, err := r.Definitions.Check(ctx, r.kind.groupKind()); err != nil || is.Message() != "" {
		r.metrics.forget(req.NamespacedName)
		return ctrl.Result{RequeueAfter: definitionRetry}, errors.Join(err, r.reportDefinition(ctx, o, is))
	}
	s, err := r.gather(ctx, o)
	if err != nil {
		return ctrl.Result{}, err
	}
	if cause := pausedBy(r.kind.Name, s.cluster, o); cause != "" {
		r.metrics.forget(req.NamespacedName)
		return r.reconcilePaused(ctx, s, cause)
	}
	result, err := r.run(ctx, s).Reconcile()
	if control.IsOnlyConflict(err) {
		// Another client wrote first: the next pass reads its change.
		return ctrl.Result{RequeueAfter: staleRetry}, nil
	}
	return result, err
}

// forget drops what is known of an object that cannot be read. If it does not exist any more, what it left behind is released.
func (r *Reconciler[O, S]) forget(ctx context.Context, key client.ObjectKey, err error) error {
	r.writer.stale.forget(key)
	r.identities.Use(key, nil)
	if !apierrors.IsNotFound(err) {
		return err
	}
	r.metrics.forget(key)
	r.owners.Forget(key)
	r.rollbacks.hashes.Forget(key)
	r.Policies.Forget(r.kind.Name, key)
	return releaseMachines(ctx, r.Client, r.kind, key)
}

// isManaged reports whether the object is for this reconciler: the filter selects it, and it is not released yet.
func (r *Reconciler[O, S]) isManaged(o O) bool {
	if r.WatchFilter != "" && o.GetLabels()[clusterv1.WatchLabel] != r.WatchFilter {
		return false
	}
	return o.GetDeletionTimestamp().IsZero() || controllerutil.ContainsFinalizer(o, r.kind.Finalizer)
}
