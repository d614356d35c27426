package containerservice

import (
	"maps"

	"github.com/muster-project/muster/sim/document"
)

// Inspected is the state of a managed cluster.
type Inspected struct {
	ID, Name, Group, NodeGroup, State, Power, Version string
	// Code and Message describe the failure of its last operation; "" if it succeeded.
	Code, Message string
	Pools         []InspectedPool
}

// InspectedPool is the state of an agent pool.
type InspectedPool struct {
	Name, Mode, State, Power, Version, Image, Size, ScaleSet string
	// Min and Max are the bounds of the autoscaler, zero while it is off.
	Count, Min, Max  int
	Autoscaled, Busy bool
	Tags, Labels     map[string]string
	Machines         []InspectedMachine
}

// InspectedMachine is the state of a machine of a pool.
type InspectedMachine struct {
	// Instance is its ID in the scale set, Name that of its node, UID that by which the MachineHost knows it.
	Instance, Name, UID, Version, Image, Size string
	Ready, Deleting, Deallocated              bool
	// Leaving is true while AKS drains it to delete or deallocate it.
	Leaving bool
}

// Inspect returns all clusters with their pools and machines.
func (w *Service) Inspect() []Inspected {
	var out []Inspected
	for _, c := range w.rows.clusters.All() {
		out = append(out, w.inspectCluster(c))
	}
	return out
}

func (w *Service) inspectCluster(c *Cluster) Inspected {
	out := Inspected{ID: c.ID, Name: c.Name, Group: c.Group, NodeGroup: c.nodeGroup(), State: c.State, Power: c.Power, Version: c.Current}
	if c.Trouble != nil {
		out.Code, out.Message = c.Trouble.Code, c.Trouble.Message
	}
	for _, p := range w.rows.poolsOf(c) {
		out.Pools = append(out.Pools, w.inspect(c, p))
	}
	return out
}

func (w *Service) inspect(c *Cluster, p *Pool) InspectedPool {
	out := InspectedPool{
		Name: p.Name, Mode: document.Text(p.Doc, "mode"), State: p.State, Power: p.Power, Version: p.Current, Image: p.Image,
		Size: document.Text(p.Doc,
			"vmSize"), ScaleSet: p.Set,
		Count: p.count(), Autoscaled: p.autoscaled(), Busy: p.Op != "", Tags: maps.Clone(document.Pairs(p.Doc, "tags")),
		Labels: document.Pairs(p.Doc,
			"nodeLabels"),
	}
	out.Min, _ = document.Number(p.Doc, "minCount")
	out.Max, _ = document.Number(p.Doc, "maxCount")
	for _, n := range w.compute.Nodes(setKey(c, p)) {
		out.Machines = append(out.Machines, InspectedMachine{
			Instance: n.Instance, Name: n.Computer, UID: n.UID, Version: versionOf(n), Image: imageOf(n.Image), Size: n.Size,
			Ready:    w.nodes.Ready(machineOf(p, n)),
			Deleting: n.Deleting, Deallocated: n.Deallocated, Leaving: p.Leaving[n.Instance] != nil,
		})
	}
	return out
}
