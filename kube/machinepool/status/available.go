package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// available is true if the infrastructure is provisioned and as many replicas are available as are desired.
func available(f *pass) metav1.Condition {
	c := metav1.Condition{Type: clusterv1.AvailableCondition}
	switch {
	case f.NoCluster:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, ClusterDoesNotExistReason, f.noCluster()
	case f.Desired == nil:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, clusterv1.WaitingForReplicasSetReason, "spec.replicas is not set"
	case !f.Infrastructure.Once:
		c.Status, c.Reason = metav1.ConditionFalse, clusterv1.NotAvailableReason
		c.Message = f.Infrastructure.String() + " is not provisioned"
	case f.Nodes == nil:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, clusterv1.ConnectionDownReason, f.NodesUnknown
	case f.Nodes.Available < *f.Desired:
		c.Status, c.Reason = metav1.ConditionFalse, clusterv1.NotAvailableReason
		c.Message = f.shortfall(f.Nodes.Available, *f.Desired)
	default:
		c.Status, c.Reason = metav1.ConditionTrue, clusterv1.AvailableReason
	}
	return c
}

func (f *pass) noCluster() string { return "Cluster " + f.Cluster + " does not exist" }
