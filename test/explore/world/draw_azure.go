package world

import (
	"net/http"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
)

// azureHappenings are those of scale sets.
var azureHappenings = []What{
	Replicas, Replicas, Replicas, Replicas, Template, Template, Template, Template, Back, GroupEdit, GroupEdit, GroupEdit, Token, Token, External, Autoscaler,
	Strategy, Strategy, BadTemplate, Hold, RestartNow, HandInterrupt, HandUnhealthy, DropMachine, DropMachine, DropInfraMachine,
	Mark, Mark, HandTerminate, HandTerminate, HandFail, HandResize, HandResize, HandTags, HandDisown, HandDisown, HandDropGroup,
	HandExpose, HandTagMachine, HandQuota,
	Restart, Crash, Crash, Crash, Away, Block, Unready, Nudge, Nudge, Lag, Lag, Deaf, Rival, Meet, Meet, Pause,
}

// azureActions are the calls that a fault may be for where scale sets are.
var azureActions = []string{
	"*", "*", "*_Get", "*_List*", "VirtualMachineScaleSets_*", "VirtualMachineScaleSets_CreateOrUpdate", "VirtualMachineScaleSets_Update", "VirtualMachineScaleSets_Update",
	"VirtualMachineScaleSets_DeleteInstances", "VirtualMachineScaleSets_DeleteInstances", "VirtualMachineScaleSets_Delete", "VirtualMachineScaleSets_UpdateInstances",
	"VirtualMachineScaleSetVMs_*", "VirtualMachines_List*", "Operations_Get", "ResourceSkus_List",
}

// azureRefusals are codes that Azure documents for a refusal before anything is done, and the status that each comes with.
var azureRefusals = []string{"", "", "AuthorizationFailed", "ServiceUnavailable", "Conflict", "OperationNotAllowed", "QuotaExceeded", "InvalidParameter"}

// scaleSet draws what only scale sets have.
func (d *drawing) scaleSet() {
	s := &d.s
	s.Refresh, s.Zones, s.LiveTags = Plain, d.IntN(2) == 0, d.IntN(3) == 0
	s.Evicts = []azurev1.SpotEvictionPolicy{azurev1.SpotEvictionPolicyDeallocate, azurev1.SpotEvictionPolicyDelete}[d.IntN(2)]
	if d.IntN(5) == 0 {
		s.add(Event{What: HandForeign, N: d.IntN(3)})
		s.add(Event{What: HandDropForeign, At: d.moment()})
	}
}

// reads are the calls that a slow or stale read may be.
func (d *drawing) reads() string {
	if d.s.InAzure() {
		return []string{"*_Get", "*_List*"}[d.IntN(2)]
	}
	return "Describe*"
}

func (d *drawing) refusals() []string {
	if d.s.InAzure() {
		return azureRefusals
	}
	return refusals
}

// status is that of a reply with a code.
func (d *drawing) status(code string) int {
	if !d.s.InAzure() {
		return http.StatusBadRequest
	}
	switch code {
	case "AuthorizationFailed":
		return http.StatusForbidden
	case "ServiceUnavailable":
		return http.StatusServiceUnavailable
	case "Conflict", "OperationNotAllowed":
		return http.StatusConflict
	}
	return http.StatusBadRequest
}
