package toy

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/managed"
)

// IgnorableOfGroups returns rules that each ignore one thing that clients can set of a group, without end.
func IgnorableOfGroups() []sim.Fault {
	return slices.Concat(core.Ignoring("toy", "DeleteMachines", ""), core.Ignoring("toy", "DeleteGroup", ""),
		core.Ignoring("toy", "DeleteTemplate", ""), core.Ignoring("toy", "UpdateGroup", "", "count", "template", "tags"))
}

// GroupCapabilities describes the cloud for callers that know groups of machines and not which cloud it is.
func (c *Cloud) GroupCapabilities() sim.Capabilities {
	out := c.Capabilities()
	out.Snapshot, out.OutOfBand, out.Ignorable = c.GroupSnapshot, c.groupActions(), IgnorableOfGroups()
	out.Groups = sim.GroupBehavior{RecreatesInstances: true}
	return out
}

// GroupSnapshot returns the groups of machines, in the form of all clouds.
func (c *Cloud) GroupSnapshot() sim.Snapshot {
	var out sim.Snapshot
	// An error to write shows with the next request.
	_ = c.ByHand("", func(w *region) error {
		out = w.groups.snapshot()
		return nil
	})
	return out
}

func (s *groups) snapshot() sim.Snapshot {
	var out sim.Snapshot
	for _, t := range s.templates.All() {
		out.Templates = append(out.Templates, sim.Template{ID: t.Name, Name: t.Name, Tags: t.Tags, Created: t.Created,
			Versions: []sim.Version{{Content: t.content()}}})
	}
	for _, g := range s.rows.All() {
		is := sim.Group{Name: g.Name, ID: g.Name, State: string(g.State), Deleting: g.State == managed.Deleting, Size: g.Count,
			Template: g.Template, Tags: g.Tags, Content: s.templates.Get(g.Template).content(), Settings: fmt.Sprint(g.Zones)}
		for _, i := range s.machines.Of(g.Name) {
			is.Members = append(is.Members, sim.Member{ID: i.ID, Name: i.Name, Ref: i.ID, ProviderID: providerID("groups", i.ID), Zone: i.Zone,
				Type: i.Type, State: i.State(&managed.Pool{}), Template: i.Model, Kubernetes: i.Version,
				Content: s.templates.Get(i.Model).content(), Tags: g.Tags, Created: i.Created, Leaving: i.Deleting, Failed: i.Stopped})
			out.Instances = append(out.Instances, sim.Instance{ID: i.ID, Group: g.Name, Tags: g.Tags, Leaving: i.Deleting})
		}
		out.Groups = append(out.Groups, is)
	}
	return out
}

// groupActions returns what a user does to groups in the console: no request, limit or fault is in the way.
func (c *Cloud) groupActions() sim.OutOfBandActions {
	by := func(do func(*groups, sim.Resource) error) func(sim.Resource) error {
		return func(on sim.Resource) error { return c.ByHand("", func(w *region) error { return do(w.groups, on) }) }
	}
	change := func(change func(*heldGroup, sim.Resource)) func(sim.Resource) error {
		return by(func(s *groups, on sim.Resource) error {
			g := s.rows.Get(on.Name)
			if g == nil {
				return missing("group", on.Name)
			}
			change(g, on)
			s.changed(g)
			return nil
		})
	}
	theirs := func(s *groups, name string) error {
		return s.addTemplate(&heldTemplate{GroupTemplate: GroupTemplate{Name: name, MachineType: "small", Image: defaultImage,
			Version: "1.34.2", Created: s.Now}})
	}
	out := sim.OutOfBandActions{}
	for none := range c.Capabilities().OutOfBand {
		out[none] = nil
	}
	out[sim.CreateTemplate] = by(func(s *groups, on sim.Resource) error { return theirs(s, on.Name) })
	out[sim.DeleteTemplate] = by(func(s *groups, on sim.Resource) error { return s.dropTemplate(on.Name) })
	out[sim.CreateGroup] = by(func(s *groups, on sim.Resource) error {
		if s.rows.Get(on.Name) != nil {
			return refuse(http.StatusConflict, "AlreadyExists", "There is a group %s already.", on.Name)
		}
		s.add(&heldGroup{Group: Group{Name: on.Name, Template: "theirs", Zones: Zones()}})
		return theirs(s, "theirs")
	})
	out[sim.DeleteGroup] = change(func(g *heldGroup, _ sim.Resource) { g.State, g.Count = managed.Deleting, 0 })
	out[sim.SetSize] = change(func(g *heldGroup, on sim.Resource) { g.Count = on.Size })
	out[sim.RemoveTag] = change(func(g *heldGroup, on sim.Resource) { delete(g.Tags, on.Key) })
	out[sim.ChangeTag] = change(func(g *heldGroup, on sim.Resource) {
		if g.Tags == nil {
			g.Tags = map[string]string{}
		}
		g.Tags[on.Key] = on.Value
	})
	machine := func(do func(*managed.Instances, *managed.Instance)) func(sim.Resource) error {
		return by(func(s *groups, on sim.Resource) error {
			for _, i := range s.machines.Rows.All() {
				if i.ID == on.Instance && !i.Deleting {
					do(s.machines, i)
				}
			}
			return nil
		})
	}
	out[sim.TerminateInstance] = machine((*managed.Instances).Delete)
	out[sim.StopInstance] = machine((*managed.Instances).Stop)
	return out
}
