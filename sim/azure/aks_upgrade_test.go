package azure_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	aks "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

// TestAbortedUpgradeIsResumed holds that the request of an upgrade that was aborted resumes it, also after another operation, and that a
// request which changes something else does not.
func TestAbortedUpgradeIsResumed(t *testing.T) {
	t.Parallel()
	inCluster(t, func(w *aksClients) {
		at := func(version string, count int32) aks.AgentPool {
			return user(count, func(p *aks.ManagedClusterAgentPoolProfileProperties) {
				p.OrchestratorVersion = &version
				p.UpgradeSettings = &aks.AgentPoolUpgradeSettings{NodeSoakDurationInMinutes: to.Ptr[int32](30)}
			})
		}
		machines := func(behind bool) (n int) {
			for _, m := range w.held("user").Machines {
				if !m.Deleting && behind == (m.Version != "1.34.7") {
					n++
				}
			}
			return n
		}
		_, err := w.putPool("user", at("1.33.7", 3))
		w.must(err)
		_, err = w.pools.BeginCreateOrUpdate(t.Context(), azure.ResourceGroup, aksName, "user", at("1.34.7", 3), nil)
		w.must(err)
		time.Sleep(5 * time.Minute)
		w.must(w.cloud.AKS.AbortPool(aksName + "/user"))
		left := machines(true)
		if left == 0 || left == 3 {
			t.Fatalf("want the upgrade aborted in its midst, got %d machines of the earlier version", left)
		}
		w.must(w.cloud.AKS.TagPool(aksName+"/user", "theirs", "hand"))
		time.Sleep(time.Hour)
		check(t, "machines of the earlier version after another change", left, machines(true))
		_, err = w.putPool("user", at("1.34.7", 3))
		w.must(err)
		check(t, "machines of the earlier version after the same request", 0, machines(true))
		check(t, "machines of the wanted version", 3, machines(false))
	})
}

// TestFailedPoolHasNoPartInLaterOperations holds that a pool that failed fails no later operation on its cluster, and that the operation
// fails of which its failure is a part.
func TestFailedPoolHasNoPartInLaterOperations(t *testing.T) {
	t.Parallel()
	host := &joins{started: map[string]sim.Machine{}}
	inBubble(t, azure.Options{MachineHost: host}, func(w *inventory) {
		put := func(version string) (out containerservice.Inspected) {
			status, answer := w.owned(http.MethodPut, "aks/clusters", strings.Replace(wantedCluster, "1.34.2", version, 1))
			check(t, "status", http.StatusOK, status)
			w.must(json.Unmarshal([]byte(answer), &out))
			return out
		}
		fail := func() {
			w.must(w.cloud.AKS.FailPool("hand/system", "Z", "no room"))
			time.Sleep(time.Hour)
		}
		put("1.34.2")
		fail()
		check(t, "state of a cluster whose pool could not be created", "Failed", w.cloud.State().Clusters[0].State)
		check(t, "state while it is upgraded", "Upgrading", put("1.35.1").State)
		time.Sleep(time.Hour)
		check(t, "state after the upgrade", "Succeeded", put("1.35.1").State)
		status, answer := w.owned(http.MethodPost, "aks/clusters/hand/stop", "")
		check(t, "status of the stop: "+answer, http.StatusNoContent, status)
		fail()
		check(t, "state of a cluster whose pool could not be stopped", "Failed", w.cloud.State().Clusters[0].State)
	})
}

// TestFailedMachineIsDeleted holds that a machine that failed can be deleted by its name.
func TestFailedMachineIsDeleted(t *testing.T) {
	t.Parallel()
	inCluster(t, func(w *aksClients) {
		_, err := w.putPool("user", user(2, nil))
		w.must(err)
		m := w.held("user").Machines[0]
		w.must(w.cloud.Fail(m.UID, "OSProvisioningTimedOut", "played by the test"))
		w.must(w.cloud.AKS.DeleteMachine(aksName+"/user", m.Name))
		time.Sleep(time.Hour)
		p := w.held("user")
		if len(p.Machines) != 1 || p.Machines[0].Name == m.Name || p.Count != 1 || p.State != "Succeeded" {
			t.Errorf("want the failed machine deleted and the other one kept, got %+v", p)
		}
	})
}

// TestFailedMachineIsReimaged holds that an upgrade reimages a machine that failed to boot, which is as good as new then.
func TestFailedMachineIsReimaged(t *testing.T) {
	t.Parallel()
	inBubble(t, azure.Options{MachineHost: &joins{started: map[string]sim.Machine{}}}, func(w *inventory) {
		k := aksOf(w)
		k.make("1.34", 1)
		_, err := k.putPool("user", user(2, nil))
		w.must(err)
		failed := k.held("user").Machines[0]
		w.must(w.cloud.Fail(failed.UID, "OSProvisioningTimedOut", "played by the test"))
		image, err := k.pools.BeginUpgradeNodeImageVersion(t.Context(), azure.ResourceGroup, aksName, "user", nil)
		w.must(err)
		_, err = finish(w, image)
		w.must(err)
		if p := k.held("user"); len(p.Machines) != 2 || p.Machines[0].UID != failed.UID || !p.Machines[0].Ready || p.State != "Succeeded" {
			t.Errorf("want the failed machine reimaged and Ready, got %+v", p)
		}
	})
}
