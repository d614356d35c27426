package machinepool

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	"github.com/muster-project/muster/kube/drain"
	"github.com/muster-project/muster/kube/machinepool/status"
	"github.com/muster-project/muster/kube/nodes"
)

// count says what the Nodes found mean, and when the next of them becomes available by time alone. In a pool with Machines
// both must agree, the Node, which is the newer, and the Machine, which has gates of its own and may be on its way out.
func (p *pass) count(found map[string]*corev1.Node) result {
	counted, next := &status.Nodes{}, time.Duration(0)
	versions := map[string]int32{}
	for _, id := range distinct(p.pool.Spec.ProviderIDList) {
		node := found[meaning(id)]
		if node == nil {
			counted.Missing = append(counted.Missing, id)
			continue
		}
		counted.Refs = append(counted.Refs, corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID})
		if v := node.Status.NodeInfo.KubeletVersion; v != "" {
			versions[v]++
		}
		if left := p.countNode(counted, id, node); left > 0 {
			next = earliest(next, left)
		}
	}
	for _, v := range slices.Sorted(maps.Keys(versions)) {
		counted.Versions = append(counted.Versions, clusterv1.StatusVersion{Version: v, Replicas: versions[v]})
	}
	p.facts.Nodes = counted
	return again(next)
}

// countNode counts one instance that has a Node, and says for how long it is not available yet by time alone.
func (p *pass) countNode(counted *status.Nodes, id string, node *corev1.Node) time.Duration {
	var machine *clusterv1.Machine
	if len(p.members) > 0 {
		machine = p.members[meaning(id)]
	}
	ready, since := nodes.Ready(node)
	switch {
	case !ready:
		counted.NotReady = append(counted.NotReady, node.Name+unready(node))
		if neverReady(node) {
			counted.Starting++
		}
		return 0
	case p.machineKind != "" && machine == nil:
		counted.NotReady = append(counted.NotReady, node.Name+" (no Machine yet)")
		return 0
	case machine != nil && !conditions.IsTrue(machine, clusterv1.MachineReadyCondition):
		counted.NotReady = append(counted.NotReady, machine.Name+notReadyBecause(machine))
		return 0
	}
	counted.Ready++
	return p.countReady(counted, node, since, machine)
}

// countReady counts one instance that is ready by its Node, since a moment, and by its Machine, nil in a pool without Machines. It returns
// for how long the instance is not available yet by time alone.
func (p *pass) countReady(counted *status.Nodes, node *corev1.Node, since time.Time, machine *clusterv1.Machine) time.Duration {
	left := since.Add(p.settle()).Sub(p.now)
	switch {
	case leaving(node):
		counted.Leaving = append(counted.Leaving, node.Name)
		return 0
	case machine != nil && !conditions.IsTrue(machine, clusterv1.MachineAvailableCondition):
		// The Machine's controller has the time by which it becomes available, and its change wakes the pool.
		counted.Settling = append(counted.Settling, node.Name)
		return 0
	case machine == nil && left > 0:
		counted.Settling = append(counted.Settling, node.Name)
		return left
	}
	counted.Available++
	return 0
}

// settle is for how long a node must have been Ready to be available.
func (p *pass) settle() time.Duration {
	if s := p.pool.Spec.Template.Spec.MinReadySeconds; s != nil {
		return time.Duration(*s) * time.Second
	}
	return 0
}

// leaving says that a Node is drained by us or going: it serves for a while yet, but is not to be counted on. A Node that
// somebody has cordoned for his own reasons still runs what runs on it.
func leaving(node *corev1.Node) bool {
	_, drained := node.Annotations[drain.StartedAnnotation]
	return drained || !node.DeletionTimestamp.IsZero()
}

// startLimit is the time after the creation of a Node within which its Ready condition is set for the first time.
const startLimit = time.Minute

// neverReady reports whether a Node has not been Ready since it registered: its Ready condition, which is not True, has not changed since.
// A Node whose condition the node controller has changed meanwhile counts as one that has been Ready.
func neverReady(node *corev1.Node) bool {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionFalse && c.LastTransitionTime.Sub(node.CreationTimestamp.Time) <= startLimit
		}
	}
	return true
}

// unready is the reason that a Node gives for not being ready.
func unready(node *corev1.Node) string {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady && c.Reason != "" {
			return " (" + c.Reason + ")"
		}
	}
	return ""
}

// notReadyBecause is what keeps a Machine from being ready, the most telling of its conditions first.
func notReadyBecause(m *clusterv1.Machine) string {
	if conditions.IsTrue(m, clusterv1.MachineDeletingCondition) {
		return because(m, clusterv1.MachineDeletingCondition)
	}
	for _, t := range []string{clusterv1.MachineHealthCheckSucceededCondition, clusterv1.MachineInfrastructureReadyCondition,
		clusterv1.MachineNodeHealthyCondition} {
		if conditions.Has(m, t) && !conditions.IsTrue(m, t) {
			return because(m, t)
		}
	}
	return because(m, clusterv1.MachineReadyCondition)
}

// judgeAll tells the pool's machines apart by whether each is up to date, where that can be told of single ones: by their
// Machines, or else by the version that their Nodes run, where the infrastructure says nothing.
func (p *pass) judgeAll(found map[string]*corev1.Node) {
	wanted := p.pool.Spec.Template.Spec.Version
	p.facts.ByVersion = p.facts.Machines == nil && p.facts.UpToDate == nil && wanted != ""
	j := &status.UpToDateByMachine{}
	switch {
	case p.facts.Machines != nil:
		for _, id := range distinct(p.pool.Spec.ProviderIDList) {
			classifyMachine(j, id, p.members[meaning(id)])
		}
	case p.facts.ByVersion && found != nil:
		j.Basis = "compared by Kubernetes version alone, for " + p.facts.Infrastructure.String() + " reports no status.upToDateReplicas"
		for _, id := range distinct(p.pool.Spec.ProviderIDList) {
			classifyNode(j, id, found[meaning(id)], wanted)
		}
	default:
		return
	}
	p.facts.UpToDateByMachine = j
}

// classifyMachine takes a Machine's own condition, which this pass has set.
func classifyMachine(j *status.UpToDateByMachine, id string, machine *clusterv1.Machine) {
	switch {
	case machine == nil:
		j.Unknown = append(j.Unknown, id)
	case conditions.IsTrue(machine, clusterv1.MachineUpToDateCondition):
		j.UpToDate++
	case conditions.IsFalse(machine, clusterv1.MachineUpToDateCondition):
		j.Not = append(j.Not, machine.Name)
	default:
		j.Unknown = append(j.Unknown, machine.Name)
	}
}

func classifyNode(j *status.UpToDateByMachine, id string, node *corev1.Node, wanted string) {
	switch {
	case node == nil || node.Status.NodeInfo.KubeletVersion == "":
		j.Unknown = append(j.Unknown, id)
	case sameVersion(wanted, node.Status.NodeInfo.KubeletVersion):
		j.UpToDate++
	default:
		j.Not = append(j.Not, node.Name+" ("+node.Status.NodeInfo.KubeletVersion+")")
	}
}
