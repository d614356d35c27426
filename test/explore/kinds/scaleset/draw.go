package scaleset

import (
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/script"
)

// events are those of scale sets.
var events = append([]script.What{
	script.Replicas, script.Replicas, script.Replicas, script.Replicas, script.Template, script.Template, script.Template, script.Template,
	script.Back,
	script.GroupEdit, script.GroupEdit, script.GroupEdit, script.Token, script.Token, script.External, script.Autoscaler, script.Strategy,
	script.Strategy,
	script.BadTemplate, script.Hold, script.RestartNow, script.HandInterrupt, script.HandUnhealthy, script.DropMachine, script.DropMachine,
	script.DropInfraMachine, script.Mark, script.Mark, script.HandTerminate, script.HandTerminate, script.HandFail, script.HandResize,
	script.HandResize,
	script.HandTags, script.HandDisown, script.HandDisown, script.HandDropGroup, HandExpose, HandTagMachine, azure.HandQuota,
}, script.CommonEvents()...)

// actions are the calls that a fault may be for where scale sets are.
var actions = []string{
	"*", "*", "*_Get", "*_List*", "VirtualMachineScaleSets_*", "VirtualMachineScaleSets_CreateOrUpdate", "VirtualMachineScaleSets_Update",
	"VirtualMachineScaleSets_Update",
	"VirtualMachineScaleSets_DeleteInstances", "VirtualMachineScaleSets_DeleteInstances", "VirtualMachineScaleSets_Delete",
	"VirtualMachineScaleSets_UpdateInstances",
	"VirtualMachineScaleSetVMs_*", "VirtualMachines_List*", "Operations_Get", "ResourceSkus_List",
}

// drawn draws a scenario: one half of them in each mode.
func drawn(d *script.Drawing) {
	d.DrawRolled(func() {
		s, of := &d.Scenario, Own{Mode: azurev1.UniformOrchestrationMode}
		if s.Seed%2 == 1 {
			of.Mode = azurev1.FlexibleOrchestrationMode
		}
		s.Refresh, s.Zones = script.Plain, d.IntN(2) == 0
		_ = d.IntN(3) // so that seeds mean what they meant
		of.Evicts = []azurev1.SpotEvictionPolicy{azurev1.SpotEvictionPolicyDeallocate, azurev1.SpotEvictionPolicyDelete}[d.IntN(2)]
		s.Own = of
		if d.IntN(5) == 0 {
			s.Add(script.Event{What: script.HandForeign, N: d.IntN(3)})
			s.Add(script.Event{What: script.HandDropForeign, At: d.Moment()})
		}
	}, nil)
}
