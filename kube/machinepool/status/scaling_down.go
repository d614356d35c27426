package status

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// scalingDown is true if the pool has more replicas than desired.
func scalingDown(f *pass) metav1.Condition {
	c := metav1.Condition{Type: clusterv1.ScalingDownCondition, Status: metav1.ConditionFalse, Reason: clusterv1.NotScalingDownReason}
	switch {
	case f.NoCluster && !f.Deleting:
		return waitsForCluster(c.Type, f)
	case !f.Deleting && f.Desired == nil:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, clusterv1.WaitingForReplicasSetReason, "spec.replicas is not set"
	case f.replicas() > f.target():
		c.Status, c.Reason = metav1.ConditionTrue, clusterv1.ScalingDownReason
		c.Message = fmt.Sprintf("Scaling down from %d to %d replicas", f.replicas(), f.target())
	}
	return c
}
