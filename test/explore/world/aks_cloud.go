package world

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
	"github.com/muster-project/muster/test/explore/oracle"
)

// onPool names the pool, as actions by hand do.
const onPool = clusterName + "/" + "pool"

// poolPath is where the agent pool is.
const poolPath = "/subscriptions/" + simazure.SubscriptionID + "/resourceGroups/" + simazure.ResourceGroup +
	"/providers/Microsoft.ContainerService/managedClusters/" + onAgentPools

const onAgentPools = clusterName + "/agentPools/pool"

// managedCluster is the managed cluster; nil while there is none.
func (a *account) managedCluster() *containerservice.Inspected {
	if a.azure == nil {
		return nil
	}
	for _, c := range a.azure.State().Clusters {
		return &c
	}
	return nil
}

// agents is the agent pool that has our name; nil when there is none.
func (a *account) agents() *containerservice.InspectedPool {
	c := a.managedCluster()
	if c == nil {
		return nil
	}
	if at := slices.IndexFunc(c.Pools, func(p containerservice.InspectedPool) bool { return p.Name == infraKey.Name }); at >= 0 {
		return &c.Pools[at]
	}
	return nil
}

// ourAgents is the one that has our name and our owner tag.
func (a *account) ourAgents() *containerservice.InspectedPool {
	if p := a.agents(); p != nil && p.Tags[tagOwnerAzure] == a.world.owner().ID {
		return p
	}
	return nil
}

// agentPools is what exists, in the oracles' words. A machine that AKS has begun to drain is on its way out.
func (a *account) agentPools() oracle.Cloud {
	var c oracle.Cloud
	state := a.azure.State()
	made := map[string]simcompute.Machine{}
	for _, s := range state.Sets {
		for _, m := range s.Machines {
			made[m.UID] = m
		}
	}
	for _, k := range state.Clusters {
		for _, p := range k.Pools {
			c.Groups = append(c.Groups, a.agentGroup(p, made))
			for _, m := range p.Machines {
				c.Instances = append(c.Instances, oracle.Instance{ID: m.UID, Owner: p.Tags[tagOwnerAzure], Group: p.Name, Leaving: leaves(m)})
			}
		}
	}
	return c
}

// leaves reports whether a machine is on its way out, or counts no more.
func leaves(m containerservice.InspectedMachine) bool {
	return m.Deleting || m.Deallocated || m.Leaving
}

func (a *account) agentGroup(p containerservice.InspectedPool, made map[string]simcompute.Machine) oracle.Group {
	g := oracle.Group{
		Name: p.Name, Owner: p.Tags[tagOwnerAzure], Content: p.Version + " " + p.Size, Min: p.Min, Max: plenty, Size: p.Count, Deleting: p.State == "Deleting",
		Tags: p.Tags, Untagged: fmt.Sprintf("%d %s %v %s %s", p.Count, p.Mode, p.Labels, p.Version, p.Size),
	}
	g.Print = fmt.Sprintf("%s %v", g.Untagged, p.Tags)
	a.world.secrets("an agent pool's tags", g.Print)
	for _, m := range p.Machines {
		is := made[m.UID]
		g.Members = append(g.Members, oracle.Member{
			ID: m.UID, Leaving: leaves(m), Launched: is.Created, Content: m.Version + " " + m.Size, Failed: is.State == "Failed" || is.Power == "stopped",
		})
	}
	return g
}

// askedOfAKS is what a request to AKS asks for, as a trace shows it, and which machines it names.
func (a *account) askedOfAKS(req *http.Request, body []byte) (text string, named []string) {
	tail := req.URL.Path[strings.LastIndex(req.URL.Path, "/managedClusters/")+1:]
	sum := sha256.Sum256(body)
	text = strings.Join([]string{req.Method, tail, string(body), "(" + hex.EncodeToString(sum[:4]) + ")"}, " ")
	named = []string{}
	switch {
	case req.Method == http.MethodDelete && strings.EqualFold(req.URL.Path, poolPath):
		return text, nil // all go
	case !strings.HasSuffix(strings.ToLower(tail), "/deletemachines"):
		return text, named
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
	return text, named
}

// shownPool is the pool as AKS shows it.
func (a *account) shownPool() shownPool {
	var out struct {
		Properties shownPool `json:"properties"`
	}
	req, err := http.NewRequest(http.MethodGet, azureEndpoint+poolPath+"?api-version=2025-05-01", bytes.NewReader(nil))
	a.world.must(err, "make the request")
	req.Header.Set("Authorization", "Bearer user")
	reply, err := sim.Transport{Handler: a.azure}.RoundTrip(req)
	a.world.must(err, "read the agent pool")
	defer func() { _ = reply.Body.Close() }()
	if reply.StatusCode == http.StatusOK {
		a.world.must(json.NewDecoder(reply.Body).Decode(&out), "decode the agent pool")
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
