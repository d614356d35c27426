package machinepool

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud/trace"
	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/machinepool/nodesync"
	"github.com/muster-project/muster/kube/machinepool/reference"
	"github.com/muster-project/muster/kube/machinepool/status"
)

// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinepools;machinepools/status;machinepools/finalizers,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters;clusters/status,verbs=get;list;watch
// +kubebuilder:rbac:groups=bootstrap.cluster.x-k8s.io,resources=kubeadmconfigs;kubeadmconfigtemplates,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=selfsubjectaccessreviews,verbs=create
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconciler reconciles MachinePools.
type Reconciler struct {
	// Client of the management cluster. It should read unstructured objects from a cache as well.
	Client client.Client
	// Live reads the management cluster without a cache, before a Machine is created or deleted; nil reads from the cache.
	Live client.Reader
	// ClusterCache connects to the workload clusters; it needs the indexes of kube/nodes.
	ClusterCache clustercache.ClusterCache
	// WatchFilterValue is the value of the label cluster.x-k8s.io/watch-filter that a pool must have to be reconciled;
	// empty reconciles all.
	WatchFilterValue string
	// SyncLabels and SyncAnnotations select further labels and annotations of a pool's template that its Nodes get, in addition to those
	// that all Nodes get (of node-role.kubernetes.io, node-restriction.kubernetes.io and node.cluster.x-k8s.io).
	SyncLabels, SyncAnnotations []*regexp.Regexp
	// Passes creates spans for passes; nil creates none.
	Passes *trace.Passes
	// MayWatch returns an error that wraps access.ErrForbidden for a kind that the manager may not read from a cache; nil allows all.
	MayWatch func(ctx context.Context, gvk schema.GroupVersionKind) error
	// Recorder of events; SetupWithManager sets it if it is nil.
	Recorder events.EventRecorder
	// Now is the clock; nil is the system clock.
	Now func() time.Time

	// kinds caches which kinds a pool may refer to.
	kinds contract.Kinds
	// watches is set by SetupWithManager; nothing is watched before.
	watches watches
}

// watches are the watches that are added while the controller runs.
type watches struct {
	// nodes is the controller that changes of Nodes of workload clusters wake.
	nodes clustercache.SourceWatcher[ctrl.Request]
	// referenced and members watch the objects of one kind: those that pools refer to, and the infrastructure machines of pools.
	referenced, members func(ctx context.Context, o client.Object) error
	// index finds the Machines and infrastructure machines of a pool.
	index *members.Index
}

// Reconcile runs one pass over one pool and writes its status once, at the end.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return control.WithSpan(ctx, r.Passes, "MachinePool", req, func(ctx context.Context) (ctrl.Result, error) { return r.reconcile(ctx, req) })
}

func (r *Reconciler) reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	pool := &clusterv1.MachinePool{}
	if err := r.Client.Get(ctx, req.NamespacedName, pool); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if r.WatchFilterValue != "" && !labels.HasWatchLabel(pool, r.WatchFilterValue) {
		return ctrl.Result{}, nil
	}
	cluster, err := clusterOf(ctx, r.Client, pool)
	if err != nil {
		return ctrl.Result{}, err
	}
	f := known(pool, cluster, r.now())
	p, outcome := r.run(ctx, f, newProgress(pool, f))
	// What was done is recorded even if the status of the pool cannot be written.
	status.RecordEvents(r.Recorder, p.did.pool, p.did.events)
	return requeue(outcome.Join(r.write(ctx, p)))
}

// afterConflict is the time until a pass is repeated after a conflict: by then the cache has the write of the other client.
const afterConflict = time.Second

// requeue returns what controller-runtime does next. Conflicts of optimistic writes are no errors.
func requeue(outcome control.Result) (ctrl.Result, error) {
	if control.IsOnlyConflict(outcome.Err) {
		return ctrl.Result{RequeueAfter: afterConflict}, nil
	}
	return outcome.Reconcile()
}

// errNotSetUp is returned for a Reconciler that lacks a field.
var errNotSetUp = errors.New("machinepool.Reconciler is incomplete")

func (r *Reconciler) complete() error {
	switch {
	case r.Client == nil:
		return fmt.Errorf("%w: set Client", errNotSetUp)
	case r.ClusterCache == nil:
		return fmt.Errorf("%w: set ClusterCache", errNotSetUp)
	}
	return nil
}

func (r *Reconciler) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

func (r *Reconciler) objects() reference.ObjectReader {
	return reference.ObjectReader{Cached: r.Client, Live: r.Live, Permitted: r.MayWatch}
}

func (r *Reconciler) references() reference.Reader {
	return reference.Reader{Objects: r.objects(), Kinds: &r.kinds, Track: r.watches.referenced}
}

func (r *Reconciler) members() members.Reader {
	return members.Reader{Objects: r.objects(), Index: r.watches.index, Track: r.watches.members}
}

func (r *Reconciler) connector() nodesync.Connector {
	return nodesync.Connector{Clusters: r.ClusterCache, NodeEvents: r.watches.nodes, Pools: r.Client}
}
