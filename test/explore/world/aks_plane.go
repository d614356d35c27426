package world

import (
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

// planeAgain is how often the provider of the control plane looks at AKS while the managed cluster is not as it should be.
const planeAgain = 5 * time.Second

// provide does for the control plane what its own provider does: it creates the managed cluster with its System pools, brings it to the
// wanted version, and says when it is ready.
func (w *World) provide() {
	goal := w.minor // AKS takes one minor version at a time
	if c := w.account.managedCluster(); c != nil {
		goal = min(goal, minorOf(c.Version)+1)
	}
	is, err := w.account.azure.AKS.PutCluster(containerservice.Wanted{
		SubscriptionID: simazure.SubscriptionID, Group: simazure.ResourceGroup, Name: clusterName, Body: w.managedClusterBody(goal),
		Access: containerservice.Access{Endpoint: "https://aks.example", CA: []byte("CA"), Token: w.workload.last()},
	})
	version := minor(w.minor) + aksPatch
	if err != nil || is.State != "Succeeded" || is.Version != version || !w.foreignFirst() {
		w.at(time.Now().Add(planeAgain), w.provide)
		return
	}
	plane := w.aksPlane()
	w.must(w.user.Get(w.t.Context(), clusterKey, plane), "read the control plane")
	w.must(unstructured.SetNestedMap(plane.Object, map[string]any{"ready": true, "version": "v" + version}, "status"), "set the status")
	w.must(w.user.Update(w.t.Context(), plane), "tell that the control plane is ready")
}

// minorOf returns the minor number of a version.
func minorOf(version string) int {
	n, _ := strconv.Atoi(strings.Split(version+"..", ".")[1])
	return n
}

// managedClusterBody is what AKS is asked for.
func (w *World) managedClusterBody(goal int) arm.Document {
	pools := []any{arm.Document{"name": systemPool, "mode": "System", "count": float64(1), "vmSize": simazure.VMSize, "type": "VirtualMachineScaleSets"}}
	if w.scenario.System {
		profile := arm.Document{
			"name": infraKey.Name, "mode": "System", "count": float64(max(1, w.scenario.Replicas)), "vmSize": simazure.VMSize, "type": "VirtualMachineScaleSets",
			"nodeLabels": arm.Document{"tier": "a"},
		}
		if w.scenario.External {
			profile["enableAutoScaling"], profile["minCount"], profile["maxCount"] = true, float64(max(1, w.scenario.Least)), float64(w.scenario.Most)
		}
		if !w.scenario.manifest() {
			profile["vnetSubnetID"] = inNetwork("virtualNetworks/" + clusterName + "/subnets/" + clusterName)
		}
		pools = append(pools, profile)
	}
	return arm.Document{
		"location": simazure.Location, "identity": arm.Document{"type": "SystemAssigned"},
		"properties": arm.Document{"kubernetesVersion": minor(goal) + aksPatch, "dnsPrefix": clusterName, "agentPoolProfiles": pools},
	}
}

// manifest reports whether the pool is a manifest of Azure Service Operator.
func (s Scenario) manifest() bool { return s.AgentPool == kindASO }

// upgradeAKS has the control plane brought to the next minor version, and the pool after it, or the pool alone to that of its control plane.
func (w *World) upgradeAKS(e Event) {
	if w.minor < lastMinor && e.N%3 > 0 {
		w.minor++
		is := w.aksPlane()
		w.must(w.user.Get(w.t.Context(), clusterKey, is), "read the control plane")
		is.Object["spec"] = w.aksPlane().Object["spec"]
		w.must(w.user.Update(w.t.Context(), is), "upgrade the control plane")
		w.provide()
	}
	if e.M%3 > 0 {
		w.editPool(func(mp *clusterv1.MachinePool) { mp.Spec.Template.Spec.Version = "v" + minor(w.minor) + aksPatch })
	}
}
