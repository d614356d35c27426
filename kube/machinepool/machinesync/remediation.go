package machinesync

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/conditions"
	v1beta1conditions "sigs.k8s.io/cluster-api/util/conditions/deprecated/v1beta1"
)

// A MachineHealthCheck that finds a Machine unhealthy, and whose budget allows a replacement, sets the condition OwnerRemediated to false.
// The owner then has to act: the pool deletes the Machine, its controller drains it, and the infrastructure replaces the instance. The
// condition stays false with the reason MachineDeleting until the Machine is gone, as for a MachineSet, because health checks and other
// owners count that as remediation in progress. The v1beta1 condition is true from the beginning of the deletion.

// remediating reports whether a MachineHealthCheck has marked a Machine.
func remediating(m *clusterv1.Machine) bool {
	return conditions.IsFalse(m, clusterv1.MachineHealthCheckSucceededCondition) &&
		conditions.IsFalse(m, clusterv1.MachineOwnerRemediatedCondition)
}

// remediationDue reports whether a Machine has to be deleted because it is unhealthy. The user can prevent it by annotation.
func remediationDue(m *clusterv1.Machine) bool {
	return remediating(m) && m.DeletionTimestamp.IsZero() && !annotations.HasPaused(m) && !annotations.HasSkipRemediation(m)
}

// clearRemediation removes the request from a Machine that is healthy again, which its owner has to do.
func clearRemediation(m *clusterv1.Machine) {
	if !m.DeletionTimestamp.IsZero() {
		return
	}
	if conditions.IsTrue(m, clusterv1.MachineHealthCheckSucceededCondition) &&
		conditions.IsFalse(m, clusterv1.MachineOwnerRemediatedCondition) {
		conditions.Delete(m, clusterv1.MachineOwnerRemediatedCondition)
	}
	if v1beta1conditions.IsTrue(m, clusterv1.MachineHealthCheckSucceededV1Beta1Condition) &&
		v1beta1conditions.IsFalse(m, clusterv1.MachineOwnerRemediatedV1Beta1Condition) {
		v1beta1conditions.Delete(m, clusterv1.MachineOwnerRemediatedV1Beta1Condition)
	}
}

// startRemediation records on a Machine that it is deleted because it is unhealthy. It is written before the deletion, so that an
// interrupted pass is repeated as a whole.
func startRemediation(m *clusterv1.Machine) {
	conditions.Set(m, metav1.Condition{Type: clusterv1.MachineOwnerRemediatedCondition, Status: metav1.ConditionFalse,
		Reason: clusterv1.MachineSetMachineRemediationMachineDeletingReason, Message: "Machine is deleting"})
	v1beta1conditions.MarkTrue(m, clusterv1.MachineOwnerRemediatedV1Beta1Condition)
}

// oneLine returns a message without line breaks and without the bullets of its lines.
func oneLine(message string) string {
	var parts []string
	for line := range strings.Lines(message) {
		if line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "* ")); line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, " ")
}
