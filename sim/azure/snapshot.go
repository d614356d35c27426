package azure

import (
	"fmt"
	"strings"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

// snapshot returns the state in the form of all clouds: scale sets but those of AKS, and agent pools.
func (s State) snapshot() sim.Snapshot {
	var out sim.Snapshot
	made, ofAKS := map[string]compute.Machine{}, map[string]bool{}
	for _, k := range s.Clusters {
		ofAKS[strings.ToLower(k.NodeGroup)] = true
	}
	for _, set := range s.Sets {
		for _, m := range set.Machines {
			made[m.UID] = m
		}
		if ofAKS[strings.ToLower(set.Group)] {
			continue
		}
		out.Groups = append(out.Groups, groupOf(set))
		for _, m := range set.Machines {
			out.Instances = append(out.Instances, sim.Instance{ID: m.UID, Group: set.Name, Tags: m.Tags, Leaving: m.State == deleting})
		}
	}
	for _, k := range s.Clusters {
		for _, p := range k.Pools {
			g := poolOf(k, p, made)
			out.Groups = append(out.Groups, g)
			for _, m := range g.Members {
				out.Instances = append(out.Instances, sim.Instance{ID: m.ID, Group: g.Name, Tags: g.Tags, Leaving: m.Leaving})
			}
		}
	}
	return out
}

// deleting is the provisioning state of what is being deleted, failed that of what an operation has failed for.
const deleting, failed = "Deleting", "Failed"

// failedOf reports whether a machine does not run, and stays until a client removes it.
func failedOf(m compute.Machine) bool {
	return m.State == failed || m.Power == "stopped" || m.Power == "deallocated"
}

func groupOf(s compute.Set) sim.Group {
	g := sim.Group{
		Name: s.Name, ID: s.ID, State: s.State, Busy: s.Busy, Deleting: s.State == deleting, Requested: s.Capacity, Type: s.Size,
		Content: contentOf(s.Content), Tags: s.Tags, Settings: fmt.Sprintf("%d %v %s", s.Capacity, s.Zones, s.Model),
	}
	for _, m := range s.Machines {
		g.Members = append(g.Members, sim.Member{
			ID: m.UID, Name: m.Name, Ref: m.ID, ProviderID: m.ProviderID, Zone: m.Zone, Type: m.Size, State: m.State,
			Content: contentOf(m.Content), Tags: m.Tags, Created: m.Created, Leaving: m.State == deleting,
			Failed: failedOf(m), Protected: m.Protected, Spot: m.Spot,
		})
	}
	g.Size = min(s.Capacity, len(g.Staying())+s.Launches) // Azure has given up to bring the others
	return g
}

// contentOf leaves out what distinguishes nothing.
func contentOf(text string) string { return strings.ReplaceAll(text, `"dataDisks":[],`, "") }

// poolOf has no Max: maxCount bounds AKS's autoscaler alone. A machine that AKS has begun to drain is leaving.
func poolOf(k containerservice.Inspected, p containerservice.InspectedPool, made map[string]compute.Machine) sim.Group {
	g := sim.Group{
		Name: p.Name, ID: k.ID + "/agentPools/" + p.Name, Cluster: k.Name, State: p.State, Busy: p.Busy, Autoscaled: p.Autoscaled,
		Deleting: p.State == deleting, Size: p.Count, Min: p.Min, Type: p.Size, Kubernetes: p.Version, Content: p.Version + " " + p.Size,
		Tags: p.Tags, Labels: p.Labels, Settings: fmt.Sprintf("%d %s %v %s %s", p.Count, p.Mode, p.Labels, p.Version, p.Size),
	}
	for _, m := range p.Machines {
		is := made[m.UID]
		g.Members = append(g.Members, sim.Member{
			ID: m.UID, Name: m.Name, Ref: m.Name, ProviderID: is.ProviderID, Zone: is.Zone, Type: m.Size, State: is.State,
			Kubernetes: m.Version, Content: m.Version + " " + m.Size, Tags: is.Tags, Created: is.Created,
			Leaving: m.Deleting || m.Deallocated || m.Leaving, Failed: failedOf(is), Spot: is.Spot,
		})
	}
	return g
}
