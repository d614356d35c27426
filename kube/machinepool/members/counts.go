package members

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/machinepool/status"
	"github.com/muster-project/muster/kube/nodes"
)

// MachinesByInstance are the Machines of a pool.
type MachinesByInstance struct {
	// Expected is true if every instance gets a Machine.
	Expected bool
	// ByInstance are the Machines by instance key.
	ByInstance map[string]*clusterv1.Machine
}

// CountNodes counts the instances of a pool by their Nodes, by instance key, and returns the time until the next of them becomes available
// without a further event; 0 if there is none. In a pool with Machines both must be ready: the Node, which changes first, and the
// Machine, which has readiness gates of its own and may be being deleted.
func CountNodes(pool *clusterv1.MachinePool, found map[string]*corev1.Node, machines MachinesByInstance,
	now time.Time) (status.Nodes, time.Duration) {
	counted, next := status.Nodes{}, time.Duration(0)
	versions := map[string]int32{}
	settle := minReady(pool)
	for _, id := range DistinctInstances(pool.Spec.ProviderIDList) {
		key := InstanceKey(id)
		node := found[key]
		if node == nil {
			counted.Missing = append(counted.Missing, id)
			continue
		}
		counted.Refs = append(counted.Refs, corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID})
		if v := node.Status.NodeInfo.KubeletVersion; v != "" {
			versions[v]++
		}
		next = control.Earliest(next, countNode(&counted, node, machines.ByInstance[key], machines.Expected, now.Add(-settle)))
	}
	for _, v := range slices.Sorted(maps.Keys(versions)) {
		counted.Versions = append(counted.Versions, clusterv1.StatusVersion{Version: v, Replicas: versions[v]})
	}
	counted.BeforePool = beforePool(pool, found)
	return counted, next
}

// beforePool returns the names of the Nodes that are older than the pool.
func beforePool(pool *clusterv1.MachinePool, found map[string]*corev1.Node) map[string]bool {
	all := map[string]bool{}
	for _, node := range found {
		if !node.CreationTimestamp.IsZero() && node.CreationTimestamp.Before(&pool.CreationTimestamp) {
			all[node.Name] = true
		}
	}
	return all
}

// countNode counts one instance that has a Node. A Node that has been Ready since readyBy is available. It returns the time until the
// instance becomes available without a further event; 0 if it needs one.
func countNode(counted *status.Nodes, node *corev1.Node, machine *clusterv1.Machine, expected bool, readyBy time.Time) time.Duration {
	ready, since := nodes.Ready(node)
	switch {
	case !ready:
		counted.NotReady = append(counted.NotReady, node.Name+unreadyReason(node))
		if neverReady(node) {
			counted.Starting++
		}
		return 0
	case expected && machine == nil:
		counted.NotReady = append(counted.NotReady, node.Name+" (no Machine yet)")
		return 0
	case machine != nil && !conditions.IsTrue(machine, clusterv1.MachineReadyCondition):
		counted.NotReady = append(counted.NotReady, machine.Name+notReadyReason(machine))
		return 0
	}
	counted.Ready++
	left := since.Sub(readyBy)
	switch {
	case leaving(node):
		counted.Leaving = append(counted.Leaving, node.Name)
		return 0
	case machine != nil && !conditions.IsTrue(machine, clusterv1.MachineAvailableCondition):
		// The Machine's controller knows when it becomes available, and its change wakes the pool.
		counted.Settling = append(counted.Settling, node.Name)
		return 0
	case machine == nil && left > 0:
		counted.Settling = append(counted.Settling, node.Name)
		return left
	}
	counted.Available++
	return 0
}

// minReady returns how long a Node must have been Ready to be available.
func minReady(pool *clusterv1.MachinePool) time.Duration {
	if s := pool.Spec.Template.Spec.MinReadySeconds; s != nil {
		return time.Duration(*s) * time.Second
	}
	return 0
}

// leaving reports whether a Node is being drained by Muster or deleted: it still runs pods, but is not available. A Node that a user has
// cordoned still counts, and so does one that is uncordoned, as the machine is that a cloud creates anew under the name of a drained one.
func leaving(node *corev1.Node) bool {
	return nodes.Draining(node) || !node.DeletionTimestamp.IsZero()
}

// startLimit is the time after the creation of a Node within which its Ready condition is set for the first time.
const startLimit = time.Minute

// neverReady reports whether a Node has not been Ready since it registered: its Ready condition, which is not True, has not changed since.
// A Node whose condition the node controller has changed meanwhile counts as one that has been Ready.
func neverReady(node *corev1.Node) bool {
	c := readyCondition(node)
	return c == nil || c.Status == corev1.ConditionFalse && c.LastTransitionTime.Sub(node.CreationTimestamp.Time) <= startLimit
}

// unreadyReason returns the reason that a Node reports for not being Ready, in brackets; empty if there is none.
func unreadyReason(node *corev1.Node) string {
	if c := readyCondition(node); c != nil && c.Reason != "" {
		return " (" + c.Reason + ")"
	}
	return ""
}

func readyCondition(node *corev1.Node) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c
		}
	}
	return nil
}

// notReadyReason returns the most specific reason for which a Machine is not ready.
func notReadyReason(m *clusterv1.Machine) string {
	if conditions.IsTrue(m, clusterv1.MachineDeletingCondition) {
		return ReasonOf(m, clusterv1.MachineDeletingCondition)
	}
	for _, t := range []string{clusterv1.MachineHealthCheckSucceededCondition, clusterv1.MachineInfrastructureReadyCondition,
		clusterv1.MachineNodeHealthyCondition} {
		if conditions.Has(m, t) && !conditions.IsTrue(m, t) {
			return ReasonOf(m, t)
		}
	}
	return ReasonOf(m, clusterv1.MachineReadyCondition)
}

// ReasonOf returns the reason of a Machine's condition in brackets, with a space in front; empty if there is none.
func ReasonOf(m *clusterv1.Machine, conditionType string) string {
	if reason := conditions.GetReason(m, conditionType); reason != "" {
		return " (" + reason + ")"
	}
	return ""
}
