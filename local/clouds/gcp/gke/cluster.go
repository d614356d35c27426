package gke

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/clouds/gcp/kinds"
	"github.com/muster-project/muster/local/clouds/gcp/network"
	"github.com/muster-project/muster/local/objects"
)

// Clusters makes every GCPManagedCluster ready: it holds a network, and the endpoint that its control plane has.
type Clusters struct {
	// Client of the management cluster.
	Client client.Client
	// Network that clusters are in.
	Network network.Network
}

// SetupWithManager adds the reconciler to a manager.
func (r *Clusters) SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(mgr).
		For(objects.New(kinds.GCPManagedCluster)).
		Watches(&clusterv1.Cluster{}, objects.OfInfrastructure(kinds.GCPManagedCluster)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the controller of GCPManagedClusters: %w", err)
	}
	return nil
}

// Reconcile makes the network of one cluster, and copies the endpoint of its control plane once that serves. Core connects to a cluster as
// soon as its infrastructure is ready, and tries again only half a minute after it found no kubeconfig.
func (r *Clusters) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	found := objects.New(kinds.GCPManagedCluster)
	if err := r.Client.Get(ctx, req.NamespacedName, found); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	cluster, err := objects.OwnerOf(ctx, r.Client, found)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !found.GetDeletionTimestamp().IsZero() || cluster == nil || annotations.IsPaused(cluster, found) {
		return ctrl.Result{}, nil
	}
	if err := r.fill(ctx, found, cluster); err != nil {
		return ctrl.Result{}, fmt.Errorf("fill in %s: %w", req, err)
	}
	return ctrl.Result{}, nil
}

// fill writes what does not fit yet.
func (r *Clusters) fill(ctx context.Context, found *unstructured.Unstructured, cluster *clusterv1.Cluster) error {
	endpoint, err := r.endpoint(ctx, cluster)
	if err != nil {
		return err
	}
	if err := objects.Change(ctx, r.Client, found,
		func(o *unstructured.Unstructured) error { return r.Network.FillSpec(o, endpoint) }); err != nil {
		return err
	}
	if err := r.Network.Make(ctx, found); err != nil || !endpoint.IsValid() {
		return err
	}
	return objects.ChangeStatus(ctx, r.Client, found, r.Network.FillStatus)
}

// endpoint is that of the cluster's control plane, not valid before it serves.
func (r *Clusters) endpoint(ctx context.Context, cluster *clusterv1.Cluster) (clusterv1.APIEndpoint, error) {
	none := clusterv1.APIEndpoint{}
	if !ptr.Deref(cluster.Status.Initialization.ControlPlaneInitialized, false) {
		return none, nil
	}
	plane := objects.New(kinds.GCPManagedControlPlane)
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Spec.ControlPlaneRef.Name}, plane)
	if err != nil {
		return none, client.IgnoreNotFound(err)
	}
	host, _, err := unstructured.NestedString(plane.Object, "spec", "endpoint", "host")
	if err != nil {
		return none, err
	}
	port, _, err := unstructured.NestedInt64(plane.Object, "spec", "endpoint", "port")
	return clusterv1.APIEndpoint{Host: host, Port: int32(port)}, err
}
