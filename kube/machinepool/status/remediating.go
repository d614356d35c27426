package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// remediating is true while Machines are replaced because a MachineHealthCheck has marked them. It is always false in a pool without
// Machines.
func remediating(f *pass) metav1.Condition {
	c := metav1.Condition{Type: clusterv1.RemediatingCondition, Status: metav1.ConditionFalse, Reason: clusterv1.NotRemediatingReason}
	if f.Machines != nil && len(f.Machines.Remediating) > 0 {
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, clusterv1.RemediatingReason, "Remediating "+names(f.Machines.Remediating)
	}
	return c
}
