package machinepool

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/external"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// controllerName names the controller in logs, metrics and events.
const controllerName = "machinepool"

// referenceField is the index over MachinePools by the objects that they refer to.
const referenceField = "muster.dev/references"

// SetupWithManager adds the controller to a manager. The manager's cache must have been given the index of
// nodes.AddIndexes, and the ClusterCache those of nodes.Indexes.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, o controller.Options) error {
	if err := r.complete(); err != nil {
		return err
	}
	if err := mgr.GetFieldIndexer().IndexField(ctx, &clusterv1.MachinePool{}, referenceField, references); err != nil {
		return fmt.Errorf("index MachinePools by reference: %w", err)
	}
	members := newMemberIndex(mgr.GetFieldIndexer())
	if err := members.add(ctx, clusterv1.GroupVersion.WithKind("Machine"), &clusterv1.Machine{}); err != nil {
		return err
	}
	r.memberIndex = members
	log := mgr.GetLogger().WithValues("controller", controllerName)
	c, err := ctrl.NewControllerManagedBy(mgr).
		Named(controllerName).
		For(&clusterv1.MachinePool{}, builder.WithPredicates(worthAPass(), predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, r.WatchFilterValue))).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(r.poolsOfCluster), builder.WithPredicates(clusterMatters())).
		Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(r.poolOfMember), builder.WithPredicates(machineMatters())).
		WatchesRawSource(r.ClusterCache.GetClusterSource(controllerName, r.poolsOfCluster)).
		WithOptions(o).
		Build(r)
	if err != nil {
		return fmt.Errorf("set up the MachinePool controller: %w", err)
	}
	if r.Recorder == nil {
		r.Recorder = mgr.GetEventRecorder(controllerName)
	}
	r.nodeEvents = c
	tracker := &external.ObjectTracker{Controller: c, Cache: mgr.GetCache(), Scheme: mgr.GetScheme(), PredicateLogger: &log}
	r.track = func(ctx context.Context, obj client.Object) error {
		gk := obj.GetObjectKind().GroupVersionKind().GroupKind()
		wake := handler.EnqueueRequestsFromMapFunc(r.poolsThatRefer(gk))
		if err := tracker.Watch(ctrl.LoggerFrom(ctx), obj, wake, predicate.ResourceVersionChangedPredicate{}); err != nil {
			return fmt.Errorf("watch %s: %w", gk.Kind, err)
		}
		return nil
	}
	// The tracker keeps one watch for a kind, and a kind for single machines is never one for pools.
	r.trackMachines = func(ctx context.Context, obj client.Object) error {
		wake := handler.EnqueueRequestsFromMapFunc(r.poolOfMember)
		if err := tracker.Watch(ctrl.LoggerFrom(ctx), obj, wake, predicate.ResourceVersionChangedPredicate{}); err != nil {
			return fmt.Errorf("watch %s: %w", obj.GetObjectKind().GroupVersionKind().Kind, err)
		}
		return nil
	}
	return nil
}

// references extracts the values of referenceField from a MachinePool.
func references(o client.Object) []string {
	pool, ok := o.(*clusterv1.MachinePool)
	if !ok {
		return nil
	}
	var all []string
	for _, ref := range []clusterv1.ContractVersionedObjectReference{
		pool.Spec.Template.Spec.Bootstrap.ConfigRef, pool.Spec.Template.Spec.InfrastructureRef,
	} {
		if ref.IsDefined() {
			all = append(all, referenceTo(ref.APIGroup, ref.Kind, ref.Name))
		}
	}
	return all
}

func referenceTo(group, kind, name string) string { return kind + "." + group + " " + name }

// poolsThatRefer maps an object of one kind to the pools that refer to it, whether or not they own it yet. The kind is
// known beforehand: typed objects of a cache do not tell theirs.
func (r *Reconciler) poolsThatRefer(gk schema.GroupKind) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []ctrl.Request {
		return r.requests(ctx, o.GetNamespace(), client.MatchingFields{referenceField: referenceTo(gk.Group, gk.Kind, o.GetName())})
	}
}

// poolsOfCluster are the pools of a Cluster.
func (r *Reconciler) poolsOfCluster(ctx context.Context, o client.Object) []ctrl.Request {
	return r.requests(ctx, o.GetNamespace(), client.MatchingLabels{clusterv1.ClusterNameLabel: o.GetName()})
}

// requests for the pools of a namespace that match. A look-up in the cache that fails wakes nobody: the resync will.
func (r *Reconciler) requests(ctx context.Context, namespace string, match client.ListOption) []ctrl.Request {
	list := &clusterv1.MachinePoolList{}
	if err := r.Client.List(ctx, list, client.InNamespace(namespace), match, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	all := make([]ctrl.Request, 0, len(list.Items))
	for i := range list.Items {
		all = append(all, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return all
}

// worthAPass passes the changes of a pool that somebody asks something with, and resyncs; the status that a pass wrote
// itself is no reason for another.
func worthAPass() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		a, b := e.ObjectOld, e.ObjectNew
		return a.GetResourceVersion() == b.GetResourceVersion() || a.GetGeneration() != b.GetGeneration() ||
			a.GetUID() != b.GetUID() || !a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) ||
			!maps.Equal(a.GetLabels(), b.GetLabels()) || !maps.Equal(a.GetAnnotations(), b.GetAnnotations()) ||
			!slices.Equal(a.GetFinalizers(), b.GetFinalizers()) || len(a.GetOwnerReferences()) != len(b.GetOwnerReferences())
	}}
}

// clusterMatters passes the changes of a Cluster that change what can be done for its pools.
func clusterMatters() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		a, ok := e.ObjectOld.(*clusterv1.Cluster)
		if !ok {
			return false
		}
		b, ok := e.ObjectNew.(*clusterv1.Cluster)
		if !ok {
			return false
		}
		return isTrue(a.Spec.Paused) != isTrue(b.Spec.Paused) || a.UID != b.UID || !a.DeletionTimestamp.Equal(b.DeletionTimestamp) ||
			conditions.IsTrue(a, clusterv1.ClusterControlPlaneInitializedCondition) != conditions.IsTrue(b, clusterv1.ClusterControlPlaneInitializedCondition)
	}}
}

func isTrue(b *bool) bool { return b != nil && *b }
