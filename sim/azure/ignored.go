package azure

import (
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

// says reports whether the request says anything of a field.
func (x *exchange) says(field string) bool { return sim.JSONHas(x.Body, field) }

// carryOut runs a write, or what faults leave of it. What is ignored is checked as ever, and refused if it is wrong. The creation of an
// agent pool, by the request that changes one too, is never ignored in part: a pool without its tags would have no owner.
func (x *exchange) carryOut(w *inventory, faults []sim.Fault) (*arm.Answer, error) {
	all, fields := sim.Ignored(faults)
	if !all && len(fields) == 0 || x.route.Service == "containerservice" && w.containers.Creates(&x.Call) {
		return x.route.Run(w, &x.Call)
	}
	trial, err := x.cloud.asOf(w.Now, 0)
	if err != nil {
		return nil, err
	}
	out, err := x.route.Run(trial, &x.Call)
	if err != nil || all {
		return w.idly(x.route.Service, out), err
	}
	if x.Body, err = sim.JSONWithout(x.Body, fields...); err != nil {
		return nil, err
	}
	if rest, err := x.route.Run(w, &x.Call); err == nil {
		return rest, nil
	}
	return w.idly(x.route.Service, out), nil // nothing is left of the request that makes sense alone
}

// idly is the answer to a request that nothing was done about: its operation has succeeded at once.
func (w *inventory) idly(service string, a *arm.Answer) *arm.Answer {
	if a == nil || a.Op == nil {
		return a
	}
	op := *a.Op
	op.Status, op.End = arm.Succeeded, w.Now
	remember := w.compute.Remember
	if service == "containerservice" {
		remember = w.containers.Remember
	}
	return &arm.Answer{Status: a.Status, Body: a.Body, Op: remember(op)}
}

// Ignorable are rules that each ignore one field that clients can set, or one operation that sets something as a whole: every such
// field of scale sets and of their machines, without end.
func Ignorable() []sim.Fault {
	var out []sim.Fault
	add := func(action string, fields ...string) {
		for _, field := range fields {
			out = append(out, sim.Fault{Kind: sim.Ignore, Service: "compute", Action: action, Field: field, Name: "ignores " + action + " " + field})
		}
	}
	const profile = "properties.virtualMachineProfile."
	add("VirtualMachineScaleSets_Update", "tags", "zones", "sku.name", "sku.capacity", "identity", "properties.upgradePolicy",
		profile+"storageProfile", profile+"networkProfile", profile+"osProfile", profile+"extensionProfile", profile+"scheduledEventsProfile")
	add("VirtualMachineScaleSets_UpdateInstances", "")
	add("VirtualMachineScaleSets_DeleteInstances", "")
	add("VirtualMachineScaleSetVMs_Update", "", "properties.protectionPolicy")
	return out
}

// IgnorableOfPools are the same for agent pools and managed clusters.
func IgnorableOfPools() []sim.Fault {
	var out []sim.Fault
	add := func(action string, fields ...string) {
		for _, field := range fields {
			name := "ignores " + action + " " + field
			out = append(out, sim.Fault{Kind: sim.Ignore, Service: "containerservice", Action: action, Field: field, Name: name})
		}
	}
	for _, member := range containerservice.Settable() {
		add("AgentPools_CreateOrUpdate", "properties."+member)
	}
	add("AgentPools_DeleteMachines", "")
	add("AgentPools_UpgradeNodeImageVersion", "")
	add("ManagedClusters_UpdateTags", "tags")
	return out
}
