package scaleset

import (
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/world"
)

// happenings are those of scale sets.
var happenings = append([]world.What{
	world.Replicas, world.Replicas, world.Replicas, world.Replicas, world.Template, world.Template, world.Template, world.Template, world.Back,
	world.GroupEdit, world.GroupEdit, world.GroupEdit, world.Token, world.Token, world.External, world.Autoscaler, world.Strategy,
	world.Strategy,
	world.BadTemplate, world.Hold, world.RestartNow, world.HandInterrupt, world.HandUnhealthy, world.DropMachine, world.DropMachine,
	world.DropInfraMachine, world.Mark, world.Mark, world.HandTerminate, world.HandTerminate, world.HandFail, world.HandResize,
	world.HandResize,
	world.HandTags, world.HandDisown, world.HandDisown, world.HandDropGroup, HandExpose, HandTagMachine, azure.HandQuota,
}, world.Mishaps()...)

// actions are the calls that a fault may be for where scale sets are.
var actions = []string{
	"*", "*", "*_Get", "*_List*", "VirtualMachineScaleSets_*", "VirtualMachineScaleSets_CreateOrUpdate", "VirtualMachineScaleSets_Update",
	"VirtualMachineScaleSets_Update",
	"VirtualMachineScaleSets_DeleteInstances", "VirtualMachineScaleSets_DeleteInstances", "VirtualMachineScaleSets_Delete",
	"VirtualMachineScaleSets_UpdateInstances",
	"VirtualMachineScaleSetVMs_*", "VirtualMachines_List*", "Operations_Get", "ResourceSkus_List",
}

// drawn draws a scenario: one half of them in each mode.
func drawn(d *world.Drawing) {
	d.DrawRolled(func() {
		s, of := &d.Scenario, Own{Mode: azurev1.UniformOrchestrationMode}
		if s.Seed%2 == 1 {
			of.Mode = azurev1.FlexibleOrchestrationMode
		}
		s.Refresh, s.Zones = world.Plain, d.IntN(2) == 0
		_ = d.IntN(3) // so that seeds mean what they meant
		of.Evicts = []azurev1.SpotEvictionPolicy{azurev1.SpotEvictionPolicyDeallocate, azurev1.SpotEvictionPolicyDelete}[d.IntN(2)]
		s.Own = of
		if d.IntN(5) == 0 {
			s.Add(world.Event{What: world.HandForeign, N: d.IntN(3)})
			s.Add(world.Event{What: world.HandDropForeign, At: d.Moment()})
		}
	}, nil)
}
