package objects

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// InfrastructureController reconciles the infrastructure clusters of one kind.
type InfrastructureController struct {
	// Client of the management cluster.
	Client client.Client
	// Kind of the infrastructure clusters.
	Kind schema.GroupVersionKind
	// Fill writes what does not fit yet to one that core has claimed for a Cluster and that is neither paused nor deleted.
	Fill func(ctx context.Context, found *unstructured.Unstructured, cluster *clusterv1.Cluster) error
}

// SetupWithManager adds the controller to a manager.
func (r InfrastructureController) SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(mgr).
		For(New(r.Kind)).
		Watches(&clusterv1.Cluster{}, OfInfrastructure(r.Kind)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the controller of %ss: %w", r.Kind.Kind, err)
	}
	return nil
}

// Reconcile fills in one infrastructure cluster.
func (r InfrastructureController) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	found := New(r.Kind)
	if err := r.Client.Get(ctx, req.NamespacedName, found); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	cluster, err := OwnerOf(ctx, r.Client, found)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !found.GetDeletionTimestamp().IsZero() || cluster == nil || annotations.IsPaused(cluster, found) {
		return ctrl.Result{}, nil
	}
	if err := r.Fill(ctx, found, cluster); err != nil {
		return ctrl.Result{}, fmt.Errorf("fill in %s: %w", req, err)
	}
	return ctrl.Result{}, nil
}
