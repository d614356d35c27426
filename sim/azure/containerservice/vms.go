package containerservice

import (
	"maps"
	"slices"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
)

// The types of pools: of a scale set, or of virtual machines by themselves.
const (
	typeScaleSets = "VirtualMachineScaleSets"
	typeVMs       = "VirtualMachines"
)

const (
	// vmsSince is the first version in which pools of virtual machines are known.
	vmsSince = "2025-08-01"
	manual   = "virtualMachinesProfile.scale.manual"
)

// ofVMs reports whether the machines of a pool are virtual machines by themselves.
func (p *Pool) ofVMs() bool { return document.Text(p.Doc, "type") == typeVMs }

// suffix ends the names of what a pool's machines are kept in.
func (p *Pool) suffix() string {
	if p.ofVMs() {
		return "-vms"
	}
	return "-vmss"
}

// profiled is the pool that a profile of a cluster is about, nil for one that does not exist.
func (r *rows) profiled(c *Cluster, profile document.Object) *Pool {
	if c == nil {
		return nil
	}
	return r.pools.Get(poolKey(c.key(), document.Text(profile, "name")))
}

// flatten puts the size and the number of machines that a request gives a pool of virtual machines where those of a scale set are: the
// simulator keeps both there. Such a pool has them in its scale profile, and nowhere else.
func flatten(p *Pool, properties document.Object, version string) error {
	kind := document.Text(properties, "type")
	if kind == "" && p != nil {
		kind = document.Text(p.Doc, "type")
	}
	profiles := document.Objects(properties, manual)
	switch count, counted := document.Number(properties, "count"); {
	case kind != typeVMs && properties["virtualMachinesProfile"] == nil:
		return nil
	case kind != typeVMs:
		return invalid("agentPoolProfile.virtualMachinesProfile", "virtualMachinesProfile is allowed for agent pools of type '%s' alone.",
			typeVMs)
	case version < vmsSince:
		return arm.BadRequest("Could not find member 'virtualMachinesProfile' on object of type 'ManagedClusterAgentPoolProfileProperties'.")
	case counted, document.Text(properties, "vmSize") != "":
		return invalid("agentPoolProfile.count", "agentPoolProfile.count (%d) and agentPoolProfile.vmSize are not allowed for agent pools of "+
			"type '%s': use %s.", count, typeVMs, manual)
	case len(profiles) == 0 && p == nil:
		return invalid("agentPoolProfile.virtualMachinesProfile", "Required parameter %s is missing (null).", manual)
	case len(profiles) > 1:
		return refuse(400, "NotSupported", "Agent pools of several sizes are not supported by this simulation.")
	}
	delete(properties, "virtualMachinesProfile")
	delete(properties, "vmSize")
	for _, profile := range profiles {
		count, _ := document.Number(profile, "count")
		properties["vmSize"], properties["count"] = document.Text(profile, "size"), float64(count)
	}
	return nil
}

// scaled shows the size and the number of a pool of virtual machines where such pools have them, and how many machines run of each size.
func (w *views) scaled(c *Cluster, p *Pool, d document.Object) {
	profile := document.Object{"size": d["vmSize"], "count": d["count"]}
	delete(d, "count")
	delete(d, "enableAutoScaling")
	d["vmSize"] = ""
	document.Place(d, manual, []any{profile})
	running := map[string]int{}
	for _, n := range w.compute.Nodes(setKey(c, p)) {
		if n.Running {
			running[n.Size]++
		}
	}
	list := []any{}
	for _, size := range slices.Sorted(maps.Keys(running)) {
		list = append(list, document.Object{"size": size, "count": float64(running[size])})
	}
	d["virtualMachineNodesStatus"] = list
}

// checkType refuses types of pools that are not simulated, and what a type does not allow.
func checkType(d document.Object) error {
	switch kind := document.Text(d, "type"); {
	case kind == typeVMs && document.Truth(d, "enableAutoScaling"):
		return invalid("agentPoolProfile.enableAutoScaling", "The cluster autoscaler is not supported for agent pools of type '%s'.", kind)
	case kind != typeScaleSets && kind != typeVMs:
		return refuse(400, "NotSupported", "Agent pools of type '%s' are not supported by this simulation.", kind)
	}
	return nil
}
