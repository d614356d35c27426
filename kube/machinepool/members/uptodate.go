package members

import (
	"fmt"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	"github.com/muster-project/muster/kube/machinepool/status"
)

// UpToDateBasis holds the facts about all machines of a pool by which each is compared.
type UpToDateBasis struct {
	// Infrastructure is the kind and the name of the infrastructure object, for messages.
	Infrastructure string
	// UpToDate and Replicas are the counts that the infrastructure object reports; nil where it reports none.
	UpToDate, Replicas *int32
	// Version is spec.template.spec.version of the pool; empty if it is not set.
	Version string
	// Nodes are the Nodes of the pool by instance key; nil if they could not be read, then NodesUnknown is the reason.
	Nodes        map[string]*corev1.Node
	NodesUnknown string
}

// evaluation is whether one machine is up to date.
type evaluation struct {
	status  metav1.ConditionStatus
	message string
	// interim is true if only the workload cluster could answer, and it is unreachable: the last known condition stays.
	interim bool
}

// SetCondition sets the condition UpToDate of a Machine, which the owner of a Machine has to set.
func (b UpToDateBasis) SetCondition(machine *clusterv1.Machine, m Member) {
	e := b.evaluate(m)
	if e.interim && conditions.Has(machine, clusterv1.MachineUpToDateCondition) {
		return
	}
	c := metav1.Condition{Type: clusterv1.MachineUpToDateCondition, Status: e.status, Message: e.message,
		Reason: clusterv1.MachineUpToDateReason}
	switch e.status {
	case metav1.ConditionFalse:
		c.Reason = clusterv1.MachineNotUpToDateReason
	case metav1.ConditionUnknown:
		c.Reason = clusterv1.UpToDateUnknownReason
	}
	conditions.Set(machine, c)
}

// evaluate uses, in this order: the condition UpToDate of the infrastructure machine; the count of the infrastructure object if it
// covers all machines or none; the version of the Node, which shows an outdated machine but not what else has changed.
func (b UpToDateBasis) evaluate(m Member) evaluation {
	if reported := reportedBy(m); reported != nil {
		return *reported
	}
	counted := b.UpToDate != nil && b.Replicas != nil && *b.Replicas > 0
	switch {
	case counted && *b.UpToDate >= *b.Replicas:
		return evaluation{status: metav1.ConditionTrue}
	case counted && *b.UpToDate == 0:
		return evaluation{status: metav1.ConditionFalse, message: b.Infrastructure + " reports no machine as up to date"}
	}
	e := b.compareVersion(m)
	if counted && e.status == metav1.ConditionTrue {
		return evaluation{status: metav1.ConditionUnknown, message: b.Infrastructure + " reports how many machines are up to date, but not which"}
	}
	return e
}

// reportedBy returns what the infrastructure machine reports, nil if it reports nothing.
func reportedBy(m Member) *evaluation {
	if m.Infra == nil {
		return nil
	}
	c, err := conditions.UnstructuredGet(m.Infra, clusterv1.MachineUpToDateCondition)
	if err != nil || c == nil || c.Status == metav1.ConditionUnknown {
		return nil
	}
	return &evaluation{status: c.Status, message: c.Message}
}

// compareVersion compares the version of a machine's Node with that of the pool.
func (b UpToDateBasis) compareVersion(m Member) evaluation {
	node := m.Node(b.Nodes)
	switch {
	case b.Version == "":
		return evaluation{status: metav1.ConditionUnknown, message: b.Infrastructure + " does not report which of its machines are up to date"}
	case b.Nodes == nil:
		return evaluation{status: metav1.ConditionUnknown, message: b.NodesUnknown, interim: true}
	case node == nil || node.Status.NodeInfo.KubeletVersion == "":
		return evaluation{status: metav1.ConditionUnknown, message: "the machine has no node yet"}
	case !SameVersion(b.Version, node.Status.NodeInfo.KubeletVersion):
		return evaluation{status: metav1.ConditionFalse, message: fmt.Sprintf("the node runs %s, the pool wants %s",
			node.Status.NodeInfo.KubeletVersion, b.Version)}
	default:
		return evaluation{status: metav1.ConditionTrue}
	}
}

// UpToDateByMachine counts the instances of a pool by the condition UpToDate of their Machines, by instance key.
func UpToDateByMachine(providerIDs []string, machines map[string]*clusterv1.Machine) *status.UpToDateByMachine {
	counted := &status.UpToDateByMachine{}
	for _, id := range DistinctInstances(providerIDs) {
		machine := machines[InstanceKey(id)]
		switch {
		case machine == nil:
			counted.Unknown = append(counted.Unknown, id)
		case conditions.IsTrue(machine, clusterv1.MachineUpToDateCondition):
			counted.UpToDate++
		case conditions.IsFalse(machine, clusterv1.MachineUpToDateCondition):
			counted.Not = append(counted.Not, machine.Name)
		default:
			counted.Unknown = append(counted.Unknown, machine.Name)
		}
	}
	return counted
}

// ByVersion counts the instances of a pool by the version of their Nodes, for an infrastructure object that reports no count.
func (b UpToDateBasis) ByVersion(providerIDs []string) *status.UpToDateByMachine {
	counted := &status.UpToDateByMachine{Basis: "only the Kubernetes version was compared, because " + b.Infrastructure +
		" reports no status.upToDateReplicas"}
	for _, id := range DistinctInstances(providerIDs) {
		node := b.Nodes[InstanceKey(id)]
		switch {
		case node == nil || node.Status.NodeInfo.KubeletVersion == "":
			counted.Unknown = append(counted.Unknown, id)
		case SameVersion(b.Version, node.Status.NodeInfo.KubeletVersion):
			counted.UpToDate++
		default:
			counted.Not = append(counted.Not, node.Name+" ("+node.Status.NodeInfo.KubeletVersion+")")
		}
	}
	return counted
}

// SameVersion reports whether a kubelet runs the wanted version. A vendor's suffix counts only if the wanted version has one:
// v1.36.0-eks-1a2b3c is a v1.36.0. A newer patch with a vendor's suffix runs it too: managed services choose the patch.
func SameVersion(wanted, have string) bool {
	w, err := semver.ParseTolerant(wanted)
	if err != nil {
		return false
	}
	h, err := semver.ParseTolerant(have)
	if err != nil {
		return false
	}
	if w.Major != h.Major || w.Minor != h.Minor || h.Patch < w.Patch {
		return false
	}
	if h.Patch > w.Patch {
		return len(w.Pre)+len(w.Build) == 0 && len(h.Pre) > 0
	}
	samePre := len(w.Pre) == 0 || w.Compare(h) == 0
	return samePre && (len(w.Build) == 0 || fmt.Sprint(w.Build) == fmt.Sprint(h.Build))
}
