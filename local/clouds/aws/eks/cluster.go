package eks

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/muster-project/muster/local/clouds/aws/kinds"
	"github.com/muster-project/muster/local/fields"
)

// Clusters makes every AWSManagedCluster ready: it holds nothing but what its control plane has.
type Clusters struct {
	// Client of the management cluster.
	Client client.Client
}

// SetupWithManager adds the reconciler to a manager.
func (r *Clusters) SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(mgr).
		For(newObject(kinds.AWSManagedCluster)).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
			c, ok := o.(*clusterv1.Cluster)
			if !ok || c.Spec.InfrastructureRef.Kind != kinds.AWSManagedCluster.Kind {
				return nil
			}
			return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: c.Namespace, Name: c.Spec.InfrastructureRef.Name}}}
		})).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the controller of AWSManagedClusters: %w", err)
	}
	return nil
}

func newObject(kind schema.GroupVersionKind) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	return o
}

// Reconcile copies the endpoint and the zones of one cluster's control plane, once it serves.
func (r *Clusters) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	found := newObject(kinds.AWSManagedCluster)
	if err := r.Client.Get(ctx, req.NamespacedName, found); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	cluster, err := ownerOf(ctx, r.Client, found)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !found.GetDeletionTimestamp().IsZero() || cluster == nil || annotations.IsPaused(cluster, found) ||
		!ptr.Deref(cluster.Status.Initialization.ControlPlaneInitialized, false) || !cluster.Spec.ControlPlaneEndpoint.IsValid() {
		return ctrl.Result{}, nil
	}
	plane := newObject(kinds.AWSManagedControlPlane)
	if err := r.Client.Get(ctx, types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Spec.ControlPlaneRef.Name}, plane); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if err := r.fill(ctx, found, cluster.Spec.ControlPlaneEndpoint, plane); err != nil {
		return ctrl.Result{}, fmt.Errorf("fill in %s: %w", req, err)
	}
	return ctrl.Result{}, nil
}

// fill writes what does not fit yet.
func (r *Clusters) fill(ctx context.Context, found *unstructured.Unstructured, endpoint clusterv1.APIEndpoint, plane *unstructured.Unstructured) error {
	filled := found.DeepCopy()
	if err := fields.Fill(filled,
		fields.Field{Value: endpoint.Host, Path: []string{"spec", "controlPlaneEndpoint", "host"}},
		fields.Field{Value: int64(endpoint.Port), Path: []string{"spec", "controlPlaneEndpoint", "port"}}); err != nil {
		return err
	}
	if !equality.Semantic.DeepEqual(found.Object, filled.Object) {
		if err := r.Client.Patch(ctx, filled, client.MergeFrom(found)); err != nil {
			return err
		}
	}
	domains, _, err := unstructured.NestedMap(plane.Object, "status", "failureDomains")
	if err != nil {
		return err
	}
	ready := filled.DeepCopy()
	if err := fields.Set(ready,
		fields.Field{Value: true, Path: []string{"status", "ready"}},
		fields.Field{Value: domains, Path: []string{"status", "failureDomains"}}); err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(filled.Object, ready.Object) {
		return nil
	}
	return r.Client.Status().Patch(ctx, ready, client.MergeFrom(filled))
}
