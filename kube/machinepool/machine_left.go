package machinepool

import (
	"fmt"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/conditions"

	"github.com/muster-project/muster/kube/machines"
)

// waitsLimit bounds what is told of one Machine that is being deleted.
const waitsLimit = 300

// left says which Machines are left of a pool that is being deleted, and what each waits for. Those that wait for somebody come first:
// a few drains that do not get on are what people look for among hundreds that do.
func left(all []*clusterv1.Machine) string {
	var held, others []string
	for _, m := range all {
		why := waitsFor(m)
		if why == "" {
			others = append(others, m.Name+stage(m))
			continue
		}
		held = append(held, m.Name+" ("+why+")")
	}
	return fmt.Sprintf("Machines are left to be deleted: %d, %s", len(all), listed(append(held, others...)))
}

// stage is how far the deletion of a Machine has come, in its own word.
func stage(m *clusterv1.Machine) string {
	if reason := deletingReason(m); reason != "" {
		return " (" + reason + ")"
	}
	return ""
}

// deletingReason is what the deletion of a Machine is at, empty where its controller has not said.
func deletingReason(m *clusterv1.Machine) string {
	if !conditions.IsTrue(m, clusterv1.MachineDeletingCondition) {
		return ""
	}
	return conditions.GetReason(m, clusterv1.MachineDeletingCondition)
}

// waitsFor is what holds the deletion of a Machine: a pause, or what its controller says.
func waitsFor(m *clusterv1.Machine) string {
	if annotations.HasPaused(m) {
		return "has the annotation " + clusterv1.PausedAnnotation
	}
	why := strings.TrimPrefix(strings.Join(machines.WaitReasons(m), "; "), "Machine "+m.Name+": ")
	if why == "" {
		return ""
	}
	why = strings.Join(strings.Fields(why), " ")
	if len(why) > waitsLimit {
		why = strings.ToValidUTF8(why[:waitsLimit], "") + "..."
	}
	return first(deletingReason(m), clusterv1.MachineDeletingReason) + ": " + why
}
