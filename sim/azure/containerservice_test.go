package azure_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	aks "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

const aksName = "managed"

// aksClients are clients of the SDK for Microsoft.ContainerService.
type aksClients struct {
	*inventory
	clusters *aks.ManagedClustersClient
	pools    *aks.AgentPoolsClient
	machines *aks.MachinesClient
}

func aksOf(w *inventory) *aksClients {
	o := &arm.ClientOptions{DisableRPRegistration: true, ClientOptions: policy.ClientOptions{
		Cloud: cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
			cloud.ResourceManager: {Endpoint: "http://arm.sim", Audience: "https://management.sim"}}},
		InsecureAllowCredentialWithHTTP: true, Transport: w, Retry: policy.RetryOptions{MaxRetries: -1},
	}}
	f, err := aks.NewClientFactory(azure.SubscriptionID, token("any"), o)
	w.must(err)
	return &aksClients{inventory: w, clusters: f.NewManagedClustersClient(), pools: f.NewAgentPoolsClient(), machines: f.NewMachinesClient()}
}

// make creates a cluster of one System pool with so many nodes.
func (w *aksClients) make(version string, count int32) aks.ManagedCluster {
	w.Helper()
	p, err := w.clusters.BeginCreateOrUpdate(w.Context(), azure.ResourceGroup, aksName, aks.ManagedCluster{
		Location: to.Ptr(azure.Location), Identity: &aks.ManagedClusterIdentity{Type: to.Ptr(aks.ResourceIdentityTypeSystemAssigned)},
		Properties: &aks.ManagedClusterProperties{
			KubernetesVersion: &version, DNSPrefix: to.Ptr("managed"),
			AgentPoolProfiles: []*aks.ManagedClusterAgentPoolProfile{{
				Name: to.Ptr("system"), Count: &count, VMSize: to.Ptr(azure.VMSize), Mode: to.Ptr(aks.AgentPoolModeSystem),
			}},
		},
	}, nil)
	w.must(err)
	done, err := finish(w.inventory, p)
	w.must(err)
	return done.ManagedCluster
}

// user is a pool of mode User.
func user(count int32, change func(*aks.ManagedClusterAgentPoolProfileProperties)) aks.AgentPool {
	p := &aks.ManagedClusterAgentPoolProfileProperties{Count: &count, VMSize: to.Ptr(azure.VMSize), Mode: to.Ptr(aks.AgentPoolModeUser)}
	if change != nil {
		change(p)
	}
	return aks.AgentPool{Properties: p}
}

func (w *aksClients) putPool(name string, body aks.AgentPool) (aks.AgentPool, error) {
	w.Helper()
	p, err := w.pools.BeginCreateOrUpdate(w.Context(), azure.ResourceGroup, aksName, name, body, nil)
	if err != nil {
		return aks.AgentPool{}, err
	}
	done, err := finish(w.inventory, p)
	return done.AgentPool, err
}

func (w *aksClients) getPool(name string) aks.AgentPool {
	w.Helper()
	r, err := w.pools.Get(w.Context(), azure.ResourceGroup, aksName, name, nil)
	w.must(err)
	return r.AgentPool
}

// held returns the simulator's state of a pool.
func (w *aksClients) held(name string) containerservice.InspectedPool {
	w.Helper()
	for _, c := range w.cloud.State().Clusters {
		for _, p := range c.Pools {
			if p.Name == name {
				return p
			}
		}
	}
	w.Fatalf("want a pool %s, got %+v", name, w.cloud.State().Clusters)
	return containerservice.InspectedPool{}
}

func inCluster(t *testing.T, f func(*aksClients)) {
	t.Helper()
	inBubble(t, azure.Options{}, func(w *inventory) {
		k := aksOf(w)
		k.make("1.34", 1)
		f(k)
	})
}

func TestClusterIsBornWithItsSystemPool(t *testing.T) {
	t.Parallel()
	inBubble(t, azure.Options{}, func(w *inventory) {
		k := aksOf(w)
		c := k.make("1.34", 2)
		check(t, "state", "Succeeded", *c.Properties.ProvisioningState)
		check(t, "current version", "1.34.7", *c.Properties.CurrentKubernetesVersion)
		check(t, "node group", "MC_capz_managed_westus2", *c.Properties.NodeResourceGroup)
		check(t, "pools", 1, len(c.Properties.AgentPoolProfiles))
		p := k.getPool("system")
		check(t, "mode", aks.AgentPoolModeSystem, *p.Properties.Mode)
		check(t, "image", "AKSUbuntu-2204gen2containerd-202609.03.0", *p.Properties.NodeImageVersion)
		held := k.held("system")
		check(t, "machines", 2, len(held.Machines))
		r, err := w.sets.Get(t.Context(), "MC_capz_managed_westus2", held.ScaleSet, nil)
		w.must(err)
		check(t, "capacity of the scale set", 2, int(*r.SKU.Capacity))
		check(t, "the scale set's tag", "system", *r.Tags["aks-managed-poolName"])
	})
}

func TestPoolRefusals(t *testing.T) {
	t.Parallel()
	inCluster(t, func(w *aksClients) {
		_, err := w.putPool("user", user(1, nil))
		w.must(err)
		type props = aks.ManagedClusterAgentPoolProfileProperties
		for _, row := range []struct {
			why, pool string
			change    func(*props)
			status    int
			code      string
		}{
			{"names of Linux pools have at most 12 characters", "morethantwelve", nil, 400, "InvalidParameter"},
			{"a pool is not newer than its control plane", "newer", func(p *props) { p.OrchestratorVersion = to.Ptr("1.35") }, 400,
				"NodePoolMcVersionIncompatible"},
			{"AKS offers a few versions", "older", func(p *props) { p.OrchestratorVersion = to.Ptr("1.12") }, 400, "K8sVersionNotSupported"},
			{"the disk can't be changed", "user", func(p *props) { p.OSDiskSizeGB = to.Ptr[int32](64) }, 400, "PropertyChangeNotAllowed"},
			{"the size can't be changed in old versions", "user", func(p *props) { p.VMSize = to.Ptr("Standard_D4s_v3") }, 400,
				"PropertyChangeNotAllowed"},
			{"a zone is one of the location's", "apart", func(p *props) { p.AvailabilityZones = []*string{to.Ptr("1"), to.Ptr("4")} }, 400,
				"AvailabilityZoneNotSupported"},
			{"a disk has at most 2 TB", "huge", func(p *props) { p.OSDiskSizeGB = to.Ptr[int32](2049) }, 400, "InvalidParameter"},
			{"a disk has a size", "tiny", func(p *props) { p.OSDiskSizeGB = to.Ptr[int32](-1) }, 400, "InvalidParameter"},
			{"bounds need the autoscaler", "user", func(p *props) { p.MinCount = to.Ptr[int32](1) }, 400, "InvalidParameter"},
			{"labels of AKS are its own", "user", func(p *props) { p.NodeLabels = map[string]*string{"kubernetes.azure.com/x": to.Ptr("y")} }, 400,
				"InvalidParameter"},
			{"the last System pool stays one", "system", nil, 400, "InvalidParameter"},
			{"neither surge nor missing leaves no " +
				"way", "user", func(p *props) { p.UpgradeSettings = &aks.AgentPoolUpgradeSettings{MaxSurge: to.Ptr("0")} }, 400, "InvalidParameter"},
		} {
			_, err := w.putPool(row.pool, user(1, row.change))
			if err == nil {
				t.Errorf("%s: want an error", row.why)
				continue
			}
			w.refused(err, row.status, row.code, "")
		}
		_, err = w.pools.BeginDelete(t.Context(), azure.ResourceGroup, aksName, "system", nil)
		w.refused(err, 400, "OperationNotAllowed", "There has to be at least one system agent pool.")
	})
}

func TestPoolHasOneOperationAtATime(t *testing.T) {
	t.Parallel()
	inCluster(t, func(w *aksClients) {
		_, err := w.pools.BeginCreateOrUpdate(t.Context(), azure.ResourceGroup, aksName, "user", user(1, nil), nil)
		w.must(err)
		_, err = w.pools.BeginCreateOrUpdate(t.Context(), azure.ResourceGroup, aksName, "user", user(2, nil), nil)
		w.refused(err, 409, "OperationNotAllowed", "Another agentpool operation (user - Creating) is in progress")
		_, err = w.clusters.BeginUpdateTags(t.Context(), azure.ResourceGroup, aksName, aks.TagsObject{}, nil)
		w.refused(err, 409, "OperationNotAllowed", "Another agentpool operation (user - Creating) is in progress")
		_, err = w.putPool("other", user(1, nil)) // another pool does not wait
		w.must(err)
	})
}

// TestPoolUpgrade holds that an upgrade never has fewer ready nodes than the count, adds no more than the surge, and replaces all.
func TestPoolUpgrade(t *testing.T) {
	t.Parallel()
	inCluster(t, func(w *aksClients) {
		_, err := w.putPool("user", user(4, func(p *aks.ManagedClusterAgentPoolProfileProperties) {
			p.OrchestratorVersion = to.Ptr("1.33")
			p.UpgradeSettings = &aks.AgentPoolUpgradeSettings{MaxSurge: to.Ptr("50%"), NodeSoakDurationInMinutes: to.Ptr[int32](5)}
		}))
		w.must(err)
		p, err := w.pools.BeginCreateOrUpdate(t.Context(), azure.ResourceGroup, aksName, "user", user(4,
			func(p *aks.ManagedClusterAgentPoolProfileProperties) {
				p.OrchestratorVersion = to.Ptr("1.34")
			}), nil)
		w.must(err)
		check(t, "state", "Upgrading", *w.getPool("user").Properties.ProvisioningState)
		most := 0
		for held := w.held("user"); held.Busy; held = w.held("user") {
			ready, there := 0, 0
			for _, m := range held.Machines {
				if m.Ready {
					ready++
				}
				if !m.Deleting {
					there++
				}
			}
			most = max(most, there)
			if ready < 4 {
				t.Fatalf("want at least 4 ready nodes, got %d: %+v", ready, held.Machines)
			}
			time.Sleep(20 * time.Millisecond)
		}
		check(t, "most nodes", 6, most)
		done, err := finish(w.inventory, p)
		w.must(err)
		check(t, "version", "1.34.7", *done.Properties.CurrentOrchestratorVersion)
		for _, m := range w.held("user").Machines {
			if m.Version != "1.34.7" && !m.Deleting {
				t.Errorf("want all nodes of 1.34.7, got %+v", m)
			}
		}
	})
}

func TestNodeImageReleaseScaleAbortStopDelete(t *testing.T) {
	t.Parallel()
	inCluster(t, func(w *aksClients) {
		_, err := w.putPool("user", user(2, nil))
		w.must(err)
		w.must(w.cloud.AKS.ReleaseImage("202610.01.0"))
		profile, err := w.pools.GetUpgradeProfile(t.Context(), azure.ResourceGroup, aksName, "user", nil)
		w.must(err)
		check(t, "latest image", "AKSUbuntu-2204gen2containerd-202610.01.0", *profile.Properties.LatestNodeImageVersion)
		image, err := w.pools.BeginUpgradeNodeImageVersion(t.Context(), azure.ResourceGroup, aksName, "user", nil)
		w.must(err)
		_, err = finish(w.inventory, image)
		w.must(err)
		check(t, "image", "AKSUbuntu-2204gen2containerd-202610.01.0", w.held("user").Machines[0].Image)

		// A machine is deleted by its name, and the count falls.
		name := w.held("user").Machines[0].Name
		gone, err := w.pools.BeginDeleteMachines(t.Context(), azure.ResourceGroup, aksName, "user",
			aks.AgentPoolDeleteMachinesParameter{MachineNames: []*string{&name}}, nil)
		w.must(err)
		_, err = finish(w.inventory, gone)
		w.must(err)
		check(t, "count", 1, int(*w.getPool("user").Properties.Count))

		// An operation that is aborted leaves the pool canceled and manageable.
		_, err = w.pools.BeginCreateOrUpdate(t.Context(), azure.ResourceGroup, aksName, "user", user(3, nil), nil)
		w.must(err)
		check(t, "state", "Scaling", *w.getPool("user").Properties.ProvisioningState)
		abort, err := w.pools.BeginAbortLatestOperation(t.Context(), azure.ResourceGroup, aksName, "user", nil)
		w.must(err)
		_, err = finish(w.inventory, abort)
		w.must(err)
		check(t, "state", "Canceled", *w.getPool("user").Properties.ProvisioningState)
		stopped, err := w.putPool("user", user(3, func(p *aks.ManagedClusterAgentPoolProfileProperties) {
			p.PowerState = &aks.PowerState{Code: to.Ptr(aks.CodeStopped)}
		}))
		w.must(err)
		check(t, "power", aks.CodeStopped, *stopped.Properties.PowerState.Code)
		check(t, "count of a stopped pool", 0, int(*stopped.Properties.Count))
		started, err := w.putPool("user", user(0, func(p *aks.ManagedClusterAgentPoolProfileProperties) {
			p.PowerState = &aks.PowerState{Code: to.Ptr(aks.CodeRunning)}
		}))
		w.must(err)
		check(t, "count of a pool that was started with count 0", 3, int(*started.Properties.Count))

		drop, err := w.pools.BeginDelete(t.Context(), azure.ResourceGroup, aksName, "user", nil)
		w.must(err)
		_, err = finish(w.inventory, drop)
		w.must(err)
		_, err = w.pools.Get(t.Context(), azure.ResourceGroup, aksName, "user", nil)
		w.refused(err, 404, "NotFound", "Could not find the agentpool")
		w.refused(err, 404, "NotFound", `"subcode": "GetAgentPool_NotFound"`)
		all, err := w.clusters.BeginDelete(t.Context(), azure.ResourceGroup, aksName, nil)
		w.must(err)
		_, err = finish(w.inventory, all)
		w.must(err)
		check(t, "clusters", 0, len(w.cloud.State().Clusters))
		check(t, "scale sets", 0, len(w.cloud.State().Sets))
	})
}

// joins is a machine host that notes the machines, of which some never get ready or never drain.
type joins struct {
	started map[string]sim.Machine
	deaf    bool // nothing drains
	silent  bool // no node is Ready
	// unregistered are the machines whose Nodes were deleted.
	unregistered []string
}

func (j *joins) PowerOn(m sim.Machine) { j.started[m.ID] = m }
func (j *joins) PowerOff(string)       {}
func (j *joins) Console(string) []byte { return nil }
func (j *joins) Ready(id string) bool {
	return !j.silent && j.started[id].ID != "" && !strings.HasPrefix(j.started[id].Hostname, "aks-bad")
}
func (j *joins) Cordon(string, bool)     {}
func (j *joins) Drain(string, bool) bool { return !j.deaf }
func (j *joins) Mark(string, sim.Marks)  {}
func (j *joins) Unregister(id string) {
	if !slices.Contains(j.unregistered, id) {
		j.unregistered = append(j.unregistered, id)
	}
}
func (j *joins) of(group string) (out []sim.Machine) {
	for _, m := range j.started {
		if m.Managed != nil && m.Managed.Group == group {
			out = append(out, m)
		}
	}
	return out
}

func TestMachinesJoinByThemselvesOrFail(t *testing.T) {
	t.Parallel()
	host := &joins{started: map[string]sim.Machine{}}
	inBubble(t, azure.Options{MachineHost: host}, func(w *inventory) {
		k := aksOf(w)
		k.make("1.34", 1)
		w.must(w.cloud.AKS.PutAccess(aksName, containerservice.Access{Endpoint: "https://127.0.0.1:6443", Token: "abcdef.0123456789abcdef"}))
		_, err := k.putPool("user", user(2, func(p *aks.ManagedClusterAgentPoolProfileProperties) {
			p.NodeLabels, p.NodeTaints = map[string]*string{"a": to.Ptr("b")}, []*string{to.Ptr("k=v:NoSchedule")}
		}))
		w.must(err)
		check(t, "machines", 2, len(host.of("user")))
		m := host.of("user")[0]
		check(t, "agentpool", "user", m.Managed.Labels["kubernetes.azure.com/agentpool"])
		check(t, "cluster", "MC_capz_managed_westus2", m.Managed.Labels["kubernetes.azure.com/cluster"])
		check(t, "label", "b", m.Managed.Labels["a"])
		check(t, "taint", sim.Taint{Key: "k", Value: "v", Effect: "NoSchedule"}, m.Managed.Taints[0])
		check(t, "kubelet", "v1.34.7", m.KubeletVersion)
		if !strings.HasPrefix(m.ProviderID, "azure:///subscriptions/"+azure.SubscriptionID+
			"/resourceGroups/mc_capz_managed_westus2/providers/Microsoft.Compute/virtualMachineScaleSets/aks-user-") {
			t.Errorf("want a provider ID in the node resource group, got %s", m.ProviderID)
		}
		_, err = k.putPool("bad", user(1, nil))
		w.refused(err, 200, "NodesNotReady", "")
		check(t, "state", "Failed", *k.getPool("bad").Properties.ProvisioningState)

		// Pods that can't be evicted fail an upgrade; the pool can still be changed.
		host.deaf = true
		w.must(w.cloud.AKS.ReleaseImage("202610.01.0"))
		image, err := k.pools.BeginUpgradeNodeImageVersion(context.WithoutCancel(t.Context()), azure.ResourceGroup, aksName, "user", nil)
		w.must(err)
		_, err = finish(w, image)
		w.refused(err, 200, "UpgradeFailed", "failed when evicting pods")
		host.deaf = false
		_, err = k.putPool("user", user(3, nil))
		w.must(err)
	})
}
