package status

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// machinesReady reports the machines that exist: each should have a Node that is Ready, and in a pool with Machines a Machine that is
// ready.
func machinesReady(f *pass) metav1.Condition {
	c := metav1.Condition{Type: clusterv1.MachinesReadyCondition, Status: metav1.ConditionTrue, Reason: clusterv1.ReadyReason}
	switch {
	case f.NoCluster:
		return waitsForCluster(c.Type, f)
	case f.Instances == 0 && f.replicas() > 0:
		c.Status, c.Reason = metav1.ConditionUnknown, clusterv1.ReadyUnknownReason
		c.Message = fmt.Sprintf("%s reports %d replicas, but no provider IDs", f.Infrastructure, f.replicas())
	case f.Instances == 0:
		c.Reason = clusterv1.NoReplicasReason
	case f.Nodes == nil:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, clusterv1.ReadyUnknownReason, f.NodesUnknown
	default:
		if c.Message = f.issues(); c.Message != "" {
			c.Status, c.Reason = metav1.ConditionFalse, clusterv1.NotReadyReason
		}
	}
	if f.Machines != nil {
		c.Message = and(c.Message, f.Machines.issues())
	}
	if len(f.ListedElsewhere) > 0 {
		c.Message = and(c.Message, "not listed because another pool lists them: "+names(f.ListedElsewhere))
	}
	if f.Nodes != nil && len(f.Nodes.Kept) > 0 {
		c.Message = and(c.Message, "no longer in the pool, but still Ready: "+names(f.Nodes.Kept))
	}
	return c
}

// issues returns why some infrastructure machines have no Machine.
func (m *Machines) issues() string {
	if m.Problem != "" {
		return m.Problem
	}
	if len(m.Waiting) > 0 {
		return "cannot create a Machine for " + names(m.Waiting)
	}
	return ""
}

// and joins two sentences, of which either may be empty.
func and(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	default:
		return a + "; " + b
	}
}
