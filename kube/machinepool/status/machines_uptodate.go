package status

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// machinesUpToDate tells how many machines are as the pool wants them. Only the infrastructure knows what a machine was
// launched from, so what it does not report stays unknown.
func machinesUpToDate(f *Facts) metav1.Condition {
	c := metav1.Condition{Type: clusterv1.MachinesUpToDateCondition, Status: metav1.ConditionTrue, Reason: clusterv1.UpToDateReason}
	switch {
	case f.NoCluster:
		return waitsForCluster(c.Type, f)
	case f.replicas() == 0:
		c.Reason = clusterv1.NoReplicasReason
	case f.UpToDate == nil:
		c.Status, c.Reason = metav1.ConditionUnknown, clusterv1.UpToDateUnknownReason
		c.Message = f.Infrastructure.String() + " reports no status.upToDateReplicas"
	case *f.UpToDate < f.replicas():
		c.Status, c.Reason = metav1.ConditionFalse, clusterv1.NotUpToDateReason
		c.Message = fmt.Sprintf("%d of %d machines are up to date", *f.UpToDate, f.replicas())
	}
	return c
}
