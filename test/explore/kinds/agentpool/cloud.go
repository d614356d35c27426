package agentpool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/world"
)

// onPool names the pool in out-of-band actions.
func (a *pool) onPool() string { return world.ClusterName + "/" + a.World.InfraKey().Name }

// poolPath is where the agent pool is.
func (a *pool) poolPath() string {
	return "/subscriptions/" + simazure.SubscriptionID + "/resourceGroups/" + simazure.ResourceGroup +
		"/providers/Microsoft.ContainerService/managedClusters/" + world.ClusterName + "/agentPools/" + a.World.InfraKey().Name
}

// managedCluster returns the managed cluster; nil while there is none.
func (a *pool) managedCluster() *containerservice.Inspected {
	for _, c := range a.Cloud.State().Clusters {
		return &c
	}
	return nil
}

// agents returns the agent pool with the name of the pool; nil if it does not exist.
func (a *pool) agents() *containerservice.InspectedPool {
	c := a.managedCluster()
	if c == nil {
		return nil
	}
	if at := slices.IndexFunc(c.Pools, func(p containerservice.InspectedPool) bool { return p.Name == a.World.InfraKey().Name }); at >= 0 {
		return &c.Pools[at]
	}
	return nil
}

// leaves reports whether a machine is on its way out, or counts no more.
func leaves(m containerservice.InspectedMachine) bool {
	return m.Deleting || m.Deallocated || m.Leaving
}

// describe describes a request to AKS for the trace, and returns the machines that it names.
func (a *pool) describe(_ string, req *http.Request, body []byte) (text string, named []string, err error) {
	tail := req.URL.Path[strings.LastIndex(req.URL.Path, "/managedClusters/")+1:]
	sum := sha256.Sum256(body)
	text = strings.Join([]string{req.Method, tail, string(body), "(" + hex.EncodeToString(sum[:4]) + ")"}, " ")
	named = []string{}
	switch {
	case req.Method == http.MethodDelete && strings.EqualFold(req.URL.Path, a.poolPath()):
		return text, nil, nil // all go
	case !strings.HasSuffix(strings.ToLower(tail), "/deletemachines"):
		return text, named, nil
	}
	var fields struct{ MachineNames []string }
	if json.Unmarshal(body, &fields) == nil {
		named = a.World.Group.Named(fields.MachineNames)
	}
	return text, named, nil
}

// shownPool returns the pool as AKS shows it.
func (a *pool) shownPool() shownPool {
	var out struct {
		Properties shownPool `json:"properties"`
	}
	req, err := http.NewRequest(http.MethodGet, azure.Endpoint+a.poolPath()+"?api-version=2025-05-01", bytes.NewReader(nil))
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
