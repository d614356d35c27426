package infracluster

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/objects"
)

// Reconciler makes every infrastructure cluster of one kind ready.
type Reconciler struct {
	// Client of the management cluster.
	Client client.Client
	// Kind of the infrastructure clusters.
	Kind schema.GroupVersionKind
	// Network returns the network of an object.
	Network func(o *unstructured.Unstructured) Network
}

// Network is implemented by the clouds for the network of a cluster.
type Network interface {
	// FillSpec sets the defaults of the object, and the endpoint if there is one. It keeps the values of users.
	FillSpec(o *unstructured.Unstructured, endpoint clusterv1.APIEndpoint) error
	// Make creates the cloud resources that the object, after FillSpec, names. It is idempotent.
	Make(ctx context.Context, o *unstructured.Unstructured) error
	// FillStatus marks the network as ready.
	FillStatus(o *unstructured.Unstructured) error
}

// SetupWithManager adds the reconciler to a manager.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return r.controller().SetupWithManager(mgr)
}

// Reconcile fills in one infrastructure cluster and marks it as ready.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return r.controller().Reconcile(ctx, req)
}

func (r *Reconciler) controller() objects.InfrastructureController {
	return objects.InfrastructureController{Client: r.Client, Kind: r.Kind, Fill: r.fill}
}

// fill fills in the specification and, once the control plane is there, the status. What fits already is not written.
func (r *Reconciler) fill(ctx context.Context, found *unstructured.Unstructured, cluster *clusterv1.Cluster) error {
	network := r.Network(found)
	if err := objects.Change(ctx, r.Client, found, func(o *unstructured.Unstructured) error {
		return network.FillSpec(o, cluster.Spec.ControlPlaneEndpoint)
	}); err != nil || awaitsControlPlane(cluster) {
		return err
	}
	if err := network.Make(ctx, found); err != nil {
		return err
	}
	return objects.ChangeStatus(ctx, r.Client, found, func(o *unstructured.Unstructured) error {
		if err := network.FillStatus(o); err != nil {
			return err
		}
		return unstructured.SetNestedField(o.Object, true, "status", "initialization", "provisioned")
	})
}

// awaitsControlPlane holds a network back whose cluster's control plane is still to come. Core connects to a cluster as
// soon as its network is ready, and tries again only half a minute after it found no kubeconfig. The control plane of
// the local world needs no network, so it may come first.
func awaitsControlPlane(c *clusterv1.Cluster) bool {
	return c.Spec.ControlPlaneRef.IsDefined() && !ptr.Deref(c.Status.Initialization.ControlPlaneInitialized, false)
}
