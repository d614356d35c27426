package eks

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

	"github.com/muster-project/muster/local/clouds/aws/kinds"
	"github.com/muster-project/muster/local/fields"
	"github.com/muster-project/muster/local/objects"
)

// Clusters makes every AWSManagedCluster ready: it holds nothing but what its control plane has.
type Clusters struct {
	// Client of the management cluster.
	Client client.Client
}

// SetupWithManager adds the reconciler to a manager.
func (r *Clusters) SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(mgr).
		For(objects.New(kinds.AWSManagedCluster)).
		Watches(&clusterv1.Cluster{}, objects.OfInfrastructure(kinds.AWSManagedCluster)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the controller of AWSManagedClusters: %w", err)
	}
	return nil
}

// Reconcile copies the endpoint and the zones of one cluster's control plane, once it serves.
func (r *Clusters) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	found := objects.New(kinds.AWSManagedCluster)
	if err := r.Client.Get(ctx, req.NamespacedName, found); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	cluster, err := objects.OwnerOf(ctx, r.Client, found)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !found.GetDeletionTimestamp().IsZero() || cluster == nil || annotations.IsPaused(cluster, found) ||
		!ptr.Deref(cluster.Status.Initialization.ControlPlaneInitialized, false) || !cluster.Spec.ControlPlaneEndpoint.IsValid() {
		return ctrl.Result{}, nil
	}
	plane := objects.New(kinds.AWSManagedControlPlane)
	if err := r.Client.Get(ctx, types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Spec.ControlPlaneRef.Name},
		plane); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if err := r.fill(ctx, found, cluster.Spec.ControlPlaneEndpoint, plane); err != nil {
		return ctrl.Result{}, fmt.Errorf("fill in %s: %w", req, err)
	}
	return ctrl.Result{}, nil
}

// fill writes what does not fit yet.
func (r *Clusters) fill(ctx context.Context, found *unstructured.Unstructured, endpoint clusterv1.APIEndpoint,
	plane *unstructured.Unstructured) error {
	if err := objects.Change(ctx, r.Client, found, func(o *unstructured.Unstructured) error {
		return fields.Fill(o,
			fields.Field{Value: endpoint.Host, Path: []string{"spec", "controlPlaneEndpoint", "host"}},
			fields.Field{Value: int64(endpoint.Port), Path: []string{"spec", "controlPlaneEndpoint", "port"}})
	}); err != nil {
		return err
	}
	domains, _, err := unstructured.NestedMap(plane.Object, "status", "failureDomains")
	if err != nil {
		return err
	}
	return objects.ChangeStatus(ctx, r.Client, found, func(o *unstructured.Unstructured) error {
		return fields.Set(o,
			fields.Field{Value: true, Path: []string{"status", "ready"}},
			fields.Field{Value: domains, Path: []string{"status", "failureDomains"}})
	})
}
