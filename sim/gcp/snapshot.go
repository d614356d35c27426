package gcp

import (
	"fmt"
	"slices"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/container"
)

// snapshots takes snapshots of the cloud.
type snapshots struct {
	cloud *Cloud
	// contents are those of properties of machines, by their fingerprints.
	contents map[string]string
}

// labelGKE is the label of what GKE keeps for its node pools.
const labelGKE = "goog-gke-node"

func (s *snapshots) take() sim.Snapshot {
	state := s.cloud.State()
	var out sim.Snapshot
	made, own := map[string]compute.Instance{}, ofGKE(state)
	for _, t := range state.Templates {
		if !own[t.Path] {
			out.Templates = append(out.Templates, sim.Template{ID: t.Path, Name: t.Name, Tags: t.Labels, Created: t.Created,
				Versions: []sim.Version{{Content: s.content(t.Content, t.Properties)}}})
		}
	}
	for _, g := range state.Groups {
		for _, m := range g.Instances {
			made[m.Name] = m
		}
		if !own[g.Path] {
			out.Groups = append(out.Groups, s.group(g, state.Templates))
		}
	}
	for _, c := range state.Clusters {
		for _, p := range c.Pools {
			out.Groups = append(out.Groups, poolOf(c, p, made))
		}
	}
	for _, g := range out.Groups {
		for _, m := range g.Members {
			if m.ID != "" {
				out.Instances = append(out.Instances, sim.Instance{ID: m.ID, Group: g.Name, Tags: m.Tags, Leaving: m.Leaving})
			}
		}
	}
	return out
}

// ofGKE returns the paths of the templates and groups that GKE keeps for node pools.
func ofGKE(state State) map[string]bool {
	own := map[string]bool{}
	for _, t := range state.Templates {
		_, own[t.Path] = t.Labels[labelGKE]
	}
	for _, c := range state.Clusters {
		for _, p := range c.Pools {
			for _, g := range p.Groups {
				own[g.Path] = true
			}
		}
	}
	for _, g := range state.Groups {
		own[g.Path] = own[g.Path] || slices.ContainsFunc(g.Templates, func(t string) bool { return own[t] })
	}
	return own
}

// group launches from the last of its templates.
func (s *snapshots) group(g compute.Group, templates []compute.Template) sim.Group {
	out := sim.Group{
		Name: g.Name, ID: g.Path, Deleting: g.Deleting, Size: g.Size, Template: g.Templates[len(g.Templates)-1], Tags: g.Labels,
		Settings: fmt.Sprintf("%d %v %v", g.Size, g.Templates, g.Doc),
	}
	for _, t := range templates {
		if t.Path == out.Template {
			out.Content = s.content(t.Content, t.Properties)
		}
	}
	for _, m := range g.Instances {
		out.Busy = out.Busy || m.Action != "NONE"
		out.Members = append(out.Members, sim.Member{
			ID: m.ID, Name: m.Name, Ref: refOf(m.Zone, m.Name), ProviderID: m.ProviderID, Zone: m.Zone, Type: m.Type, State: m.State,
			Template: m.Template, Content: s.content(m.Content, m.Properties), Tags: m.Labels, Created: m.Created, Spot: m.Spot,
			Leaving: m.Action == "DELETING" || m.Action == "ABANDONING" || replaced(m), Replaced: replaced(m), Failed: !running(m) || empty(m),
		})
	}
	return out
}

// replaced reports whether the group is about to delete an instance and to create another one in its place.
func replaced(m compute.Instance) bool {
	return m.Action == "RECREATING" && m.ID != "" && m.State != "PROVISIONING" && m.State != "STAGING"
}

// empty reports whether the group leaves the place of an instance empty that was deleted out of band.
func empty(m compute.Instance) bool {
	return m.ID == "" && m.Action != "CREATING" && m.Action != "RECREATING"
}

// refOf returns the end of the URLs of an instance.
func refOf(zone, name string) string { return "zones/" + zone + "/instances/" + name }

// running reports whether an instance runs, or is about to for the first time.
func running(m compute.Instance) bool {
	return slices.Contains([]string{"", "PROVISIONING", "STAGING", "RUNNING"}, m.State)
}

// content returns what properties make machines of: bootstrap data and labels aside.
func (s *snapshots) content(fingerprint string, p document.Object) string {
	if text, known := s.contents[fingerprint]; known || len(p) == 0 {
		return text
	}
	rest := document.Copied(p)
	delete(rest, "labels")
	delete(rest, "metadata")
	delete(document.Under(rest, "tags"), "fingerprint")
	for _, d := range document.Objects(rest, "disks") {
		delete(document.Under(d, "initializeParams"), "labels")
	}
	metadata := map[string]string{}
	for _, item := range document.Objects(p, "metadata.items") {
		if key := document.Text(item, "key"); key != "user-data" {
			metadata[key] = document.Text(item, "value")
		}
	}
	s.contents[fingerprint] = document.Written(rest) + fmt.Sprint(metadata)
	return s.contents[fingerprint]
}

// poolOf returns a node pool. A machine that GKE has begun to drain is leaving.
func poolOf(c container.Inspected, p container.InspectedPool, made map[string]compute.Instance) sim.Group {
	g := sim.Group{
		Name: p.Name, ID: "projects/" + c.Project + "/locations/" + c.Location + "/clusters/" + c.Name + "/nodePools/" + p.Name,
		Cluster: c.Name, State: p.Status, Busy: p.Busy, Autoscaled: p.Autoscaled, Deleting: p.Status == "STOPPING",
		Failed: p.Status == "ERROR", Size: keptBy(p), Type: p.MachineType, Kubernetes: p.Version, Content: p.Wanted + " " + p.MachineType,
		Tags: p.Resource, Labels: p.Labels,
		Settings: fmt.Sprintf("%d %v %s %s %s", p.Nodes, p.Labels, p.Version, p.MachineType, p.ImageType),
	}
	for _, m := range p.Machines {
		is := made[m.Name]
		one := sim.Member{
			ID: m.UID, Name: m.Name, Ref: refOf(m.Zone, m.Name), ProviderID: is.ProviderID, Zone: m.Zone, Type: is.Type, State: is.State,
			Kubernetes: m.Version, Content: g.Content, Tags: p.Resource, Created: is.Created, Leaving: m.Deleting || m.Leaving,
			Failed: m.UID != "" && !running(is), Spot: is.Spot,
		}
		if m.Stale && !m.Alike {
			one.Content = m.Version + " " + is.Type + " of an earlier configuration"
		}
		g.Members = append(g.Members, one)
	}
	return g
}

// keptBy returns how many machines a node pool keeps: without those that an upgrade adds, in a blue-green one those of one of its sets.
func keptBy(p container.InspectedPool) int {
	sets := map[bool]int{}
	for _, g := range p.Groups {
		sets[g.Green] += g.Kept
	}
	return max(sets[false], sets[true])
}
