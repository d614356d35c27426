package managed

import (
	"encoding/json"

	"github.com/muster-project/muster/sim"
)

// Snapshot returns what the cloud holds now, in the form of all clouds.
func (k Console) Snapshot() sim.Snapshot {
	var out sim.Snapshot
	// An error to write shows with the next request.
	_ = k.By(func(s *Service) error {
		for _, p := range s.Pools.All() {
			g := group(s, p, k.tags(p.Doc))
			out.Groups = append(out.Groups, g)
			for _, m := range g.Members {
				out.Instances = append(out.Instances, sim.Instance{ID: m.ID, Group: g.Name, Tags: g.Tags, Leaving: m.Leaving})
			}
		}
		return nil
	})
	return out
}

func group(s *Service, p *Pool, tags map[string]string) sim.Group {
	c := s.Clusters.Get(p.Cluster)
	g := sim.Group{
		Name: p.Name, ID: p.Key(), Cluster: c.Name, State: string(p.State), Busy: s.Busy(c, p) != nil, Autoscaled: p.Autoscaled,
		Deleting: p.State == Deleting, Size: p.Count, Min: p.Min, Max: p.Max, Type: p.Type, Kubernetes: p.Version, Content: p.Model(),
		Tags: tags, Labels: p.Labels, Settings: settings(p.Spec),
	}
	for _, i := range s.Instances.Of(p.Key()) {
		g.Members = append(g.Members, sim.Member{
			ID: i.ID, Name: i.Name, ProviderID: s.guest(i).ProviderID, Zone: i.Zone, Type: i.Type, State: i.State(p), Kubernetes: i.Version,
			Content: i.Model, Tags: tags, Created: i.Created, Leaving: i.Deleting || p.Leaving[i.Key] != nil, Failed: i.Stopped,
		})
	}
	return g
}

// settings returns what clients can set of a pool but its tags, as a text.
func settings(spec Spec) string {
	spec.Doc = nil
	text, err := json.Marshal(spec)
	if err != nil {
		return "" // a specification can be encoded
	}
	return string(text)
}

// State returns the name of the state of a pool's machine.
func (i *Instance) State(p *Pool) string {
	switch {
	case i.Deleting:
		return "deleting"
	case p.Leaving[i.Key] != nil:
		return "draining"
	case i.Stopped:
		return "stopped"
	case i.Booted.IsZero():
		return "creating"
	}
	return "running"
}
