package agentpool

import (
	"time"

	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/world"
)

// planeAgain is the pause before another try of a request that AKS refuses while it is at work.
const planeAgain = 5 * time.Second

// plane is the control plane of the pool.
type plane struct {
	world.Plane
	pool *pool
	// ready is true once it has been ready.
	ready bool
	// afresh is true while a managed cluster whose creation failed is recreated.
	afresh bool
	// born is the version that the managed cluster was created with, and its System pools.
	born string
}

func newPlane(a *pool) *plane {
	pl := &plane{pool: a, Plane: world.Plane{World: a.World, Minor: world.FirstMinor, Patch: patch}}
	pl.Object, pl.Put = pl.object, pl.put
	return pl
}

// put creates the managed cluster with its System pools, or brings it towards its version.
func (pl *plane) put() (version string, done bool) {
	a, goal := pl.pool, pl.Minor
	if c := a.managedCluster(); c != nil {
		goal = pl.Next(c.Version)
	} else {
		pl.born = world.Minor(goal) + patch
	}
	is, err := a.Cloud.AKS.PutCluster(containerservice.DesiredCluster{
		SubscriptionID: simazure.SubscriptionID, Group: simazure.ResourceGroup, Name: world.ClusterName, Body: pl.managedClusterBody(goal),
		Access: containerservice.Access{Endpoint: "https://aks.example", CA: []byte("CA"), Token: a.World.Workload.Tokens.Last()},
	})
	if pl.afresh && err == nil && is.State == "Failed" && !pl.ready {
		_, err := a.Cloud.AKS.DeleteCluster(simazure.SubscriptionID, simazure.ResourceGroup, world.ClusterName)
		a.World.Must(err, "delete the managed cluster that could not be created")
	}
	return is.Version, err == nil && is.State == "Succeeded" && is.Version == pl.Version() && a.outOfBand.createForeign()
}

// managedClusterBody returns the body of the request that creates or upgrades the managed cluster.
func (pl *plane) managedClusterBody(goal int) document.Object {
	a := pl.pool
	pools := []any{document.Object{"name": systemPool, "mode": "System", "count": float64(1), "vmSize": simazure.VMSize,
		"type": "VirtualMachineScaleSets"}}
	if own(a.World.Scenario).System {
		profile := document.Object{
			"name": world.InfraKey.Name, "mode": "System", "count": float64(max(1, a.World.Scenario.Replicas)), "vmSize": simazure.VMSize,
			"type":       "VirtualMachineScaleSets",
			"nodeLabels": document.Object{"tier": "a"},
		}
		if a.World.Scenario.External {
			profile["enableAutoScaling"], profile["minCount"], profile["maxCount"] = true, float64(max(1, a.World.Scenario.Least)),
				float64(a.World.Scenario.Most)
		}
		if !own(a.World.Scenario).Manifest {
			profile["vnetSubnetID"] = azure.InNetwork("virtualNetworks/" + world.ClusterName + "/subnets/" + world.ClusterName)
		}
		pools = append(pools, profile)
	}
	cluster := document.Object{
		"location": simazure.Location, "identity": document.Object{"type": "SystemAssigned"},
		"properties": document.Object{"kubernetesVersion": world.Minor(goal) + patch, "dnsPrefix": world.ClusterName, "agentPoolProfiles": pools},
	}
	if own(a.World.Scenario).System && !own(a.World.Scenario).Manifest { // the existing provider tags what it creates
		cluster["tags"] = document.Object{"sigs.k8s.io_cluster-api-provider-azure_cluster_" + world.ClusterName: "owned"}
	}
	return cluster
}
