package machinepool

import (
	"maps"
	"slices"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// poolChanged selects changes of a pool's spec and metadata, and resyncs. The status that a pass has written requires no further pass.
func poolChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		a, b := e.ObjectOld, e.ObjectNew
		return a.GetResourceVersion() == b.GetResourceVersion() || a.GetGeneration() != b.GetGeneration() ||
			a.GetUID() != b.GetUID() || !a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) ||
			!maps.Equal(a.GetLabels(), b.GetLabels()) || !maps.Equal(a.GetAnnotations(), b.GetAnnotations()) ||
			!slices.Equal(a.GetFinalizers(), b.GetFinalizers()) || len(a.GetOwnerReferences()) != len(b.GetOwnerReferences())
	}}
}

// clusterChanged selects changes of a Cluster that change what can be done for its pools.
func clusterChanged() predicate.Predicate {
	return updates(func(a, b *clusterv1.Cluster) bool {
		const initialized = clusterv1.ClusterControlPlaneInitializedCondition
		return ptr.Deref(a.Spec.Paused, false) != ptr.Deref(b.Spec.Paused, false) || a.UID != b.UID ||
			!a.DeletionTimestamp.Equal(b.DeletionTimestamp) || conditions.IsTrue(a, initialized) != conditions.IsTrue(b, initialized)
	})
}

// machineChanged selects changes of a Machine that a pool reports or acts on: the Machine controller writes far more often.
func machineChanged() predicate.Predicate {
	return updates(func(a, b *clusterv1.Machine) bool {
		return a.ResourceVersion == b.ResourceVersion || a.UID != b.UID || a.Generation != b.Generation ||
			!a.DeletionTimestamp.Equal(b.DeletionTimestamp) || len(a.OwnerReferences) != len(b.OwnerReferences) ||
			!maps.Equal(a.Labels, b.Labels) || !maps.Equal(a.Annotations, b.Annotations) || !sameConditions(a, b)
	})
}

// updates returns a predicate that selects updates of objects of one type, and everything that is no update.
func updates[O client.Object](changed func(before, after O) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(O)
		if !ok {
			return false
		}
		after, ok := e.ObjectNew.(O)
		return ok && changed(before, after)
	}}
}

// watchedConditions are the conditions of a Machine that a pool reports or acts on.
var watchedConditions = []string{
	clusterv1.MachineReadyCondition, clusterv1.MachineAvailableCondition, clusterv1.MachineUpToDateCondition,
	clusterv1.MachineDeletingCondition,
	clusterv1.MachineHealthCheckSucceededCondition, clusterv1.MachineOwnerRemediatedCondition, clusterv1.MachineInfrastructureReadyCondition,
	clusterv1.MachineNodeHealthyCondition,
}

// sameConditions reports whether the watched conditions of two Machines have the same status and reason.
func sameConditions(a, b *clusterv1.Machine) bool {
	for _, t := range watchedConditions {
		x, y := conditions.Get(a, t), conditions.Get(b, t)
		if (x == nil) != (y == nil) || x != nil && (x.Status != y.Status || x.Reason != y.Reason) {
			return false
		}
	}
	return true
}
