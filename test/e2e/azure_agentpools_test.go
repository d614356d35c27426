package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/muster-project/muster/test/e2e/world"
	"github.com/muster-project/muster/test/testrun"
)

const (
	// aksCluster is the managed cluster of the built-in agent pools with fields, and aksPool the User pool of it.
	aksCluster, aksPool = "aks", "aks-pool1"
	asoPool             = "aks-aso-pool0"
	// aksReplicas is the number of machines of each pool.
	aksReplicas = 2
)

// agentPools maps the built-in pools to their kind.
var agentPools = map[string]string{aksPool: "azuremanagedmachinepool", "aks-pool0": "azuremanagedmachinepool",
	asoPool: "azureasomanagedmachinepool"}

// TestLongLifeOfAgentPools goes through the life of agent pools of AKS beneath a Deployment with a budget: those that were created with the
// managed cluster are adopted, Muster drains what it removes, AKS replaces what has another size, and the last System pool does not keep
// its cluster.
func TestLongLifeOfAgentPools(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	w := world.Start(t, t.TempDir(), "--clouds", "azure", "--pools", "aks-pool0,"+aksPool+","+asoPool, "--speed", "20")
	for pool := range agentPools {
		agentPoolAtRest(w, pool, aksReplicas)
	}
	if adopted := w.Kubectl("get", "events", "--field-selector", "reason=GroupAdopted", "-o", "name"); strings.Count(adopted,
		"event") != len(agentPools) {
		t.Errorf("want all pools adopted that were created with their clusters, got %s", adopted)
	}
	w.Web(aksCluster, 2*aksReplicas)
	saw := w.Watch(aksCluster)

	saw.Begin()
	w.Kubectl("scale", "machinepool/"+aksPool, "--replicas=1")
	agentPoolAtRest(w, aksPool, 1)
	if _, gone, _, err := saw.Saw(); err != nil || len(gone) != 1 {
		t.Errorf("want one machine removed, drained by Muster, got %v, %v", gone, err)
	}

	saw.ByCloud()
	saw.Begin()
	w.Admin(http.MethodPut, "aks/feature", `{"name":"AgentPoolVMSSResize"}`, nil)
	w.Kubectl("patch", "azuremanagedmachinepool/"+aksPool, "--type=merge", "-p", `{"spec":{"sku":"Standard_D4s_v3"}}`)
	w.Wait("azuremanagedmachinepool/"+aksPool, "{.status.template}", "aks:1.34.2/standard_d4s_v3")
	agentPoolAtRest(w, aksPool, 1)
	w.Eventually("the Node of the replaced machine to go", func() error {
		if _, gone, _, _ := saw.Saw(); len(gone) == 0 {
			return errors.New("want it deleted by AKS")
		}
		return nil
	})
	if lowest, gone, _, err := saw.Saw(); err != nil || len(gone) != 1 || lowest < aksReplicas+1 {
		t.Errorf("want one machine replaced by AKS, and never fewer than %d, got %v, %d at least, %v", aksReplicas+1, gone, lowest, err)
	}

	w.Kubectl("delete", "cluster/"+aksCluster, "--timeout", world.WaitLimit.String())
	if left := w.Kubectl("get", "machinepool,azuremanagedmachinepool,azuremanagedcontrolplane", "-o",
		"name"); strings.TrimSpace(left) != "machinepool.cluster.x-k8s.io/"+asoPool {
		t.Errorf("want nothing left of the cluster, got %s", left)
	}
}

// agentPoolAtRest waits until a pool has as many machines as it wants, all Ready and as specified, and nothing else to do.
func agentPoolAtRest(w *world.World, pool string, replicas int) {
	w.T.Helper()
	const path = `{.status.replicas} {.status.readyReplicas} {.status.upToDateReplicas} {.status.state} {.status.conditions[?(@.type=="UpToDate")].status}`
	w.Eventually(pool+" to be at rest", func() error {
		if got, want := w.Read(path, agentPools[pool]+"/"+pool), fmt.Sprintf("%[1]d %[1]d %[1]d Running True", replicas); got != want {
			return fmt.Errorf("want %s, got %s", want, got)
		}
		return nil
	})
}
