package machinepool

import (
	"fmt"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
)

// verdict says whether one machine is as the pool wants it.
type verdict struct {
	status  metav1.ConditionStatus
	message string
	// waits says that the workload cluster could tell, and can't be asked now: what was known last stands.
	waits bool
}

// verdictOn asks, in this order: the infrastructure's machine, whose condition UpToDate says it of this one; the
// infrastructure's count, where it means all machines or none; and the version of the Node, which tells a machine that is
// behind from one that is not, but not what else has changed.
func (p *pass) verdictOn(m member, found map[string]*corev1.Node) verdict {
	if own := ownWord(m); own != nil {
		return *own
	}
	counted := p.facts.UpToDate != nil && p.facts.Replicas != nil && *p.facts.Replicas > 0
	switch {
	case counted && *p.facts.UpToDate >= *p.facts.Replicas:
		return verdict{status: metav1.ConditionTrue}
	case counted && *p.facts.UpToDate == 0:
		return verdict{status: metav1.ConditionFalse, message: fmt.Sprintf("%s has no machine that is up to date", p.facts.Infrastructure)}
	}
	v := p.compareVersion(m.node(found), found == nil)
	if counted && v.status == metav1.ConditionTrue {
		return verdict{status: metav1.ConditionUnknown, message: fmt.Sprintf("%s says how many machines are up to date, but not which", p.facts.Infrastructure)}
	}
	return v
}

// ownWord is what the infrastructure's machine says of itself, nil when it says nothing.
func ownWord(m member) *verdict {
	if m.infra == nil {
		return nil
	}
	c, err := conditions.UnstructuredGet(m.infra, clusterv1.MachineUpToDateCondition)
	if err != nil || c == nil || c.Status == metav1.ConditionUnknown {
		return nil
	}
	return &verdict{status: c.Status, message: c.Message}
}

// compareVersion compares the version that a Node runs with that of the pool.
func (p *pass) compareVersion(node *corev1.Node, away bool) verdict {
	wanted := p.pool.Spec.Template.Spec.Version
	switch {
	case wanted == "":
		return verdict{status: metav1.ConditionUnknown, message: p.facts.Infrastructure.String() + " does not say which of its machines are up to date"}
	case away:
		return verdict{status: metav1.ConditionUnknown, message: p.facts.NodesUnknown, waits: true}
	case node == nil || node.Status.NodeInfo.KubeletVersion == "":
		return verdict{status: metav1.ConditionUnknown, message: "the machine has no node yet"}
	case !sameVersion(wanted, node.Status.NodeInfo.KubeletVersion):
		return verdict{status: metav1.ConditionFalse, message: fmt.Sprintf("the node runs %s, the pool wants %s", node.Status.NodeInfo.KubeletVersion, wanted)}
	default:
		return verdict{status: metav1.ConditionTrue}
	}
}

// sayUpToDate sets the condition UpToDate of a Machine, which is its owner's to set.
func (p *pass) sayUpToDate(machine *clusterv1.Machine, m member, found map[string]*corev1.Node) {
	v := p.verdictOn(m, found)
	if v.waits && conditions.Has(machine, clusterv1.MachineUpToDateCondition) {
		return
	}
	c := metav1.Condition{Type: clusterv1.MachineUpToDateCondition, Status: v.status, Message: v.message, Reason: clusterv1.MachineUpToDateReason}
	switch v.status {
	case metav1.ConditionFalse:
		c.Reason = clusterv1.MachineNotUpToDateReason
	case metav1.ConditionUnknown:
		c.Reason = clusterv1.UpToDateUnknownReason
	}
	conditions.Set(machine, c)
}

// sameVersion says whether a kubelet's version is the wanted one. What vendors append to a version counts only where it is
// wanted: v1.36.0-eks-1a2b3c is a v1.36.0.
func sameVersion(wanted, have string) bool {
	w, err := semver.ParseTolerant(wanted)
	if err != nil {
		return false
	}
	h, err := semver.ParseTolerant(have)
	if err != nil {
		return false
	}
	if w.Major != h.Major || w.Minor != h.Minor || w.Patch != h.Patch {
		return false
	}
	samePre := len(w.Pre) == 0 || w.Compare(h) == 0
	return samePre && (len(w.Build) == 0 || fmt.Sprint(w.Build) == fmt.Sprint(h.Build))
}
