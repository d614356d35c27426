package status

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// machinesReady tells of the machines that exist: each should have a Node, and the Node should be Ready; so should the
// Machine, in a pool with Machines.
func machinesReady(f *Facts) metav1.Condition {
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
	if len(f.Elsewhere) > 0 {
		c.Message = and(c.Message, "left out, for another pool lists them: "+names(f.Elsewhere))
	}
	if f.Nodes != nil && len(f.Nodes.Kept) > 0 {
		c.Message = and(c.Message, "left the pool, but still Ready: "+names(f.Nodes.Kept))
	}
	return c
}

// issues says why there are fewer Machines than machines.
func (m *Machines) issues() string {
	if m.Problem != "" {
		return m.Problem
	}
	if len(m.Waiting) > 0 {
		return "no Machine can be made for " + names(m.Waiting)
	}
	return ""
}

// and joins two sentences, either of which may be missing.
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
