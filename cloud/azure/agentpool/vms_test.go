package agentpool_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/core"
)

// TestPoolOfVMs holds the life of an agent pool of type VirtualMachines, whose manifest names the size of its machines in a scale profile:
// they are virtual machines by themselves, each of which tells its version, and go by name.
func TestPoolOfVMs(t *testing.T) {
	inWorld(t, func(w *world) {
		w.manifest(map[string]any{"mode": "User", "type": "VirtualMachines", "virtualMachinesProfile": map[string]any{
			"scale": map[string]any{"manual": []any{map[string]any{"size": "Standard_D2s_v3", "count": int64(3)}}}}})
		w.target.Spec.Replicas = new(int32(3))
		w.target.KubernetesVersion = "v1.33.7"
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 3})
		o := w.observe()
		if o.Group == nil || o.Group.Size != 3 || len(o.Instances) != 3 || o.Group.Drift != nil || o.Group.Unchangeable != nil ||
			len(o.Issues) > 0 {
			w.Fatalf("want 3 machines as the manifest says, got %+v, issues %+v", o.Group, o.Issues)
		}
		const prefix = "azure:///subscriptions/" + simazure.SubscriptionID + "/resourceGroups/mc_"
		for _, i := range o.Instances {
			if !strings.HasPrefix(i.ProviderID, prefix) || !strings.HasSuffix(i.ProviderID, "/providers/Microsoft.Compute/virtualMachines/"+i.ID) {
				w.Errorf("want the provider ID of a virtual machine by itself, got %s", i.ProviderID)
			}
		}
		gone := o.Instances[1].ID
		w.start(pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: gone}}})
		w.target.Spec.Replicas = new(int32(2))
		w.target.Spec.Manifest.Spec["virtualMachinesProfile"] = map[string]any{
			"scale": map[string]any{"manual": []any{map[string]any{"size": "Standard_D2s_v3"}}}}
		if o = w.observe(); o.Group.Size != 2 || slices.ContainsFunc(o.Instances, func(i pool.Instance) bool { return i.ID == gone }) {
			w.Errorf("want %s gone and counted no more, got %+v of %d", gone, o.Instances, o.Group.Size)
		}
		w.target.KubernetesVersion = version
		w.rollsInTurn("aks:1.34.7/standard_d2s_v3")
		w.target.Spec.Manifest.Spec["virtualMachinesProfile"] = map[string]any{
			"scale": map[string]any{"manual": []any{map[string]any{"size": "Standard_D4s_v3"}}}}
		w.rollsInTurn("aks:1.34.7/standard_d4s_v3")
		w.target.Deleting = true
		w.start(pool.Step{Kind: pool.DeleteGroup})
		if o = w.observe(); o.Group != nil || len(o.Instances) > 0 {
			w.Errorf("want the agent pool deleted with its machines, got %+v", o.Group)
		}
	})
}

// rollsInTurn starts the rollout to a configuration, and holds that machines are seen to have it one after the other.
func (w *world) rollsInTurn(to string) {
	w.Helper()
	if o := w.observe(); o.Latest().Ref != to {
		w.Fatalf("want %s next, got %+v", to, o.Versions)
	}
	if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.StartProviderRollout, Template: to}); err != nil {
		w.Fatal(err)
	}
	seen := map[int]bool{}
	for range 80 {
		o := w.observe()
		n := 0
		for _, i := range o.Instances {
			if i.Template.Ref == to {
				n++
			}
		}
		seen[n] = true
		<-time.After(time.Minute)
	}
	if o := w.observe(); !seen[1] || !seen[2] || o.ProviderRollout != nil || o.Group.Template != to || len(o.Instances) != 2 {
		w.Errorf("want 2 machines of %s one after the other, got %v of them, and %+v in the end", to, seen, o.Instances)
	}
}

// TestVMsAreKept holds that machines of an agent pool of type VirtualMachines which AKS deallocates are no members of it.
func TestVMsAreKept(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) {
			ofVMs(s)
			s.ScaleDownMode = new("Deallocate")
		})(w.target.Spec)
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 3})
		if err := w.cloud.AKS.ScalePool(clusterName+"/"+poolName, 2); err != nil {
			w.Fatal(err)
		}
		settle()
		o := w.observe()
		if o.Group.Size != 2 || len(o.Instances) != 2 || len(o.ExternalStandby) != 1 {
			w.Errorf("want 2 machines and 1 that is kept, got %+v and %v", o.Instances, o.ExternalStandby)
		}
		if err := w.cloud.Stop(o.Instances[0].UID); err != nil {
			w.Fatal(err)
		}
		if o = w.observe(); o.Instances[0].State != pool.Failed || o.Instances[0].Stopped != "stopped" {
			w.Errorf("want the machine failed that was powered off, got %+v", o.Instances[0])
		}
	})
}

// TestPoweredOffVMs holds that an agent pool of type VirtualMachines of which no machine runs is known to have failed machines, whether AKS
// reports an empty list of those that run or none.
func TestPoweredOffVMs(t *testing.T) {
	for name, b := range map[string]sim.Switches{"an empty list": nil, "no list": {core.OmitsEmpty}} {
		t.Run(name, func(t *testing.T) {
			inWorldOf(t, b, func(w *world) {
				w.target.Spec = spec(ofVMs)(w.target.Spec)
				w.start(pool.Step{Kind: pool.CreateGroup, Size: 2})
				for _, i := range w.observe().Instances {
					if err := w.cloud.Stop(i.UID); err != nil {
						w.Fatal(err)
					}
				}
				for _, i := range w.observe().Instances {
					if i.State != pool.Failed || i.Stopped != "stopped" {
						w.Errorf("want the machine failed that was powered off, got %+v", i)
					}
				}
			})
		})
	}
}
