package infracluster

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/annotations"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Reconciler makes every infrastructure cluster of one kind ready.
type Reconciler struct {
	// Client of the management cluster.
	Client client.Client
	// Kind of the infrastructure clusters.
	Kind schema.GroupVersionKind
	// Network that an object stands for.
	Network func(o *unstructured.Unstructured) Network
}

// Network is what the cloud holds for one cluster.
type Network interface {
	// FillSpec sets what the object leaves open, the endpoint when there is one. What a person has written stays.
	FillSpec(o *unstructured.Unstructured, endpoint clusterv1.APIEndpoint) error
	// Make has the cloud hold what the object, filled in, names. It is asked again and again.
	Make(ctx context.Context, o *unstructured.Unstructured) error
	// FillStatus marks the network as ready.
	FillStatus(o *unstructured.Unstructured) error
}

// SetupWithManager adds the reconciler to a manager.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(mgr).
		For(r.newObject()).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(r.toInfrastructure)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the controller of %ss: %w", r.Kind.Kind, err)
	}
	return nil
}

func (r *Reconciler) newObject() *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(r.Kind)
	return o
}

func (r *Reconciler) toInfrastructure(_ context.Context, o client.Object) []reconcile.Request {
	c, ok := o.(*clusterv1.Cluster)
	if !ok || c.Spec.InfrastructureRef.Kind != r.Kind.Kind {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: c.Namespace, Name: c.Spec.InfrastructureRef.Name}}}
}

// Reconcile fills in one infrastructure cluster and marks it as ready.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	found := r.newObject()
	if err := r.Client.Get(ctx, req.NamespacedName, found); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	cluster, err := util.GetOwnerCluster(ctx, r.Client, metav1.ObjectMeta{Namespace: found.GetNamespace(),
		OwnerReferences: found.GetOwnerReferences()})
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("find the Cluster of %s: %w", req, err)
	}
	if !found.GetDeletionTimestamp().IsZero() || cluster == nil || annotations.IsPaused(cluster, found) {
		return ctrl.Result{}, nil
	}
	if err := r.fill(ctx, found, cluster); err != nil {
		return ctrl.Result{}, fmt.Errorf("fill in %s: %w", req, err)
	}
	return ctrl.Result{}, nil
}

// fill fills in the specification and, once the control plane is there, the status. What fits already is not written.
func (r *Reconciler) fill(ctx context.Context, found *unstructured.Unstructured, cluster *clusterv1.Cluster) error {
	network := r.Network(found)
	filled := found.DeepCopy()
	if err := network.FillSpec(filled, cluster.Spec.ControlPlaneEndpoint); err != nil {
		return err
	}
	if !equality.Semantic.DeepEqual(found.Object, filled.Object) {
		if err := r.Client.Patch(ctx, filled, client.MergeFrom(found)); err != nil {
			return err
		}
	}
	if awaitsControlPlane(cluster) {
		return nil
	}
	if err := network.Make(ctx, filled); err != nil {
		return err
	}
	ready := filled.DeepCopy()
	if err := network.FillStatus(ready); err != nil {
		return err
	}
	if err := unstructured.SetNestedField(ready.Object, true, "status", "initialization", "provisioned"); err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(filled.Object, ready.Object) {
		return nil
	}
	return r.Client.Status().Patch(ctx, ready, client.MergeFrom(filled))
}

// awaitsControlPlane holds a network back whose cluster's control plane is still to come. Core connects to a cluster as
// soon as its network is ready, and tries again only half a minute after it found no kubeconfig. The control plane of
// the local world needs no network, so it may come first.
func awaitsControlPlane(c *clusterv1.Cluster) bool {
	return c.Spec.ControlPlaneRef.IsDefined() && !ptr.Deref(c.Status.Initialization.ControlPlaneInitialized, false)
}
