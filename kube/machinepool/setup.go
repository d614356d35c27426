package machinepool

import (
	"context"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/external"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/machinepool/members"
)

// controllerName names the controller in logs, metrics and events.
const controllerName = "machinepool"

// SetupWithManager adds the controller to a manager. The manager's cache must have the index of nodes.AddIndexes, and the ClusterCache
// those of nodes.Indexes.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, o controller.Options) error {
	if err := r.complete(); err != nil {
		return err
	}
	if err := mgr.GetFieldIndexer().IndexField(ctx, &clusterv1.MachinePool{}, referenceField, references); err != nil {
		return fmt.Errorf("index MachinePools by reference: %w", err)
	}
	r.watches.index = members.NewIndex(mgr.GetFieldIndexer())
	if err := r.watches.index.Add(ctx, clusterv1.GroupVersion.WithKind("Machine"), &clusterv1.Machine{}); err != nil {
		return err
	}
	log, wake := mgr.GetLogger().WithValues("controller", controllerName), waker{r.Client}
	ours := predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, r.WatchFilterValue)
	c, err := ctrl.NewControllerManagedBy(mgr).
		Named(controllerName).
		For(&clusterv1.MachinePool{}, builder.WithPredicates(poolChanged(), ours)).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(wake.poolsOfCluster), builder.WithPredicates(clusterChanged())).
		Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(wake.poolOfMember), builder.WithPredicates(machineChanged())).
		Watches(&clusterv1.MachinePool{}, control.WaitingFirst(control.RequestFor, control.Waits), builder.WithPredicates(ours)).
		WatchesRawSource(control.LowPriority(r.ClusterCache.GetClusterSource(controllerName, wake.poolsOfCluster))).
		WithOptions(o).
		Build(r)
	if err != nil {
		return fmt.Errorf("set up the MachinePool controller: %w", err)
	}
	if r.Recorder == nil {
		r.Recorder = mgr.GetEventRecorder(controllerName)
	}
	tracker := &external.ObjectTracker{Controller: c, Cache: mgr.GetCache(), Scheme: mgr.GetScheme(), PredicateLogger: &log}
	r.watches.nodes = c
	r.watches.referenced = tracking(tracker, func(o client.Object) handler.MapFunc {
		return wake.poolsThatRefer(o.GetObjectKind().GroupVersionKind().GroupKind())
	})
	// The tracker keeps one watch for each kind, and no kind is both one of infrastructure machines and one that pools refer to.
	r.watches.members = tracking(tracker, func(client.Object) handler.MapFunc { return wake.poolOfMember })
	return nil
}

// tracking returns a function that watches all objects of an object's kind and wakes the pools that the map function returns.
func tracking(tracker *external.ObjectTracker, wake func(o client.Object) handler.MapFunc) func(ctx context.Context,
	o client.Object) error {
	return func(ctx context.Context, o client.Object) error {
		err := tracker.Watch(ctrl.LoggerFrom(ctx), o, handler.EnqueueRequestsFromMapFunc(wake(o)), predicate.ResourceVersionChangedPredicate{})
		if err != nil {
			return fmt.Errorf("watch %s: %w", o.GetObjectKind().GroupVersionKind().Kind, err)
		}
		return nil
	}
}
