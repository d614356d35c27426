package infrapool

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/external"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/nodes"
)

// watches adds watches to a running controller as it meets clusters. Without a controller it adds none.
type watches struct {
	controller controller.Controller
	tracker    *external.ObjectTracker
}

// watchPolicies has pools reconciled when a policy that may select them changes, or the state of a gate. What the manager may not watch
// applies at the next interval.
func watchPolicies(ctx context.Context, b *builder.Builder, r Options, requests watch.Requests) {
	if r.Policies == nil {
		return
	}
	if r.Policies.Gates != nil {
		b.WatchesRawSource(r.Policies.Gates.Source(requests.Kind))
	}
	for kind, o := range map[string]client.Object{musterv1.RolloutPolicyKind: &musterv1.RolloutPolicy{},
		musterv1.ClusterRolloutPolicyKind: &musterv1.ClusterRolloutPolicy{}} {
		if r.MayWatch == nil || r.MayWatch(ctx, musterv1.GroupVersion.WithKind(kind)) == nil {
			b.Watches(o, handler.EnqueueRequestsFromMapFunc(requests.OfPolicy), builder.WithPredicates(predicate.GenerationChangedPredicate{}))
		}
	}
}

// SetupWithManager adds the reconciler to a manager that has the indexes of watch.AddIndexes and of package kube/nodes.
func (r *Reconciler[O, S]) SetupWithManager(ctx context.Context, mgr ctrl.Manager, o controller.Options) error {
	for _, i := range r.kind.Indexes() {
		if err := mgr.GetFieldIndexer().IndexField(ctx, i.Object, i.Field, i.Values); err != nil {
			return fmt.Errorf("index %T by %s: %w", i.Object, i.Field, err)
		}
	}
	log := ctrl.LoggerFrom(ctx).WithValues("controller", r.kind.controllerName())
	b := ctrl.NewControllerManagedBy(mgr).Named(r.kind.controllerName()).WithOptions(o).
		For(r.kind.New(), builder.WithPredicates(watch.RequestChanged())).
		Watches(&clusterv1.MachinePool{}, handler.EnqueueRequestsFromMapFunc(r.requests.OfPool), builder.WithPredicates(watch.RequestChanged())).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(r.requests.OfCluster), builder.WithPredicates(watch.ClusterChanged())).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.requests.OfSecret),
			builder.WithPredicates(predicates.ResourceIsChanged(mgr.GetScheme(), log))).
		Watches(&clusterv1.MachinePool{}, control.WaitingFirst(r.requests.OfPool, control.Waits)).
		Watches(r.kind.New(), control.WaitingFirst(control.RequestFor, control.Waits)).
		WatchesRawSource(control.LowPriority(r.ClusterCache.GetClusterSource(r.kind.controllerName(), r.requests.OfCluster)))
	if kind := r.kind.Machines; kind != nil {
		infra := schema.GroupKind{Group: kind.GroupVersion.Group, Kind: kind.Name}
		b.Watches(kind.New(), handler.EnqueueRequestsFromMapFunc(r.requests.OfInfraMachine), builder.WithPredicates(watch.RequestChanged())).
			Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(r.requests.OfMachine(infra)),
				builder.WithPredicates(watch.RequestChanged()))
	}
	watchPolicies(ctx, b, r.Options, r.requests)
	c, err := b.Build(r)
	if err != nil {
		return fmt.Errorf("controller of %ss: %w", r.kind.Name, err)
	}
	r.watches = watches{controller: c, tracker: &external.ObjectTracker{
		Controller: c, Cache: mgr.GetCache(), Scheme: mgr.GetScheme(), PredicateLogger: &log,
	}}
	r.identities.Watch(mgr, c, r.watches.tracker)
	return nil
}

// infraCluster enqueues the pools of a cluster when the infrastructure cluster changes.
func (w watches) infraCluster(ctx context.Context, requests watch.Requests, scheme *runtime.Scheme,
	infraCluster *unstructured.Unstructured) error {
	if w.tracker == nil {
		return nil
	}
	if err := w.tracker.Watch(ctrl.LoggerFrom(ctx), infraCluster, handler.EnqueueRequestsFromMapFunc(requests.OfInfraCluster),
		predicates.ResourceIsChanged(scheme, *w.tracker.PredicateLogger)); err != nil {
		return fmt.Errorf("watch %s: %w", infraCluster.GetKind(), err)
	}
	return nil
}

// nodes enqueues the pools of a cluster when one of their nodes changes in a way that matters.
func (w watches) nodes(ctx context.Context, o Options, name string, requests watch.Requests, cluster *clusterv1.Cluster) error {
	if w.controller == nil || cluster == nil {
		return nil
	}
	return nodes.Watch(ctx, o.ClusterCache, client.ObjectKeyFromObject(cluster), nodes.WatchOptions{
		Name: name + "-nodes", Controller: w.controller, Reader: o.Client, Requests: requests.Of,
	})
}
