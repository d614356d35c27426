package compute

import (
	"maps"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
)

// Snapshot returns what the service holds now, in the form of all clouds. Pools that are terminated are left out.
func (s *Service) Snapshot() sim.Snapshot {
	var out sim.Snapshot
	for _, c := range s.rows.configurations.All() {
		out.Templates = append(out.Templates, sim.Template{ID: c.ID, Name: document.Text(c.Doc, "displayName"), Created: c.Created,
			Tags: document.Pairs(c.Doc, "freeformTags"), Versions: []sim.Version{{Content: content(c.launch())}}})
	}
	for _, p := range s.rows.pools.All() {
		if p.State != terminated {
			out.Groups = append(out.Groups, group(s, p))
		}
	}
	for _, m := range s.rows.instances.All() {
		if m.State != terminated {
			out.Instances = append(out.Instances, sim.Instance{ID: m.ID, Group: nameOf(s.rows, m.Pool), Tags: m.Tags, Leaving: m.leaving()})
		}
	}
	return out
}

// group returns a pool in the form of all clouds.
func group(s *Service, p *pool) sim.Group {
	g := sim.Group{Name: p.text("displayName"), ID: p.ID, State: p.State, Busy: p.State != running && p.State != stopped,
		Autoscaled: p.Autoscaled,
		Deleting:   p.State == terminating, Size: p.Size, Template: p.text("instanceConfigurationId"),
		Tags: document.Pairs(p.Doc, "freeformTags"), Settings: settings(p)}
	if c := s.rows.configurations.Get(g.Template); c != nil {
		g.Content, g.Type = content(c.launch()), document.Text(c.launch(), "shape")
	}
	for _, m := range s.rows.members(p) {
		if m.State == terminated {
			continue
		}
		g.Members = append(g.Members, sim.Member{ID: m.ID, Name: m.Host, Ref: m.ID, ProviderID: providerID(m), Zone: m.Zone, Type: m.Type,
			State: m.State, Template: m.Configuration, Content: content(s.rows.launches.Kept(m.Launch)), Tags: m.Tags, Created: m.Created,
			Leaving: m.leaving(), HeldSince: m.Held, Doomed: !m.Taken.IsZero(), Failed: m.State == stopped || m.State == stopping, Spot: m.Spot})
	}
	return g
}

// settings returns what clients can set of a pool but its size, its configuration and its tags, as a text.
func settings(p *pool) string {
	rest := maps.Clone(p.Doc)
	delete(rest, "freeformTags")
	delete(rest, "instanceConfigurationId")
	return document.Written(rest)
}

// content returns what launch details make instances of: bootstrap data, names and tags aside.
func content(launch document.Object) string {
	rest := maps.Clone(launch)
	for _, member := range []string{"freeformTags", "definedTags", "displayName", "metadata"} {
		delete(rest, member)
	}
	metadata := document.Pairs(launch, "metadata")
	delete(metadata, "user_data")
	return document.Written(rest) + document.Written(document.OfStrings(metadata))
}
