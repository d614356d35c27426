package azurejson

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/external"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/kube/infrapool/watch"
)

// Name of the controller.
const Name = "azurejson"

// SetupWithManager adds the reconciler to a manager that has the indexes of watch.AddIndexes. A pool is looked at when it,
// its MachinePool, Cluster, AzureCluster, identity or secret changes in what people say, and not when they tell how they are.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, o controller.Options) error {
	relevant := builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{},
		predicate.AnnotationChangedPredicate{}))
	c, err := ctrl.NewControllerManagedBy(mgr).Named(Name).WithOptions(o).
		For(&azurev1.AzureMachinePool{}, relevant).
		Watches(&clusterv1.MachinePool{}, handler.EnqueueRequestsFromMapFunc(poolRequests), relevant).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(r.clusterRequests), relevant).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.secretRequests),
			builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Build(r)
	if err != nil {
		return fmt.Errorf("controller of the cloud provider's configurations: %w", err)
	}
	log := ctrl.LoggerFrom(ctx).WithValues("controller", Name)
	r.reads().Watch(mgr, c, &external.ObjectTracker{Controller: c, Cache: mgr.GetCache(), Scheme: mgr.GetScheme(), PredicateLogger: &log})
	return nil
}

// requestsOf are the requests for a MachinePool's infrastructure object, if that is of our kind.
func requestsOf(mp *clusterv1.MachinePool) []ctrl.Request {
	ref := mp.Spec.Template.Spec.InfrastructureRef
	if ref.APIGroup != azurev1.GroupVersion.Group || ref.Kind != azurev1.AzureMachinePoolKind || ref.Name == "" {
		return nil
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: mp.Namespace, Name: ref.Name}}}
}

func poolRequests(_ context.Context, o client.Object) []ctrl.Request {
	if mp, ok := o.(*clusterv1.MachinePool); ok {
		return requestsOf(mp)
	}
	return nil
}

// clusterRequests are the requests for the pools of a cluster. A look-up that fails finds none: everything is looked at again
// by the clock.
func (r *Reconciler) clusterRequests(ctx context.Context, cluster client.Object) []ctrl.Request {
	list := &clusterv1.MachinePoolList{}
	if err := r.Client.List(ctx, list, client.InNamespace(cluster.GetNamespace()),
		client.MatchingFields{watch.ClusterField: cluster.GetName()}); err != nil {
		return nil
	}
	var all []ctrl.Request
	for i := range list.Items {
		all = append(all, requestsOf(&list.Items[i])...)
	}
	return all
}

// secretRequests are the requests for the pool that owns a secret, and for those whose identity rests on it.
func (r *Reconciler) secretRequests(_ context.Context, secret client.Object) []ctrl.Request {
	all := r.reads().SecretRequests(secret)
	if owner := metav1.GetControllerOf(secret); owner != nil && owner.Kind == azurev1.AzureMachinePoolKind {
		all = append(all, ctrl.Request{NamespacedName: client.ObjectKey{Namespace: secret.GetNamespace(), Name: owner.Name}})
	}
	return all
}
