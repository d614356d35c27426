package status

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// machinesUpToDate tells how many machines are as the pool wants them, and of a version that the pool should not want. Where
// nodes can't be asked that is all there is to say.
func machinesUpToDate(f *Facts) metav1.Condition {
	c := wantedMachines(f)
	if c.Message != f.NodesUnknown || f.NodesUnknown == "" {
		c.Message = and(c.Message, f.Skew)
	}
	return c
}

// wantedMachines tells how many machines are as the pool wants them. What a machine was launched from the infrastructure
// alone knows; where it does not say, only what can be compared is told, and the rest stays unknown.
func wantedMachines(f *Facts) metav1.Condition {
	c := metav1.Condition{Type: clusterv1.MachinesUpToDateCondition, Status: metav1.ConditionTrue, Reason: clusterv1.UpToDateReason}
	switch {
	case f.NoCluster:
		return waitsForCluster(c.Type, f)
	case f.replicas() == 0:
		c.Reason = clusterv1.NoReplicasReason
	case f.countsByMachine():
		return f.UpToDateByMachine.condition(c, f.replicas())
	case f.UpToDate == nil && f.ByVersion && f.Nodes == nil:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, clusterv1.UpToDateUnknownReason, f.NodesUnknown
	case f.UpToDate == nil:
		c.Status, c.Reason = metav1.ConditionUnknown, clusterv1.UpToDateUnknownReason
		c.Message = f.Infrastructure.String() + " reports no status.upToDateReplicas"
	case *f.UpToDate < f.replicas():
		c.Status, c.Reason = metav1.ConditionFalse, clusterv1.NotUpToDateReason
		c.Message = fmt.Sprintf("%d of %d machines are up to date", *f.UpToDate, f.replicas())
	}
	return c
}

// countsByMachine says that the machines one by one say more than the infrastructure's count.
func (f *Facts) countsByMachine() bool {
	return f.UpToDateByMachine != nil && (f.Machines != nil || f.UpToDate == nil)
}

// upToDate is how many machines are known to be as the pool wants them; nil when nothing is known.
func (f *Facts) upToDate() *int32 {
	if f.countsByMachine() {
		return f.UpToDateByMachine.count()
	}
	return f.UpToDate
}

// condition tells of all that are listed, which in a rollout are more than the pool's replicas for a while.
func (j *UpToDateByMachine) condition(c metav1.Condition, replicas int32) metav1.Condition {
	replicas = max(replicas, j.UpToDate+int32(len(j.Not)+len(j.Unknown)))
	c.Message = j.Basis
	switch {
	case len(j.Not) > 0:
		c.Status, c.Reason = metav1.ConditionFalse, clusterv1.NotUpToDateReason
		c.Message = and(fmt.Sprintf("%d of %d machines are up to date, not so %s", j.UpToDate, replicas, names(j.Not)), j.Basis)
	case len(j.Unknown) > 0:
		c.Status, c.Reason = metav1.ConditionUnknown, clusterv1.UpToDateUnknownReason
		c.Message = and(fmt.Sprintf("%d of %d machines are up to date, not known of %s", j.UpToDate, replicas, names(j.Unknown)), j.Basis)
	case j.UpToDate < replicas:
		c.Status, c.Reason = metav1.ConditionUnknown, clusterv1.UpToDateUnknownReason
		c.Message = and(fmt.Sprintf("%d of %d machines are up to date, the others are not listed", j.UpToDate, replicas), j.Basis)
	}
	return c
}
