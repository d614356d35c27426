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
	"github.com/muster-project/muster/kube/conflicts"
	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/kube/spans"
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
	// Live reads the management cluster without a cache, before a Machine is made or deleted; nil trusts the cache.
	Live client.Reader
	// ClusterCache connects to the workload clusters; it needs the indexes of kube/nodes.
	ClusterCache clustercache.ClusterCache
	// WatchFilterValue is the value of the label cluster.x-k8s.io/watch-filter that a pool must have to be reconciled;
	// empty reconciles all.
	WatchFilterValue string
	// SyncLabels and SyncAnnotations choose further labels and annotations of a pool's template that its Nodes get, beside those
	// that all Nodes get (of node-role.kubernetes.io, node-restriction.kubernetes.io and node.cluster.x-k8s.io).
	SyncLabels, SyncAnnotations []*regexp.Regexp
	// Passes puts spans around passes; nil puts none.
	Passes *trace.Passes
	// MayWatch returns an error that wraps access.ErrForbidden for a kind that the manager may not read from a cache; nil allows all.
	MayWatch func(ctx context.Context, gvk schema.GroupVersionKind) error
	// Recorder of events; SetupWithManager sets it when it is nil.
	Recorder events.EventRecorder
	// Now is the clock; nil is the real one.
	Now func() time.Time

	// nodeEvents is what the Nodes of workload clusters wake.
	nodeEvents clustercache.SourceWatcher[ctrl.Request]
	// track makes sure that changes of objects of one kind wake their pools; nil tracks nothing.
	track func(ctx context.Context, o client.Object) error
	// kinds remembers which kinds a pool may refer to.
	kinds contract.Kinds
	// memberIndex finds the objects for the single machines of a pool; nil looks at all of the namespace.
	memberIndex *memberIndex
	// trackMachines does so for the infrastructure's objects for single machines, which their labels tie to a pool.
	trackMachines func(ctx context.Context, o client.Object) error
}

// Reconcile runs one pass over one pool and writes its outcome once, at the end.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return spans.Around(ctx, r.Passes, "MachinePool", req, func(ctx context.Context) (ctrl.Result, error) { return r.reconcile(ctx, req) })
}

func (r *Reconciler) reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	pool := &clusterv1.MachinePool{}
	if err := r.Client.Get(ctx, req.NamespacedName, pool); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if r.WatchFilterValue != "" && !labels.HasWatchLabel(pool, r.WatchFilterValue) {
		return ctrl.Result{}, nil
	}
	p, err := r.newPass(ctx, pool)
	if err != nil {
		return ctrl.Result{}, err
	}
	outcome := p.run(ctx, r.steps(p))
	// What was done is done, whether or not the pool's status can be written.
	r.announce(p)
	return settle(outcome.join(r.write(ctx, p)))
}

// afterConflict is when to look again after somebody else was faster: by then the cache has seen what they wrote.
const afterConflict = time.Second

// settle tells the conflicts of optimistic writes, which are no news to anybody, from errors.
func settle(outcome result) (ctrl.Result, error) {
	if conflicts.IsOnlyConflict(outcome.err) {
		return ctrl.Result{RequeueAfter: afterConflict}, nil
	}
	return outcome.ctrl()
}

// errNotSetUp says which field of a Reconciler is missing.
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
