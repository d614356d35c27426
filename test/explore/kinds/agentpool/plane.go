package agentpool

import (
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/world"
)

// planeAgain is how often the provider of the control plane looks at AKS while the managed cluster is not as it should be.
const planeAgain = 5 * time.Second

// plane is the control plane of the pool, and what its own provider does for it.
type plane struct {
	pool *pool
	// minor is its Kubernetes version.
	minor int
	// ready is true once it has been ready.
	ready bool
	// afresh is true once a managed cluster is made anew that could not be created.
	afresh bool
	// born is the version that the managed cluster was created with, and its System pools.
	born string
}

// provide does for the control plane what its own provider does: it creates the managed cluster with its System pools, brings it to the
// wanted version, and says when it is ready.
func (pl *plane) provide() {
	a := pl.pool
	goal := pl.minor // AKS takes one minor version at a time
	if c := a.managedCluster(); c != nil {
		goal = min(goal, minorOf(c.Version)+1)
	} else {
		pl.born = world.Minor(goal) + patch
	}
	is, err := a.Cloud.AKS.PutCluster(containerservice.Wanted{
		SubscriptionID: simazure.SubscriptionID, Group: simazure.ResourceGroup, Name: world.ClusterName, Body: pl.managedClusterBody(goal),
		Access: containerservice.Access{Endpoint: "https://aks.example", CA: []byte("CA"), Token: a.World.Workload.Tokens.Last()},
	})
	if pl.afresh && err == nil && is.State == "Failed" && !pl.ready {
		_, err := a.Cloud.AKS.DeleteCluster(simazure.SubscriptionID, simazure.ResourceGroup, world.ClusterName)
		a.World.Must(err, "delete the managed cluster that could not be created")
	}
	version := world.Minor(pl.minor) + patch
	if err != nil || is.State != "Succeeded" || is.Version != version || !a.hands.foreignFirst() {
		a.World.At(time.Now().Add(planeAgain), pl.provide)
		return
	}
	plane := pl.object()
	a.World.Must(a.World.Objects.User.Get(a.World.Context(), world.ClusterKey, plane), "read the control plane")
	a.World.Must(unstructured.SetNestedMap(plane.Object, map[string]any{"ready": true, "version": "v" + version}, "status"), "set the status")
	a.World.Must(a.World.Objects.User.Update(a.World.Context(), plane), "tell that the control plane is ready")
}

// minorOf returns the minor number of a version.
func minorOf(version string) int {
	n, _ := strconv.Atoi(strings.Split(version+"..", ".")[1])
	return n
}

// managedClusterBody is what AKS is asked for.
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
	return document.Object{
		"location": simazure.Location, "identity": document.Object{"type": "SystemAssigned"},
		"properties": document.Object{"kubernetesVersion": world.Minor(goal) + patch, "dnsPrefix": world.ClusterName, "agentPoolProfiles": pools},
	}
}

// upgrade has the control plane brought to the next minor version, and the pool after it, or the pool alone to that of its control plane.
func (pl *plane) upgrade(e world.Event) {
	a := pl.pool
	if pl.minor < world.LastMinor && e.N%3 > 0 {
		pl.minor++
		is := pl.object()
		a.World.Must(a.World.Objects.User.Get(a.World.Context(), world.ClusterKey, is), "read the control plane")
		is.Object["spec"] = pl.object().Object["spec"]
		a.World.Must(a.World.Objects.User.Update(a.World.Context(), is), "upgrade the control plane")
		pl.provide()
	}
	if e.M%3 > 0 {
		a.World.Objects.EditPool(func(mp *clusterv1.MachinePool) { mp.Spec.Template.Spec.Version = "v" + world.Minor(pl.minor) + patch })
	}
}

// furnish has the control plane made once the object of a System pool is there.
func (pl *plane) furnish() { pl.pool.World.At(time.Now().Add(time.Second), pl.provide) }
