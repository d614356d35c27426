package controlplane

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/patch"
	"sigs.k8s.io/cluster-api/util/paused"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	localv1 "github.com/muster-project/muster/api/local/v1beta1"
	"github.com/muster-project/muster/local/objects"
	"github.com/muster-project/muster/local/workload"
)

// concurrency bounds the concurrent reconciles. The Servers limit the concurrent starts of API servers.
const concurrency = 4

// Reconciler runs an API server for every LocalControlPlane.
type Reconciler struct {
	// Client accesses the management cluster. It reads Secrets from the API server, not from a cache.
	Client client.Client
	// Servers runs the API servers.
	Servers workload.Servers
	// Publisher announces the addresses of the servers.
	Publisher *workload.Publisher
}

// SetupWithManager adds the reconciler to a manager.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(mgr).
		For(&localv1.LocalControlPlane{}).
		Watches(&clusterv1.Cluster{}, objects.OfControlPlane(localv1.GroupVersion.WithKind("LocalControlPlane"))).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the controller of local control planes: %w", err)
	}
	return nil
}

// Reconcile brings one LocalControlPlane and its API server together.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	lcp := &localv1.LocalControlPlane{}
	if err := r.Client.Get(ctx, req.NamespacedName, lcp); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	cluster, err := objects.OwnerOf(ctx, r.Client, lcp)
	if err != nil {
		return ctrl.Result{}, err
	}
	if done, err := r.pause(ctx, lcp, cluster); err != nil || done {
		return ctrl.Result{}, err
	}
	helper, err := patch.NewHelper(lcp, r.Client)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("prepare to patch %s: %w", req, err)
	}
	err = r.bring(ctx, lcp, cluster)
	lcp.Status.ObservedGeneration = lcp.Generation
	patched := helper.Patch(ctx, lcp, patch.WithOwnedConditions{Conditions: []string{available, clusterv1.PausedCondition}})
	// The patch that takes the finalizer away ends the object; nothing of its status is left to write.
	if !lcp.DeletionTimestamp.IsZero() {
		patched = kerrors.FilterOut(patched, apierrors.IsNotFound)
	}
	return ctrl.Result{}, errors.Join(err, patched)
}

// pause reports whether the pass ends here, because the cluster is paused or because that was just written down.
func (r *Reconciler) pause(ctx context.Context, lcp *localv1.LocalControlPlane, cluster *clusterv1.Cluster) (bool, error) {
	if cluster == nil {
		return false, nil
	}
	isPaused, again, err := paused.EnsurePausedCondition(ctx, r.Client, cluster, lcp)
	if err == nil && isPaused {
		err = r.resume(ctx, lcp, cluster)
	}
	return isPaused || again, err
}

// bring brings the control plane one step further.
func (r *Reconciler) bring(ctx context.Context, lcp *localv1.LocalControlPlane, cluster *clusterv1.Cluster) error {
	switch {
	case !lcp.DeletionTimestamp.IsZero():
		return r.remove(ctx, lcp)
	case cluster == nil:
		markUnavailable(lcp, "WaitingForCluster", "waits for a Cluster whose spec.controlPlaneRef names it")
		return nil
	case controllerutil.AddFinalizer(lcp, localv1.LocalControlPlaneFinalizer):
		// The API server is started once the finalizer is stored: a deletion in between must find it.
		markUnavailable(lcp, "Starting", "the API server is being started")
		return nil
	default:
		return r.ensure(ctx, lcp, cluster)
	}
}

// resume starts an API server again that served before this process did. Pausing stops changes, not a control plane.
func (r *Reconciler) resume(ctx context.Context, lcp *localv1.LocalControlPlane, cluster *clusterv1.Cluster) error {
	if !lcp.DeletionTimestamp.IsZero() || !controllerutil.ContainsFinalizer(lcp, localv1.LocalControlPlaneFinalizer) {
		return nil
	}
	_, err := r.Servers.Start(ctx, client.ObjectKeyFromObject(lcp), wantedOf(lcp, cluster))
	return err
}

func wantedOf(lcp *localv1.LocalControlPlane, cluster *clusterv1.Cluster) workload.ServerSpec {
	return workload.ServerSpec{
		Cluster: cluster.Name, Port: int(lcp.Spec.ControlPlaneEndpoint.Port),
		NodeMonitorGrace: time.Duration(lcp.Spec.NodeMonitorGracePeriodSeconds) * time.Second,
	}
}

// ensure starts the API server and publishes its address.
func (r *Reconciler) ensure(ctx context.Context, lcp *localv1.LocalControlPlane, cluster *clusterv1.Cluster) error {
	endpoint := lcp.Spec.ControlPlaneEndpoint
	if endpoint.Host != "" && endpoint.Host != workload.Host {
		markUnavailable(lcp, "InvalidEndpoint",
			fmt.Sprintf("spec.controlPlaneEndpoint.host: want %s, where API servers of the local world listen, or nothing; found %s", workload.Host,
				endpoint.Host))
		return nil
	}
	s, err := r.Servers.Start(ctx, client.ObjectKeyFromObject(lcp), wantedOf(lcp, cluster))
	if err != nil {
		markUnavailable(lcp, "ServerNotStarted", err.Error())
		return err
	}
	if err := r.Publisher.Publish(ctx, lcp, cluster.Name, s); err != nil {
		markUnavailable(lcp, "SecretsNotWritten", err.Error())
		return err
	}
	lcp.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: workload.Host, Port: int32(s.Port)}
	markAvailable(lcp, r.Servers.Version())
	return nil
}

// remove stops the API server, removes what it kept, and lets the object go.
func (r *Reconciler) remove(ctx context.Context, lcp *localv1.LocalControlPlane) error {
	if !controllerutil.ContainsFinalizer(lcp, localv1.LocalControlPlaneFinalizer) {
		return nil
	}
	if err := r.Servers.Remove(ctx, client.ObjectKeyFromObject(lcp)); err != nil {
		markUnavailable(lcp, "NotRemoved", err.Error())
		return err
	}
	if err := r.Publisher.Withdraw(lcp); err != nil {
		return err
	}
	controllerutil.RemoveFinalizer(lcp, localv1.LocalControlPlaneFinalizer)
	return nil
}
