package status

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
)

// The names of the controllers in logs and metrics.
const (
	tenantsController   = "rolloutpolicy"
	operatorsController = "clusterrolloutpolicy"
)

// gathered is the time for which changes of pools are gathered before the policies are looked at: each look lists all pools.
const gathered = 2 * time.Second

// SetupWithManager adds the controllers of both kinds.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, o controller.Options) error {
	labels := builder.WithPredicates(predicate.LabelChangedPredicate{})
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	for _, c := range []struct {
		name      string
		of        client.Object
		list      func(context.Context, client.Object) []types.NamespacedName
		reconcile reconcile.Func
	}{
		{tenantsController, &musterv1.RolloutPolicy{}, r.tenants, r.reconcileTenants},
		{operatorsController, &musterv1.ClusterRolloutPolicy{}, r.operators, r.reconcileOperators},
	} {
		all := later(c.list)
		b := ctrl.NewControllerManagedBy(mgr).Named(c.name).For(c.of, changed).
			Watches(&clusterv1.MachinePool{}, all, labels).
			Watches(&clusterv1.Cluster{}, all, labels).
			Watches(&corev1.Namespace{}, all, labels).
			Watches(&musterv1.ClusterRolloutPolicy{}, all, changed)
		if c.name == tenantsController {
			b = b.Watches(&musterv1.RolloutPolicy{}, all, changed)
		}
		if err := b.WithOptions(o).Complete(c.reconcile); err != nil {
			return fmt.Errorf("set up the controller %s: %w", c.name, err)
		}
	}
	return nil
}

// later enqueues what list returns for a changed object after changes have been gathered.
func later(list func(context.Context, client.Object) []types.NamespacedName) handler.Funcs {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	enqueue := func(ctx context.Context, o client.Object, q queue) {
		for _, key := range list(ctx, o) {
			q.AddAfter(reconcile.Request{NamespacedName: key}, gathered)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { enqueue(ctx, e.Object, q) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) { enqueue(ctx, e.ObjectNew, q) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { enqueue(ctx, e.Object, q) },
	}
}

// tenants returns the RolloutPolicies that an object can change the state of: those of its namespace, or of the namespace that it is.
func (r *Reconciler) tenants(ctx context.Context, o client.Object) (keys []types.NamespacedName) {
	namespace := o.GetNamespace()
	if _, ok := o.(*corev1.Namespace); ok {
		namespace = o.GetName()
	}
	list := &musterv1.RolloutPolicyList{}
	if err := r.Client.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list the RolloutPolicies of a changed object", "namespace", namespace)
	}
	for k := range list.Items {
		keys = append(keys, client.ObjectKeyFromObject(&list.Items[k]))
	}
	return keys
}

// operators returns all ClusterRolloutPolicies.
func (r *Reconciler) operators(ctx context.Context, _ client.Object) (keys []types.NamespacedName) {
	list := &musterv1.ClusterRolloutPolicyList{}
	if err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list the ClusterRolloutPolicies of a changed object")
	}
	for k := range list.Items {
		keys = append(keys, client.ObjectKeyFromObject(&list.Items[k]))
	}
	return keys
}
