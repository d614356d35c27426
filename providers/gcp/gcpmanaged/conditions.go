package gcpmanaged

import (
	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
)

// machinePoolReady is the name that the ecosystem knows the condition of the group by.
const machinePoolReady = "GKEMachinePoolReady"

// activities are the conditions by which the ecosystem knows what GKE does to a node pool, with the reasons while it does it and when it
// has.
var activities = []struct {
	condition, over string
	states          []report.State
}{
	{"GKEMachinePoolCreating", "GKEMachinePoolCreated", []report.State{report.StateCreating}},
	{"GKEMachinePoolUpdating", "GKEMachinePoolUpdated", []report.State{report.StateUpdating, report.StateScaling}},
	{"GKEMachinePoolDeleting", "GKEMachinePoolDeleted", []report.State{report.StateDeleting}},
}

// conditions returns those that the ecosystem knows node pools by.
func conditions(_ *gcpv1.GCPManagedMachinePool, r report.Report, _ engine.Outcome) []report.Condition {
	list := make([]report.Condition, 0, len(activities))
	for _, a := range activities {
		c := report.Condition{Type: a.condition, Status: report.False, Reason: a.over}
		for _, state := range a.states {
			if r.State == state {
				c.Status, c.Reason, c.Message = report.True, a.condition, r.Condition(report.GroupReady).Message
			}
		}
		list = append(list, c)
	}
	return list
}
