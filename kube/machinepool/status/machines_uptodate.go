package status

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// machinesUpToDate reports how many machines are up to date, a version that the control plane does not support, and Nodes that keep it from
// its next version. While the Nodes are unknown, only that is reported.
func machinesUpToDate(f *pass) metav1.Condition {
	c := upToDateMachines(f)
	if c.Message != f.NodesUnknown || f.NodesUnknown == "" {
		c.Message = and(c.Message, f.VersionSkew)
	}
	if f.Nodes != nil {
		c.Message = and(c.Message, f.Nodes.BlocksControlPlane)
	}
	return c
}

// upToDateMachines reports how many machines are up to date. Only the infrastructure provider knows what a machine was launched from; if it
// does not report that, what can be compared is reported, and the rest is unknown.
func upToDateMachines(f *pass) metav1.Condition {
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

// countsByMachine reports whether the machines one by one are more specific than the count of the infrastructure object.
func (f *pass) countsByMachine() bool {
	return f.UpToDateByMachine != nil && (f.Machines != nil || f.UpToDate == nil)
}

// upToDate returns how many machines are known to be up to date; nil if that is unknown.
func (f *pass) upToDate() *int32 {
	if f.countsByMachine() {
		return f.UpToDateByMachine.count()
	}
	return f.UpToDate
}

// condition reports all listed machines. During a rollout there are more of them than replicas.
func (j *UpToDateByMachine) condition(c metav1.Condition, replicas int32) metav1.Condition {
	replicas = max(replicas, j.UpToDate+int32(len(j.Not)+len(j.Unknown)))
	c.Message = j.Basis
	switch {
	case len(j.Not) > 0:
		c.Status, c.Reason = metav1.ConditionFalse, clusterv1.NotUpToDateReason
		c.Message = and(fmt.Sprintf("%d of %d machines are up to date; outdated: %s", j.UpToDate, replicas, names(j.Not)), j.Basis)
	case len(j.Unknown) > 0:
		c.Status, c.Reason = metav1.ConditionUnknown, clusterv1.UpToDateUnknownReason
		c.Message = and(fmt.Sprintf("%d of %d machines are up to date; unknown: %s", j.UpToDate, replicas, names(j.Unknown)), j.Basis)
	case j.UpToDate < replicas:
		c.Status, c.Reason = metav1.ConditionUnknown, clusterv1.UpToDateUnknownReason
		c.Message = and(fmt.Sprintf("%d of %d machines are up to date; the others are not listed", j.UpToDate, replicas), j.Basis)
	}
	return c
}
