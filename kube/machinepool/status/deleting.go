package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// deleting reports how far the deletion has come, and that a pause blocks it.
func deleting(f *pass) metav1.Condition {
	c := metav1.Condition{Type: clusterv1.DeletingCondition, Status: metav1.ConditionTrue, Reason: clusterv1.DeletingReason}
	switch {
	case !f.Deleting:
		c.Status, c.Reason = metav1.ConditionFalse, clusterv1.NotDeletingReason
	case f.Paused != "":
		c.Reason, c.Message = clusterv1.PausedReason, "Deletion is blocked while the pool is paused: "+f.Paused
	case f.Deletion.Reason != "":
		c.Reason, c.Message = f.Deletion.Reason, f.Deletion.Message
	}
	return c
}
