package azure_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	aks "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

// owned sends a request of the simulator's owner, and returns the status and the body of the answer.
func (w *inventory) owned(method, path, body string) (status int, answer string) {
	w.Helper()
	r := httptest.NewRequestWithContext(w.Context(), method, sim.AdminPath+path, strings.NewReader(body))
	rec := httptest.NewRecorder()
	w.cloud.ServeHTTP(rec, r)
	return rec.Code, rec.Body.String()
}

const wantedCluster = `{"subscriptionId": "` + azure.SubscriptionID +
	`", "resourceGroup": "world", "name": "hand", "body": {"location": "westus2",
	"properties": {"kubernetesVersion": "1.34.2", "dnsPrefix": "hand",
		"agentPoolProfiles": [{"name": "system", "mode": "System", "count": 1, "vmSize": "Standard_D2s_v3"}]}},
	"access": {"endpoint": "https://127.0.0.1:6443", "token": "abcdef.0123456789abcdef"}}`

// TestClusterByHand holds that another provider's managed cluster is made without a request of the API, changed only where it differs, and
// deleted.
func TestClusterByHand(t *testing.T) {
	t.Parallel()
	host := &joins{started: map[string]sim.Machine{}}
	inBubble(t, azure.Options{MachineHost: host}, func(w *inventory) {
		put := func(body string, status int) (out containerservice.Inspected) {
			got, answer := w.owned(http.MethodPut, "aks/clusters", body)
			if got != status {
				t.Fatalf("want the status %d, got %d: %s", status, got, answer)
			}
			if status == http.StatusOK {
				w.must(json.Unmarshal([]byte(answer), &out))
			}
			return out
		}
		c := put(wantedCluster, http.StatusOK)
		check(t, "state", "Creating", c.State)
		check(t, "node group", "MC_world_hand_westus2", c.NodeGroup)
		time.Sleep(time.Hour)
		check(t, "state", "Succeeded", put(wantedCluster, http.StatusOK).State)
		if m := host.of("system"); len(m) != 1 || m[0].Managed.Server != "https://127.0.0.1:6443" || m[0].Managed.Operator != "aks" {
			t.Fatalf("want one machine that knows its cluster, got %+v", m)
		}
		newer := strings.Replace(wantedCluster, "1.34.2", "1.35.1", 1)
		check(t, "state", "Upgrading", put(newer, http.StatusOK).State)
		check(t, "the same again", "Upgrading", put(newer, http.StatusOK).State)
		put(wantedCluster, http.StatusConflict)
		time.Sleep(time.Hour)
		check(t, "version", "1.35.1", put(newer, http.StatusOK).Version)
		put(wantedCluster, http.StatusBadRequest) // no control plane goes back

		id := "aks/clusters/" + azure.SubscriptionID + "/world/hand"
		status, _ := w.owned(http.MethodDelete, id, "")
		check(t, "status of the deletion", http.StatusAccepted, status)
		time.Sleep(time.Hour)
		status, _ = w.owned(http.MethodDelete, id, "")
		check(t, "status once it is gone", http.StatusNoContent, status)
		check(t, "requests of the API", 0, w.cloud.Calls().Count("containerservice", "ManagedClusters_CreateOrUpdate"))
	})
}

// TestPoolByHand holds that the actions of docs/simulators.md reach a pool, and that others are unknown.
func TestPoolByHand(t *testing.T) {
	t.Parallel()
	inCluster(t, func(w *aksClients) {
		_, err := w.putPool("user", user(1, nil))
		w.must(err)
		for _, row := range []struct {
			path, body, state string
			status            int
		}{
			{"pools/managed/user/scale", `{"count": 2}`, "Scaling", 204},
			{"pools/managed/user/stop", "", "Scaling", 409},
			{"pools/managed/user/abort", "", "Canceled", 204},
			{"pools/managed/user/upgrade-node-image", "", "UpgradingNodeImageVersion", 204},
			{"pools/managed/user/fail", `{"code": "Z", "message": "no room"}`, "Failed", 204},
			{"pools/managed/user/stop", "", "Stopping", 204},
			{"pools/managed/user/explode", "", "Stopping", 404},
			{"clusters/managed/stop", "", "Stopping", 409},
		} {
			status, answer := w.owned(http.MethodPost, "aks/"+row.path, row.body)
			if status != row.status || w.held("user").State != row.state {
				t.Errorf("%s: want %d and the state %s, got %d %s and %s", row.path, row.status, row.state, status, answer, w.held("user").State)
			}
		}
		status, _ := w.owned(http.MethodPut, "aks/image", `{"release": "202610.01.0"}`)
		check(t, "release of an image", http.StatusNoContent, status)
	})
}

// cordons is a machine host that notes which nodes are closed. A machine that is off has none.
type cordons struct {
	joins
	on, closed map[string]bool
}

func (j *cordons) PowerOn(m sim.Machine) { j.joins.PowerOn(m); j.on[m.ID] = true }
func (j *cordons) PowerOff(id string)    { delete(j.on, id) }
func (j *cordons) Ready(id string) bool  { return j.on[id] }
func (j *cordons) Cordon(id string, off bool) {
	j.closed[id] = off && j.on[id] || j.closed[id] && !j.on[id]
}

// TestAKSDeletesNodes holds that an upgrade deletes the Node of each machine that it reimages, and the deletion of a pool those of all of
// its machines. A resize leaves them to the cloud controller manager, which waits until they are not Ready.
func TestAKSDeletesNodes(t *testing.T) {
	t.Parallel()
	host := &joins{started: map[string]sim.Machine{}}
	inBubble(t, azure.Options{MachineHost: host}, func(w *inventory) {
		k := aksOf(w)
		k.make("1.34", 1)
		_, err := k.putPool("user", user(2, nil))
		w.must(err)
		_, err = k.putPool("user", user(1, nil))
		w.must(err)
		check(t, "nodes that a resize deletes", "", strings.Join(host.unregistered, " "))
		replaced := k.held("user").Machines[0].UID
		w.must(w.cloud.AKS.ReleaseImage("202610.01.0"))
		image, err := k.pools.BeginUpgradeNodeImageVersion(t.Context(), azure.ResourceGroup, aksName, "user", nil)
		w.must(err)
		_, err = finish(w, image)
		w.must(err)
		check(t, "nodes that an upgrade deletes", replaced, strings.Join(host.unregistered, " "))
		host.unregistered = nil
		drop, err := k.pools.BeginDelete(t.Context(), azure.ResourceGroup, aksName, "user", nil)
		w.must(err)
		_, err = finish(w, drop)
		w.must(err)
		check(t, "nodes deleted with the pool", replaced, strings.Join(host.unregistered, " "))
	})
}

// TestAKSReimages holds that an upgrade of the version or the node image reimages the machines of a scale set one after the other, which
// keep their IDs and their names, and that what was surged for it is drained and deleted at the end.
func TestAKSReimages(t *testing.T) {
	t.Parallel()
	host := &cordons{joins: joins{started: map[string]sim.Machine{}}, on: map[string]bool{}, closed: map[string]bool{}}
	inBubble(t, azure.Options{MachineHost: host}, func(w *inventory) {
		k := aksOf(w)
		k.make("1.34", 1)
		_, err := k.putPool("user", user(2, func(p *aks.ManagedClusterAgentPoolProfileProperties) { p.OrchestratorVersion = to.Ptr("1.33") }))
		w.must(err)
		uids := func() (out []string) {
			for _, m := range k.held("user").Machines {
				if !m.Deleting {
					out = append(out, m.UID+" "+m.Name)
				}
			}
			return out
		}
		before := uids()
		_, err = k.putPool("user", user(2, func(p *aks.ManagedClusterAgentPoolProfileProperties) { p.OrchestratorVersion = to.Ptr("1.34") }))
		w.must(err)
		check(t, "machines after an upgrade of the version", strings.Join(before, ", "), strings.Join(uids(), ", "))
		check(t, "its machines' version", "1.34", k.held("user").Machines[1].Version[:4])
		surged := slices.DeleteFunc(slices.Collect(maps.Keys(host.closed)), func(id string) bool { return host.on[id] })
		check(t, "machines that were surged, drained and deleted", 1, len(surged))
		w.must(w.cloud.AKS.ReleaseImage("202610.01.0"))
		image, err := k.pools.BeginUpgradeNodeImageVersion(t.Context(), azure.ResourceGroup, aksName, "user", nil)
		w.must(err)
		_, err = finish(w, image)
		w.must(err)
		check(t, "machines after an upgrade of the node image", strings.Join(before, ", "), strings.Join(uids(), ", "))
		check(t, "its machines' node image", true, strings.HasSuffix(k.held("user").Machines[0].Image, "202610.01.0"))
	})
}

// TestUpgradeBringsMissingMachines holds that an upgrade of a pool that has fewer machines than its count, because a scale-out failed,
// makes those that are missing: without a surge it could close none of the others.
func TestUpgradeBringsMissingMachines(t *testing.T) {
	t.Parallel()
	inCluster(t, func(w *aksClients) {
		put := func(count int) {
			body := fmt.Sprintf(`{"properties": {"mode": "User", "vmSize": "Standard_D2s_v3", "count": %d, "upgradeSettings": {"maxSurge": "0", "maxUnavailable": "1"}}}`, count)
			if status, answer := w.asked(http.MethodPut, "few", "2025-08-01", body); status > http.StatusCreated {
				t.Fatalf("want %d machines asked for, got %d: %v", count, status, answer)
			}
			time.Sleep(time.Hour)
		}
		put(2)
		w.must(w.cloud.Faults().Add(sim.Fault{Kind: sim.NoCapacity}))
		put(5)
		w.cloud.Faults().Clear()
		check(t, "machines after the scale-out", 2, len(w.held("few").Machines))
		w.must(w.cloud.AKS.ReleaseImage("202610.01.0"))
		w.must(w.cloud.AKS.UpgradeNodeImage(aksName + "/few"))
		time.Sleep(3 * time.Hour)
		check(t, "machines after the upgrade", 5, len(w.held("few").Machines))
		check(t, "state after the upgrade", "Succeeded", w.held("few").State)
	})
}

// TestUpgradeSurgesBesideDeallocatedMachines holds that machines which a pool keeps deallocated are no surge.
func TestUpgradeSurgesBesideDeallocatedMachines(t *testing.T) {
	t.Parallel()
	inBubble(t, azure.Options{MachineHost: &joins{started: map[string]sim.Machine{}}}, func(w *inventory) {
		k := aksOf(w)
		k.make("1.34", 1)
		kept := func(p *aks.ManagedClusterAgentPoolProfileProperties) {
			p.ScaleDownMode = to.Ptr(aks.ScaleDownModeDeallocate)
		}
		for _, count := range []int32{2, 1} {
			_, err := k.putPool("user", user(count, kept))
			w.must(err)
		}
		w.must(w.cloud.AKS.ReleaseImage("202610.01.0"))
		image, err := k.pools.BeginUpgradeNodeImageVersion(t.Context(), azure.ResourceGroup, aksName, "user", nil)
		w.must(err)
		_, err = finish(w, image)
		w.must(err)
		for _, m := range k.held("user").Machines {
			if !m.Deallocated && !m.Deleting && !strings.HasSuffix(m.Image, "202610.01.0") {
				t.Errorf("want machines of the newest node image, got %+v", m)
			}
		}
	})
}

// TestFailedClusterIsPutAgain holds that the same request carries out once more what failed: the cluster, and its pools.
func TestFailedClusterIsPutAgain(t *testing.T) {
	t.Parallel()
	host := &joins{started: map[string]sim.Machine{}, silent: true}
	inBubble(t, azure.Options{MachineHost: host}, func(w *inventory) {
		profile := map[string]any{"name": "system", "mode": "System", "count": 1.0, "vmSize": azure.VMSize}
		wanted := containerservice.DesiredCluster{SubscriptionID: azure.SubscriptionID, Group: azure.ResourceGroup, Name: aksName,
			Body: map[string]any{
				"location": azure.Location, "properties": map[string]any{"kubernetesVersion": "1.34", "agentPoolProfiles": []any{profile}}}}
		state := func() string {
			_, err := w.cloud.AKS.PutCluster(wanted)
			w.must(err)
			time.Sleep(time.Hour)
			is := w.cloud.State().Clusters[0]
			return is.State + ", its pool " + is.Pools[0].State
		}
		check(t, "while no node becomes Ready", "Failed, its pool Failed", state())
		host.silent = false
		check(t, "once they do", "Succeeded, its pool Succeeded", state())
	})
}

// TestWokenMachineTakesPods holds that a machine which was drained and deallocated comes back open to pods. Its node can't be opened while
// the machine is off.
func TestWokenMachineTakesPods(t *testing.T) {
	t.Parallel()
	host := &cordons{joins{started: map[string]sim.Machine{}}, map[string]bool{}, map[string]bool{}}
	inBubble(t, azure.Options{MachineHost: host}, func(w *inventory) {
		k := aksOf(w)
		k.make("1.34", 1)
		sleeps := func(p *aks.ManagedClusterAgentPoolProfileProperties) {
			p.ScaleDownMode = to.Ptr(aks.ScaleDownModeDeallocate)
		}
		for _, count := range []int32{2, 1, 2} {
			_, err := k.putPool("user", user(count, sleeps))
			w.must(err)
		}
		machines := k.held("user").Machines
		check(t, "machines", 2, len(machines))
		for _, m := range machines {
			if host.closed[m.UID] || !host.on[m.UID] {
				t.Errorf("want a node that takes pods, got %+v, closed %v", m, host.closed[m.UID])
			}
		}
	})
}

// TestScaleDownModeDeletesDeallocatedMachines holds that a pool whose scale-down mode becomes Delete loses the machines that it kept
// deallocated, and no other.
func TestScaleDownModeDeletesDeallocatedMachines(t *testing.T) {
	t.Parallel()
	inBubble(t, azure.Options{MachineHost: &joins{started: map[string]sim.Machine{}}}, func(w *inventory) {
		k := aksOf(w)
		k.make("1.34", 1)
		mode := aks.ScaleDownModeDeallocate
		for _, count := range []int32{3, 1} {
			_, err := k.putPool("user", user(count, func(p *aks.ManagedClusterAgentPoolProfileProperties) { p.ScaleDownMode = &mode }))
			w.must(err)
		}
		check(t, "machines before", 3, len(k.held("user").Machines))
		mode = aks.ScaleDownModeDelete
		_, err := k.putPool("user", user(1, func(p *aks.ManagedClusterAgentPoolProfileProperties) { p.ScaleDownMode = &mode }))
		w.must(err)
		time.Sleep(time.Hour)
		machines := k.held("user").Machines
		if len(machines) != 1 || machines[0].Deallocated {
			t.Errorf("want the machine that is not deallocated alone, got %+v", machines)
		}
	})
}
