package azure

import (
	"slices"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/sim/core"
)

// idly is the answer to a request that nothing was done about: its operation has succeeded at once.
func (x *exchange) idly(w, _ *inventory, a *arm.Answer) *arm.Answer {
	if a == nil || a.Op == nil {
		return a
	}
	op := *a.Op
	op.Status, op.End = arm.Succeeded, w.Now
	remember := w.compute.Remember
	if x.route.Service == "containerservice" {
		remember = w.containers.Remember
	}
	return &arm.Answer{Status: a.Status, Body: a.Body, Op: remember(op)}
}

// creates reports the creation of an agent pool, by the request that changes one too. It is never ignored in part: a pool without its tags
// would have no owner.
func (x *exchange) creates(w *inventory) bool {
	return x.route.Service == "containerservice" && w.containers.Creates(&x.Call)
}

// Ignorable are rules that each ignore one field that clients can set, or one operation that sets something as a whole: every such
// field of scale sets and of their machines, without end.
func Ignorable() []sim.Fault {
	const profile = "properties.virtualMachineProfile."
	return slices.Concat(
		core.Ignoring("compute", "VirtualMachineScaleSets_Update", "tags", "zones", "sku.name", "sku.capacity", "identity",
			"properties.upgradePolicy", profile+"storageProfile", profile+"networkProfile", profile+"osProfile", profile+"extensionProfile",
			profile+"scheduledEventsProfile"),
		core.Ignoring("compute", "VirtualMachineScaleSets_UpdateInstances", ""),
		core.Ignoring("compute", "VirtualMachineScaleSets_DeleteInstances", ""),
		core.Ignoring("compute", "VirtualMachineScaleSetVMs_Update", "", "properties.protectionPolicy"),
	)
}

// IgnorableOfPools are the same for agent pools and managed clusters.
func IgnorableOfPools() []sim.Fault {
	var out []sim.Fault
	for _, member := range containerservice.Settable() {
		out = append(out, core.Ignoring("containerservice", "AgentPools_CreateOrUpdate", "properties."+member)...)
	}
	return slices.Concat(out,
		core.Ignoring("containerservice", "AgentPools_DeleteMachines", ""),
		core.Ignoring("containerservice", "AgentPools_UpgradeNodeImageVersion", ""),
		core.Ignoring("containerservice", "ManagedClusters_UpdateTags", "tags"),
	)
}
