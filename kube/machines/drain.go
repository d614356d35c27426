package machines

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// drainSkipped reports whether the Machine's controller has let the instance go without having drained its Node, so that the drain is left
// to the pool. The controller drains nothing, or no more, once the infrastructure machine is being deleted by another actor; nor where it
// knows no Node of the Machine, or no Machine of the control plane. A drain that the user excluded, or whose time was up, has ended.
func (i Infra) drainSkipped() bool {
	m := i.Machine
	return i.Deleting && m.Deleting && m.pastDrain() && !i.drainEnded()
}

// drainEnded reports whether the drain of its Node has ended: it succeeded, the user has excluded it, or its time was up when the
// infrastructure machine was deleted.
func (i Infra) drainEnded() bool {
	m := i.Machine
	return m.drainExcluded() || m.drainSucceeded() || m.drainTimedOut(i.Object.GetDeletionTimestamp().Time)
}

// drainExcluded reports whether the user has excluded the drain of the Node.
func (m *Machine) drainExcluded() bool {
	_, excluded := m.Object.Annotations[clusterv1.ExcludeNodeDrainingAnnotation]
	return excluded
}

// drainSucceeded reports whether the Machine's controller has drained the Node, as its condition says.
func (m *Machine) drainSucceeded() bool {
	c := m.draining()
	return c != nil && c.Status == corev1.ConditionTrue
}

// draining is the controller's condition on the drain of the Node; nil where there is none.
func (m *Machine) draining() *clusterv1.Condition {
	list := m.Object.GetV1Beta1Conditions()
	k := slices.IndexFunc(list, func(c clusterv1.Condition) bool { return c.Type == clusterv1.DrainingSucceededV1Beta1Condition })
	if k < 0 {
		return nil
	}
	return &list[k]
}

// drainTimedOut reports whether the time that the Machine gives its drain was up by then.
func (m *Machine) drainTimedOut(by time.Time) bool {
	limit, d := m.Object.Spec.Deletion.NodeDrainTimeoutSeconds, m.Object.Status.Deletion
	return limit != nil && *limit > 0 && d != nil && !d.NodeDrainStartTime.IsZero() &&
		by.Sub(d.NodeDrainStartTime.Time) >= time.Duration(*limit)*time.Second
}

// deletedAlone reports whether the infrastructure machine was deleted by a user and not by its Machine's controller, which never drained
// the Node then: the Machine is not being deleted, or was deleted later. Deletion timestamps are whole seconds: of two that are equal
// the order is unknown, and the controller's condition decides.
func (i Infra) deletedAlone() bool {
	switch {
	case !i.Deleting:
		return false
	case !i.Machine.Deleting:
		return true
	}
	infra, machine := i.Object.GetDeletionTimestamp(), i.Machine.Object.DeletionTimestamp
	return infra.Before(machine) || infra.Equal(machine) && !i.Machine.pastDrain()
}

// releasedAt is when the controller's drain succeeded, as its condition says, and otherwise when it went on to the infrastructure machine.
func (i Infra) releasedAt() time.Time {
	if m := i.Machine; m.drainSucceeded() {
		return m.draining().LastTransitionTime.Time
	}
	return i.Object.GetDeletionTimestamp().Time
}

// deletingReason returns the reason of the Machine's condition Deleting, which tells the stage of its deletion; empty if the condition is
// not true.
func (m *Machine) deletingReason() string {
	if c := meta.FindStatusCondition(m.Object.Status.Conditions, clusterv1.MachineDeletingCondition); c != nil &&
		c.Status == metav1.ConditionTrue {
		return c.Reason
	}
	return ""
}

// pastDrain reports whether the controller has done all that comes before the end of the instance.
func (m *Machine) pastDrain() bool {
	switch m.deletingReason() {
	case clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason, clusterv1.MachineDeletingWaitingForBootstrapDeletionReason:
		return true
	}
	return false
}
