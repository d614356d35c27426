package agentpool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
	simcompute "github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/world"
)

// onPool names the pool, as actions by hand do.
const onPool = world.ClusterName + "/" + "pool"

// poolPath is where the agent pool is.
const poolPath = "/subscriptions/" + simazure.SubscriptionID + "/resourceGroups/" + simazure.ResourceGroup +
	"/providers/Microsoft.ContainerService/managedClusters/" + onAgentPools

const onAgentPools = world.ClusterName + "/agentPools/pool"

// managedCluster is the managed cluster; nil while there is none.
func (a *pool) managedCluster() *containerservice.Inspected {
	for _, c := range a.Cloud.State().Clusters {
		return &c
	}
	return nil
}

// agents is the agent pool that has our name; nil when there is none.
func (a *pool) agents() *containerservice.InspectedPool {
	c := a.managedCluster()
	if c == nil {
		return nil
	}
	if at := slices.IndexFunc(c.Pools, func(p containerservice.InspectedPool) bool { return p.Name == world.InfraKey.Name }); at >= 0 {
		return &c.Pools[at]
	}
	return nil
}

// ours is the one that has our name and our owner tag.
func (a *pool) ours() *containerservice.InspectedPool {
	if p := a.agents(); p != nil && p.Tags[azure.TagOwner] == a.World.Objects.Owner().ID {
		return p
	}
	return nil
}

// made are the machines of all scale sets, by their UIDs.
func (a *pool) made() map[string]simcompute.Machine {
	made := map[string]simcompute.Machine{}
	for _, s := range a.Cloud.State().Sets {
		for _, m := range s.Machines {
			made[m.UID] = m
		}
	}
	return made
}

// snapshot is what exists, in the oracles' words. A machine that AKS has begun to drain is on its way out.
func (a *pool) snapshot() oracle.Cloud {
	var c oracle.Cloud
	made := a.made()
	for _, k := range a.Cloud.State().Clusters {
		for _, p := range k.Pools {
			c.Groups = append(c.Groups, a.agentGroup(p, made))
			for _, m := range p.Machines {
				c.Instances = append(c.Instances, oracle.Instance{ID: m.UID, Owner: p.Tags[azure.TagOwner], Group: p.Name, Leaving: leaves(m)})
			}
		}
	}
	return c
}

// leaves reports whether a machine is on its way out, or counts no more.
func leaves(m containerservice.InspectedMachine) bool {
	return m.Deleting || m.Deallocated || m.Leaving
}

func (a *pool) agentGroup(p containerservice.InspectedPool, made map[string]simcompute.Machine) oracle.Group {
	g := oracle.Group{
		Name: p.Name, Owner: p.Tags[azure.TagOwner], Content: p.Version + " " + p.Size, Min: p.Min, Max: world.Plenty, Size: p.Count,
		Deleting: p.State == "Deleting",
		Tags:     p.Tags, Untagged: fmt.Sprintf("%d %s %v %s %s", p.Count, p.Mode, p.Labels, p.Version, p.Size),
	}
	g.Print = fmt.Sprintf("%s %v", g.Untagged, p.Tags)
	a.World.Secrets("an agent pool's tags", g.Print)
	for _, m := range p.Machines {
		is := made[m.UID]
		g.Members = append(g.Members, oracle.Member{
			ID: m.UID, Leaving: leaves(m), Launched: is.Created, Content: m.Version + " " + m.Size, Failed: is.State == "Failed" ||
				is.Power == "stopped",
		})
	}
	return g
}

// asked is what a request to AKS asks for, as a trace shows it, and which machines it names.
func (a *pool) asked(_ string, req *http.Request, body []byte) (text string, named []string, err error) {
	tail := req.URL.Path[strings.LastIndex(req.URL.Path, "/managedClusters/")+1:]
	sum := sha256.Sum256(body)
	text = strings.Join([]string{req.Method, tail, string(body), "(" + hex.EncodeToString(sum[:4]) + ")"}, " ")
	named = []string{}
	switch {
	case req.Method == http.MethodDelete && strings.EqualFold(req.URL.Path, poolPath):
		return text, nil, nil // all go
	case !strings.HasSuffix(strings.ToLower(tail), "/deletemachines"):
		return text, named, nil
	}
	var asked struct {
		MachineNames []string `json:"machineNames"`
	}
	if p := a.agents(); p != nil && json.Unmarshal(body, &asked) == nil {
		for _, m := range p.Machines {
			if slices.Contains(asked.MachineNames, m.Name) {
				named = append(named, m.UID)
			}
		}
	}
	return text, named, nil
}

// shownPool is the pool as AKS shows it.
func (a *pool) shownPool() shownPool {
	var out struct {
		Properties shownPool `json:"properties"`
	}
	req, err := http.NewRequest(http.MethodGet, azure.Endpoint+poolPath+"?api-version=2025-05-01", bytes.NewReader(nil))
	a.World.Must(err, "make the request")
	req.Header.Set("Authorization", "Bearer user")
	reply, err := sim.Transport{Handler: a.Cloud}.RoundTrip(req)
	a.World.Must(err, "read the agent pool")
	defer func() { _ = reply.Body.Close() }()
	if reply.StatusCode == http.StatusOK {
		a.World.Must(json.NewDecoder(reply.Body).Decode(&out), "decode the agent pool")
	}
	return out.Properties
}

// shownPool are properties of an agent pool.
type shownPool struct {
	Mode, VMSize, ScaleDownMode, OrchestratorVersion, CurrentOrchestratorVersion string
	Count, MinCount, MaxCount                                                    int
	EnableAutoScaling                                                            bool
	NodeTaints                                                                   []string
	UpgradeSettings                                                              struct{ MaxSurge, MaxUnavailable string }
}
