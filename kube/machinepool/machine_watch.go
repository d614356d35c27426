package machinepool

import (
	"context"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/labels/format"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// poolOfMember maps a Machine, or an infrastructure's object for one, to the pool that it is of: the pool that controls it,
// or else the one that its labels name. Machines of other owners wake nobody.
func (r *Reconciler) poolOfMember(ctx context.Context, o client.Object) []ctrl.Request {
	if owner := metav1.GetControllerOfNoCopy(o); owner != nil {
		gv, err := schema.ParseGroupVersion(owner.APIVersion)
		if err == nil && gv.Group == clusterv1.GroupVersion.Group && owner.Kind == "MachinePool" {
			return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: owner.Name}}}
		}
	}
	named, cluster := o.GetLabels()[clusterv1.MachinePoolNameLabel], o.GetLabels()[clusterv1.ClusterNameLabel]
	if named == "" || cluster == "" {
		return nil
	}
	pool := &clusterv1.MachinePool{}
	key := client.ObjectKey{Namespace: o.GetNamespace(), Name: named}
	if err := r.Client.Get(ctx, key, pool); err == nil && pool.Spec.ClusterName == cluster {
		return []ctrl.Request{{NamespacedName: key}}
	}
	// A name that is too long for a label is a hash there.
	var all []ctrl.Request
	for _, request := range r.requests(ctx, o.GetNamespace(), client.MatchingLabels{clusterv1.ClusterNameLabel: cluster}) {
		if format.MustEqualValue(request.Name, named) {
			all = append(all, request)
		}
	}
	return all
}

// toldConditions are the conditions of a Machine that a pool tells of or acts on.
var toldConditions = []string{
	clusterv1.MachineReadyCondition, clusterv1.MachineAvailableCondition, clusterv1.MachineUpToDateCondition, clusterv1.MachineDeletingCondition,
	clusterv1.MachineHealthCheckSucceededCondition, clusterv1.MachineOwnerRemediatedCondition, clusterv1.MachineInfrastructureReadyCondition,
	clusterv1.MachineNodeHealthyCondition,
}

// machineMatters passes the changes of a Machine that a pool cares for: its controller writes far more often.
func machineMatters() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		a, ok := e.ObjectOld.(*clusterv1.Machine)
		if !ok {
			return false
		}
		b, ok := e.ObjectNew.(*clusterv1.Machine)
		if !ok {
			return false
		}
		return a.ResourceVersion == b.ResourceVersion || a.UID != b.UID || a.Generation != b.Generation ||
			!a.DeletionTimestamp.Equal(b.DeletionTimestamp) || len(a.OwnerReferences) != len(b.OwnerReferences) ||
			!maps.Equal(a.Labels, b.Labels) || !maps.Equal(a.Annotations, b.Annotations) || !sayTheSame(a, b)
	}}
}

// sayTheSame says that two Machines have the same conditions, as far as a pool tells of them.
func sayTheSame(a, b *clusterv1.Machine) bool {
	for _, t := range toldConditions {
		x, y := conditions.Get(a, t), conditions.Get(b, t)
		if (x == nil) != (y == nil) || x != nil && (x.Status != y.Status || x.Reason != y.Reason) {
			return false
		}
	}
	return true
}
