package machinepool

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/conditions"
	v1beta1conditions "sigs.k8s.io/cluster-api/util/conditions/deprecated/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/machines"
)

// A MachineHealthCheck that finds a Machine unhealthy, and may have it replaced by its own budget, sets the condition
// OwnerRemediated to false. From then on the owner has to act: the pool deletes the Machine, whose controller drains it, and
// the infrastructure replaces its instance. The condition stays false with the reason MachineDeleting until the Machine is gone,
// as a MachineSet has it, for that is what the health check and other owners count as remediation in progress; the older
// condition is true from the beginning of the deletion on.

// remediating says that a health check has marked a Machine, which is not gone yet.
func remediating(m *clusterv1.Machine) bool {
	return conditions.IsFalse(m, clusterv1.MachineHealthCheckSucceededCondition) && conditions.IsFalse(m, clusterv1.MachineOwnerRemediatedCondition)
}

// asked says that a Machine shall be deleted for its health, and may be.
func asked(m *clusterv1.Machine) bool {
	return remediating(m) && m.DeletionTimestamp.IsZero() && !annotations.HasPaused(m) && !annotations.HasSkipRemediation(m)
}

// forget takes the request off a Machine that has become healthy again: that is its owner's to do.
func forget(m *clusterv1.Machine) {
	if !m.DeletionTimestamp.IsZero() {
		return
	}
	if conditions.IsTrue(m, clusterv1.MachineHealthCheckSucceededCondition) && conditions.IsFalse(m, clusterv1.MachineOwnerRemediatedCondition) {
		conditions.Delete(m, clusterv1.MachineOwnerRemediatedCondition)
	}
	if v1beta1conditions.IsTrue(m, clusterv1.MachineHealthCheckSucceededV1Beta1Condition) && v1beta1conditions.IsFalse(m, clusterv1.MachineOwnerRemediatedV1Beta1Condition) {
		v1beta1conditions.Delete(m, clusterv1.MachineOwnerRemediatedV1Beta1Condition)
	}
}

// startRemediation says on a Machine that it is deleted for its health. It is written before the deletion, so that a pass
// that ends between the two is repeated as a whole.
func startRemediation(m *clusterv1.Machine) {
	conditions.Set(m, metav1.Condition{Type: clusterv1.MachineOwnerRemediatedCondition, Status: metav1.ConditionFalse,
		Reason: clusterv1.MachineSetMachineRemediationMachineDeletingReason, Message: "Machine is deleting"})
	v1beta1conditions.MarkTrue(m, clusterv1.MachineOwnerRemediatedV1Beta1Condition)
}

// remediate deletes a Machine, and leaves on it why: what removes its instance tells that on.
func (w *machineWork) remediate(ctx context.Context, m *clusterv1.Machine) error {
	why := oneLine(conditions.GetMessage(m, clusterv1.MachineHealthCheckSucceededCondition))
	after := m.DeepCopy()
	if after.Annotations == nil {
		after.Annotations = map[string]string{}
	}
	after.Annotations[machines.CauseAnnotation] = eventRemediated + ": " + why
	if after.Annotations[machines.CauseAnnotation] != m.Annotations[machines.CauseAnnotation] {
		w.writes++
		if err := w.r.Client.Patch(ctx, after, client.MergeFromWithOptions(m.DeepCopy(), client.MergeFromWithOptimisticLock{})); err != nil {
			return client.IgnoreNotFound(fmt.Errorf("write on Machine %s why it is deleted: %w", m.Name, err))
		}
	}
	w.writes++
	if err := w.r.deleteMachine(ctx, after); err != nil {
		return err
	}
	w.p.eventOn(machineReference(m.Namespace, m.Name), eventRemediated, "Deleted Machine %s: %s", m.Name, why)
	return nil
}

// oneLine is a message without its line breaks and the bullets of its lines.
func oneLine(message string) string {
	var parts []string
	for line := range strings.Lines(message) {
		if line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "* ")); line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, " ")
}

// because is the reason of a condition in brackets.
func because(m *clusterv1.Machine, conditionType string) string {
	if reason := conditions.GetReason(m, conditionType); reason != "" {
		return " (" + reason + ")"
	}
	return ""
}
