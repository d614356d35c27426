package machinepool_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	"github.com/muster-project/muster/kube/machinepool/machinesync"
)

// leavingMachine returns a Machine that is being deleted.
func leavingMachine(name, reason, message string) *clusterv1.Machine {
	now := metav1.NewTime(time.Unix(1, 0))
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name, DeletionTimestamp: &now}}
	if reason != "" {
		conditions.Set(m, metav1.Condition{Type: clusterv1.MachineDeletingCondition, Status: metav1.ConditionTrue, Reason: reason,
			Message: message})
	}
	return m
}

// TestWaiting holds that the message names the blocked Machines and what blocks each, before the others.
func TestWaiting(t *testing.T) {
	t.Parallel()
	held := leavingMachine("m900", clusterv1.MachineDeletingDrainingNodeReason, "Drain not completed yet (started at 2030-01-02T03:04:05Z):\n"+
		"* Pod default/web: cannot evict pod as it would violate the pod's disruption budget. The disruption budget web needs 3 healthy pods "+
		"and has 3 currently")
	for name, tc := range map[string]struct {
		reason   string
		machines []*clusterv1.Machine
		want     string
	}{
		"in progress": {"nothing blocks them", []*clusterv1.Machine{leavingMachine("m1", "", ""), leavingMachine("m2", "DrainingNode", "")},
			"Waiting for Machines to be deleted, 2 left: m1, m2 (DrainingNode)"},
		"a budget": {"the pod and its budget are what users look for, and no time", []*clusterv1.Machine{leavingMachine("m1", "", ""), held},
			"Waiting for Machines to be deleted, 2 left: m900 (DrainingNode: Pod default/web: cannot evict pod as it would violate the pod's " +
				"disruption budget. " +
				"The disruption budget web needs 3 healthy pods and has 3 currently), m1"},
		"a hook": {"the owner of the hook has to remove it",
			[]*clusterv1.Machine{leavingMachine("m1", clusterv1.MachineDeletingWaitingForPreTerminateHookReason,
				"Waiting for pre-terminate hooks to succeed (hooks: pre-terminate.delete.hook.machine.cluster.x-k8s.io/x)")},
			"Waiting for Machines to be deleted, 1 left: m1 (WaitingForPreTerminateHook: Waiting for pre-terminate hooks to succeed (hooks: " +
				"pre-terminate.delete.hook.machine.cluster.x-k8s.io/x))"},
		"volumes": {"the message contains no time",
			[]*clusterv1.Machine{leavingMachine("m1", clusterv1.MachineDeletingWaitingForVolumeDetachReason,
				"Waiting for Node volumes to be detached (started at 2030-01-02T03:04:05Z)\n* PVCs: default/a")},
			"Waiting for Machines to be deleted, 1 left: m1 (WaitingForVolumeDetach: Waiting for Node volumes to be detached * PVCs: default/a)"},
		"a pause": {"the user has to remove the annotation", []*clusterv1.Machine{func() *clusterv1.Machine {
			m := leavingMachine("m1", "", "")
			m.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
			return m
		}()}, "Waiting for Machines to be deleted, 1 left: m1 (has the annotation cluster.x-k8s.io/paused)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := machinesync.Waiting(tc.machines); got != tc.want {
				t.Errorf("%s:\nwant %s\ngot  %s", tc.reason, tc.want, got)
			}
		})
	}
	var many []*clusterv1.Machine
	for n := range 5000 {
		many = append(many, leavingMachine(fmt.Sprintf("m%04d", n), "DrainingNode",
			"Drain not completed yet:\n* "+strings.Repeat("Pod default/web: cannot evict pod. ", 50)))
	}
	if got := machinesync.Waiting(many); len(got) > 4096 ||
		!strings.Contains(got, "5000 left: m0000 (DrainingNode: Pod default/web: cannot evict") ||
		!strings.HasSuffix(got, "and 4995 more") {
		t.Errorf("5000 Machines: want a readable message, got %d letters: %s", len(got), got)
	}
}
