package azure

import (
	"github.com/muster-project/muster/sim"
)

// says reports whether the request says anything of a field.
func (x *exchange) says(field string) bool { return sim.JSONHas(x.body, field) }

// carryOut runs a write, or what faults leave of it. What is ignored is checked as ever, and refused if it is wrong.
func (x *exchange) carryOut(w *inventory, faults []sim.Fault) (*answer, error) {
	all, fields := sim.Ignored(faults)
	if !all && len(fields) == 0 {
		return x.route.run(w, x)
	}
	trial, err := x.cloud.asOf(w.now, 0)
	if err != nil {
		return nil, err
	}
	out, err := x.route.run(trial, x)
	if err != nil || all {
		return w.idly(out), err
	}
	if x.body, err = sim.JSONWithout(x.body, fields...); err != nil {
		return nil, err
	}
	if rest, err := x.route.run(w, x); err == nil {
		return rest, nil
	}
	return w.idly(out), nil // nothing is left of the request that makes sense alone
}

// idly is the answer to a request that nothing was done about: its operation has succeeded at once.
func (w *inventory) idly(a *answer) *answer {
	if a == nil || a.op == nil {
		return a
	}
	op := *a.op
	op.ID, op.Status, op.End = w.environment.uuid("operation"), statusSucceeded, w.now
	w.operations.Put(op.ID, &op)
	return &answer{status: a.status, body: a.body, op: &op}
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
