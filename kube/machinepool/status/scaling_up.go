package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// scalingUp is true if fewer replicas are available than desired, as the API defines it. The message reports whether machines are missing,
// joining or unhealthy.
func scalingUp(f *pass) metav1.Condition {
	c := metav1.Condition{Type: clusterv1.ScalingUpCondition, Status: metav1.ConditionFalse, Reason: clusterv1.NotScalingUpReason}
	target := f.target()
	switch {
	case f.NoCluster && !f.Deleting:
		return waitsForCluster(c.Type, f)
	case !f.Deleting && f.Desired == nil:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, clusterv1.WaitingForReplicasSetReason, "spec.replicas is not set"
	case target == 0:
	case f.Nodes == nil && f.replicas() < target:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, clusterv1.ScalingUpReason, f.shortfall(0, target)
	case f.Nodes == nil:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, clusterv1.ConnectionDownReason, f.NodesUnknown
	case f.Nodes.Available < target:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, clusterv1.ScalingUpReason, f.shortfall(f.Nodes.Available, target)
	}
	return c
}
