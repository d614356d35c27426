package container

import (
	"github.com/muster-project/muster/sim/document"
)

// Inspected is the state of a cluster.
type Inspected struct {
	Project, Location, Name, Status, Version, Endpoint string
	Busy                                               bool
	Pools                                              []InspectedPool
}

// InspectedPool is the state of a node pool.
type InspectedPool struct {
	Name, Status, Version, Wanted, MachineType, ImageType string
	Conditions                                            []Condition
	// Size is the number of nodes that each zone was given last, Nodes the sum of the sizes of its groups.
	Size, Nodes      int
	Autoscaled, Busy bool
	// Upgrading is true while nodes are replaced, Phase that of a blue-green upgrade.
	Upgrading        bool
	Phase            string
	Labels, Resource map[string]string
	Groups           []InspectedGroup
	Machines         []InspectedMachine
}

// InspectedGroup is an instance group of a node pool. Kept is the size that it has once the operation that runs has ended.
type InspectedGroup struct {
	Path, Zone string
	Size, Kept int
	Green      bool
}

// InspectedMachine is the state of a machine of a node pool.
type InspectedMachine struct {
	// Name is that of the machine and its node, UID that by which the MachineHost knows it.
	Name, UID, Zone, Version, Group string
	Ready, Running, Deleting        bool
	// Stale is true for a machine that the node pool replaces. Alike is true for one that equals a new machine, as after a change that was
	// reverted before the machine was replaced. Leaving is true while GKE drains it.
	Stale, Alike, Leaving bool
}

// Inspect returns all clusters with their node pools and machines.
func (w *Service) Inspect() []Inspected {
	var out []Inspected
	for _, c := range w.rows.clusters.All() {
		out = append(out, w.inspectCluster(c))
	}
	return out
}

func (w *Service) inspectCluster(c *Cluster) Inspected {
	out := Inspected{
		Project: c.Project, Location: c.Location, Name: c.Name, Status: c.Status, Version: c.Master, Endpoint: c.Access.Endpoint,
		Busy: c.Op != "",
	}
	for _, p := range w.rows.poolsOf(c) {
		out.Pools = append(out.Pools, w.inspect(c, p))
	}
	return out
}

func (w *Service) inspect(c *Cluster, p *Pool) InspectedPool {
	out := InspectedPool{
		Name: p.Name, Status: p.Status, Version: p.Current, Wanted: p.Wanted, MachineType: document.Text(p.Doc, "config.machineType"),
		ImageType: document.Text(p.Doc, "config.imageType"), Conditions: p.Conditions, Size: p.Size, Autoscaled: p.autoscaled(), Busy: p.Op != "",
		Upgrading: p.Roll != nil, Labels: document.Pairs(p.Doc, "config.labels"), Resource: document.Pairs(p.Doc, "config.resourceLabels"),
	}
	if p.Roll != nil && p.Roll.Blue != nil {
		out.Phase = p.Roll.Blue.Phase
	}
	for _, g := range p.Groups {
		path := groupPath(c, g)
		if !w.groups.Exists(path) {
			continue
		}
		size := w.groups.Size(path)
		out.Nodes += size
		shown := InspectedGroup{Path: path, Zone: g.Zone, Size: size, Kept: size, Green: g.Green}
		if g.Want != nil {
			shown.Kept = *g.Want
		}
		out.Groups = append(out.Groups, shown)
	}
	for _, g := range p.Groups {
		out.Machines = append(out.Machines, w.inspectGroup(c, p, g)...)
	}
	return out
}

func (w *Service) inspectGroup(c *Cluster, p *Pool, g *group) []InspectedMachine {
	var out []InspectedMachine
	now := w.models.machineOf(c, p)
	for _, n := range w.groups.Members(groupPath(c, g)) {
		m, made := machineOf(c, p, groupPath(c, g), n), p.Templates[n.Template]
		out = append(out, InspectedMachine{
			Name: n.Name, UID: n.ID, Zone: n.Zone, Version: made.Version, Group: m.Group, Ready: w.nodes.Ready(m), Running: m.Up,
			Deleting: m.Deleting, Stale: m.Stale, Alike: made.Machine == now, Leaving: p.Leaving[n.Name] != nil,
		})
	}
	return out
}
