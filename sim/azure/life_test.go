package azure_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/compute"
)

func resize(n int64) armcompute.VirtualMachineScaleSetUpdate {
	return armcompute.VirtualMachineScaleSetUpdate{SKU: &armcompute.SKU{Capacity: &n}}
}

func sized(name string) armcompute.VirtualMachineScaleSetUpdate {
	return armcompute.VirtualMachineScaleSetUpdate{SKU: &armcompute.SKU{Name: &name}}
}

// data is an update of the custom data alone.
func data(base64 string) armcompute.VirtualMachineScaleSetUpdate {
	return armcompute.VirtualMachineScaleSetUpdate{Properties: &armcompute.VirtualMachineScaleSetUpdateProperties{
		VirtualMachineProfile: &armcompute.VirtualMachineScaleSetUpdateVMProfile{
			OSProfile: &armcompute.VirtualMachineScaleSetUpdateOSProfile{CustomData: &base64}},
	}}
}

// zoned spreads a scale set over zones.
func zoned(zones ...string) func(*armcompute.VirtualMachineScaleSet) {
	return func(s *armcompute.VirtualMachineScaleSet) { s.Zones = to.SliceOfPtrs(zones...) }
}

func spot(policy armcompute.VirtualMachineEvictionPolicyTypes) func(*armcompute.VirtualMachineScaleSet) {
	return func(s *armcompute.VirtualMachineScaleSet) {
		s.Properties.VirtualMachineProfile.Priority = to.Ptr(armcompute.VirtualMachinePriorityTypesSpot)
		s.Properties.VirtualMachineProfile.EvictionPolicy = &policy
	}
}

func ids(names ...string) armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs {
	return armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs{InstanceIDs: to.SliceOfPtrs(names...)}
}

func (w *inventory) apply(set string, instances ...string) {
	w.Helper()
	p, err := w.sets.BeginUpdateInstances(w.Context(), azure.ResourceGroup, set,
		armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs{InstanceIDs: to.SliceOfPtrs(instances...)}, nil)
	w.must(err)
	_, err = finish(w, p)
	w.must(err)
}

func TestModelsAndTags(t *testing.T) {
	for _, mode := range []string{"Uniform", "Flexible"} {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, azure.Options{}, func(w *inventory) {
				w.create(mode, "mp", 1)
				_, err := w.patch("mp", armcompute.VirtualMachineScaleSetUpdate{Tags: map[string]*string{"a": to.Ptr("b")}})
				w.must(err)
				m := w.set("mp").Machines[0]
				check(t, "tags of the set are replaced", "map[a:b]", fmt.Sprint(w.set("mp").Tags))
				check(t, "tags of the machine stay", "map[Name:mp]", fmt.Sprint(m.Tags))
				check(t, "tags are no part of the model", true, m.Latest)
				_, err = w.patch("mp", sized("Standard_D4s_v3"))
				w.must(err)
				check(t, "the machine has the old model", false, w.set("mp").Machines[0].Latest)
				check(t, "and the old size", azure.VMSize, w.set("mp").Machines[0].Size)
				w.apply("mp", m.ID)
				m = w.set("mp").Machines[0]
				check(t, "the model was applied", true, m.Latest)
				if mode == "Uniform" {
					check(t, "tags came with it", "map[a:b]", fmt.Sprint(m.Tags))
				} else {
					check(t, "tags are a virtual machine's own", "map[Name:mp]", fmt.Sprint(m.Tags))
				}
				check(t, "and the size", "Standard_D4s_v3", m.Size)
				_, err = w.sets.BeginUpdateInstances(w.Context(), azure.ResourceGroup, "mp",
					armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs{InstanceIDs: to.SliceOfPtrs("77")}, nil)
				w.refused(err, 400, "InvalidParameter", "The provided instanceId 77 is not an active Virtual Machine Scale Set VM instanceId.")
			})
		})
	}
}

func TestTenModels(t *testing.T) {
	inBubble(t, azure.Options{}, func(w *inventory) {
		w.create("Uniform", "mp", 1)
		for n := range int64(9) {
			_, err := w.patch("mp", data(strings.Repeat("AAAA", int(n)+1)))
			w.must(err)
			_, err = w.patch("mp", resize(n+2))
			w.must(err)
		}
		_, err := w.patch("mp", data("BBBB"))
		w.refused(err, 409, "OperationNotAllowed", "has reached its limit of 10 models")
		w.apply("mp", "0", "1")
		_, err = w.patch("mp", data("BBBB"))
		w.must(err)
	})
}

func TestScaleIn(t *testing.T) {
	for _, c := range []struct {
		reason  string
		zones   []string
		rules   []*armcompute.VirtualMachineScaleSetScaleInRules
		protect []string
		from    int
		to      int64
		want    string
	}{
		{reason: "the highest ID goes first", from: 4, to: 2, want: "0 1"},
		{reason: "zones are kept in balance", zones: []string{"1", "2", "3"}, from: 5, to: 3, want: "0 1 2"},
		{reason: "the fuller zone loses", zones: []string{"1", "2"}, from: 3, to: 2, want: "0 1"},
		{reason: "the oldest where the policy says so", rules: to.SliceOfPtrs(armcompute.VirtualMachineScaleSetScaleInRulesOldestVM), from: 4,
			to: 2, want: "2 3"},
		{reason: "the newest where the policy says so", rules: to.SliceOfPtrs(armcompute.VirtualMachineScaleSetScaleInRulesNewestVM), from: 3,
			to: 1, want: "0"},
		{reason: "what is protected stays", protect: []string{"2", "3"}, from: 4, to: 2, want: "2 3"},
		{reason: "and is counted", protect: []string{"1", "2", "3"}, from: 4, to: 1, want: "1 2 3"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			inBubble(t, azure.Options{}, func(w *inventory) {
				w.create("Uniform", "mp", c.from, zoned(c.zones...), func(s *armcompute.VirtualMachineScaleSet) {
					s.Properties.ScaleInPolicy = &armcompute.ScaleInPolicy{Rules: c.rules}
				})
				for _, id := range c.protect {
					w.protect("mp", id)
				}
				_, err := w.patch("mp", resize(c.to))
				w.must(err)
				var left []string
				for _, m := range w.machines("mp") {
					left = append(left, *m.InstanceID)
				}
				check(t, "left", c.want, strings.Join(left, " "))
				check(t, "capacity", len(left), int(*w.get("mp").SKU.Capacity))
			})
		})
	}
}

func (w *inventory) protect(set, id string) {
	w.Helper()
	p, err := w.vms.BeginUpdate(w.Context(), azure.ResourceGroup, set, id, armcompute.VirtualMachineScaleSetVM{
		Properties: &armcompute.VirtualMachineScaleSetVMProperties{
			ProtectionPolicy: &armcompute.VirtualMachineScaleSetVMProtectionPolicy{ProtectFromScaleIn: to.Ptr(true)}},
	}, nil)
	w.must(err)
	_, err = finish(w, p)
	w.must(err)
}

func TestProtection(t *testing.T) {
	for _, mode := range []string{"Uniform", "Flexible"} {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, azure.Options{}, func(w *inventory) {
				w.create(mode, "mp", 2)
				id := w.set("mp").Machines[1].ID
				w.protect("mp", id)
				check(t, "shown in the scale set's list", true, *w.machines("mp")[1].Properties.ProtectionPolicy.ProtectFromScaleIn)
				p, err := w.sets.BeginDeleteInstances(w.Context(), azure.ResourceGroup, "mp", ids(id), nil)
				w.must(err)
				_, err = w.vms.BeginUpdate(w.Context(), azure.ResourceGroup, "mp", id, armcompute.VirtualMachineScaleSetVM{}, nil)
				w.refused(err, 409, "OperationNotAllowed", "since it is marked for deletion")
				_, err = finish(w, p)
				w.must(err)
				check(t, "a protected one can be deleted by name", 1, len(w.machines("mp")))
			})
		})
	}
}

func TestZones(t *testing.T) {
	full := sim.Fault{Kind: sim.NoCapacity, Zone: "2"}
	for _, c := range []struct {
		reason  string
		balance bool
		zones   []string
		want    string
		code    string
	}{
		{reason: "another zone takes what one has no room for", zones: []string{"1", "2", "3"}, want: "map[1:2 3:2]"},
		{reason: "unless they must be in balance", balance: true, zones: []string{"1", "2", "3"}, want: "map[1:1 3:1]",
			code: "OverconstrainedZonalAllocationRequest"},
		{reason: "one zone alone", zones: []string{"2"}, want: "map[]", code: "ZonalAllocationFailed"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			inBubble(t, azure.Options{}, func(w *inventory) {
				w.must(w.cloud.Faults().Add(full))
				_, err := w.put(example(t, "Uniform", "mp", 4, zoned(c.zones...), func(s *armcompute.VirtualMachineScaleSet) {
					if c.balance {
						s.Properties.ZoneBalance = to.Ptr(true)
					}
				}), "mp")
				set := w.set("mp")
				check(t, "why", c.code, set.Code)
				if c.code != "" {
					w.refused(err, 200, c.code, "Allocation failed")
					check(t, "state", "Failed", set.State)
					check(t, "capacity stays as asked", 4, set.Capacity)
				}
				counts := map[string]int{}
				for _, m := range set.Machines {
					counts[m.Zone]++
				}
				check(t, "by zone", c.want, fmt.Sprint(counts))
				w.cloud.Faults().Clear()
				_, err = w.patch("mp", resize(4))
				w.must(err)
				check(t, "healed", "Succeeded", w.set("mp").State)
				check(t, "machines", 4, len(w.set("mp").Machines))
			})
		})
	}
}

func TestTroubles(t *testing.T) {
	for _, c := range []struct {
		reason string
		fault  sim.Fault
		code   string
	}{
		{"nothing is heard from inside", sim.Fault{Kind: sim.Impaired, Times: 1}, "OSProvisioningTimedOut"},
		{"an extension fails", sim.Fault{Kind: sim.Impaired, Code: "VMExtensionProvisioningError", Times: 1}, "VMExtensionProvisioningError"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			inBubble(t, azure.Options{}, func(w *inventory) {
				w.must(w.cloud.Faults().Add(c.fault))
				_, err := w.put(example(t, "Uniform", "mp", 2), "mp")
				w.refused(err, 200, "ResourceOperationFailure", c.code)
				check(t, "state", "Failed", w.set("mp").State)
				m := w.machines("mp")[0]
				check(t, "the machine", "Failed", *m.Properties.ProvisioningState)
				check(t, "its view", "ProvisioningState/failed/"+c.code, *m.Properties.InstanceView.Statuses[0].Code)
				check(t, "the other", "Succeeded", *w.machines("mp")[1].Properties.ProvisioningState)
				view, err := w.sets.GetInstanceView(w.Context(), azure.ResourceGroup, "mp", nil)
				w.must(err)
				check(t, "the set's view", "ProvisioningState/failed/"+c.code, *view.Statuses[0].Code)
			})
		})
	}
}

func TestQuota(t *testing.T) {
	inBubble(t, azure.Options{}, func(w *inventory) {
		w.create("Uniform", "mp", 2)
		w.must(w.cloud.SetQuota("westus2", "standardDSv3Family", 6))
		_, err := w.patch("mp", resize(4))
		w.refused(err, 409, "OperationNotAllowed",
			"exceeding approved standardDSv3Family Cores quota. Additional details - Deployment Model: Resource Manager, "+
				"Location: westus2, Current Limit: 6, Current Usage: 4, Additional Required: 4, (Minimum) New Limit Required: 8.")
		_, err = w.patch("mp", resize(3))
		w.must(err)
		w.must(w.cloud.ClearQuotas())
		_, err = w.patch("mp", resize(4))
		w.must(err)
	})
}

func TestSpot(t *testing.T) {
	for _, c := range []struct {
		policy         armcompute.VirtualMachineEvictionPolicyTypes
		left, capacity int
	}{{"Delete", 1, 1}, {"Deallocate", 2, 2}} {
		t.Run(string(c.policy), func(t *testing.T) {
			inBubble(t, azure.Options{}, func(w *inventory) {
				w.create("Uniform", "mp", 2, spot(c.policy))
				w.must(w.cloud.Evict("mp_1"))
				time.Sleep(time.Minute)
				machines := w.machines("mp")
				check(t, "left", c.left, len(machines))
				check(t, "capacity", c.capacity, w.set("mp").Capacity)
				if c.left == 2 {
					check(t, "power", "PowerState/deallocated", *machines[1].Properties.InstanceView.Statuses[1].Code)
				}
			})
		})
	}
	inBubble(t, azure.Options{}, func(w *inventory) {
		w.create("Uniform", "mp", 1)
		if err := w.cloud.Evict("mp_0"); err == nil {
			t.Error("want a machine that is no spot machine left alone")
		}
	})
}

func TestByHand(t *testing.T) {
	inBubble(t, azure.Options{}, func(w *inventory) {
		w.create("Flexible", "mp", 3)
		names := w.set("mp").Machines
		w.must(w.cloud.Terminate(names[0].ProviderID))
		check(t, "capacity at once", 2, w.set("mp").Capacity)
		w.must(w.cloud.Stop(names[1].Name))
		w.must(w.cloud.Deallocate(names[2].UID))
		time.Sleep(time.Minute)
		var powers []string
		for _, m := range w.flexible("mp") {
			powers = append(powers, *m.Properties.InstanceView.Statuses[1].Code)
		}
		check(t, "powers", "PowerState/stopped PowerState/deallocated", strings.Join(powers, " "))
		w.must(w.cloud.Start(names[1].Name))
		time.Sleep(time.Minute)
		check(t, "power", "running", w.set("mp").Machines[0].Power)
		p, err := w.flex.BeginDelete(w.Context(), azure.ResourceGroup, names[1].Name, nil)
		w.must(err)
		_, err = finish(w, p)
		w.must(err)
		check(t, "capacity", 1, w.set("mp").Capacity)
	})
}

func TestThrottling(t *testing.T) {
	inBubble(t, azure.Options{Limits: azure.DocumentedLimits()}, func(w *inventory) {
		w.create("Uniform", "mp", 1)
		check(t, "what is left", "Microsoft.Compute/LowCostGetVMScaleSetResource;", w.last.Header.Get("x-ms-ratelimit-remaining-resource")[:47])
		var err error
		n := 0
		for ; err == nil; n++ {
			_, err = w.sets.Get(w.Context(), azure.ResourceGroup, "mp", nil)
		}
		if n < 30 || n > 36 {
			t.Errorf("want some 36 reads of one scale set at once, got %d", n)
		}
		w.refused(err, 429, "OperationNotAllowed", "TooManyRequests")
		check(t, "until when", "5", w.last.Header.Get("Retry-After"))
		time.Sleep(5 * time.Second)
		w.get("mp")
	})
}

func TestFaults(t *testing.T) {
	inBubble(t, azure.Options{}, func(w *inventory) {
		w.create("Uniform", "mp", 3)
		w.must(w.cloud.Faults().Add(
			sim.Fault{Kind: sim.PageLimit, Action: "VirtualMachineScaleSetVMs_List", Limit: 1},
			sim.Fault{Kind: sim.DropAfter, Action: "VirtualMachineScaleSets_Update", Times: 1},
			sim.Fault{Kind: sim.ErrorBefore, Action: "VirtualMachineScaleSets_Delete", Code: "AuthorizationFailed", Message: "no",
				Status: http.StatusForbidden},
		))
		check(t, "over pages of one", 3, len(w.machines("mp")))
		check(t, "pages", 3, w.cloud.Calls().Count("compute", "VirtualMachineScaleSetVMs_List"))
		if _, err := w.patch("mp", resize(4)); !errors.Is(err, sim.ErrDropped) {
			t.Errorf("want the answer lost, got %v", err)
		}
		time.Sleep(time.Minute)
		check(t, "and done", 4, w.set("mp").Capacity)
		_, err := w.sets.BeginDelete(w.Context(), azure.ResourceGroup, "mp", nil)
		w.refused(err, 403, "AuthorizationFailed", "no")
		_, err = w.patch("mp", armcompute.VirtualMachineScaleSetUpdate{Tags: map[string]*string{"a": to.Ptr("b")}})
		w.must(err)
		w.must(w.cloud.Faults().Add(sim.Fault{Kind: sim.Stale, Delay: sim.Duration(20 * time.Second)}))
		if tags := w.get("mp").Tags; tags["a"] != nil {
			t.Errorf("want the tags of before, got %v", tags)
		}
	})
}

// host notes what runs. The cloud powers machines from a goroutine of its own.
type guests struct {
	mu  sync.Mutex
	on  map[string]sim.Machine
	log []string
}

func (g *guests) PowerOn(m sim.Machine) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.on[m.ID] = m
	g.log = append(g.log, "on "+m.Hostname)
}

func (g *guests) PowerOff(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m, runs := g.on[id]; runs {
		g.log = append(g.log, "off "+m.Hostname)
	}
	delete(g.on, id)
}

// running copies the machines that run, by ID.
func (g *guests) running() map[string]sim.Machine {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.on)
}

// history copies what happened, in order.
func (g *guests) history() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.log)
}

func (g *guests) Console(string) []byte { return nil }

func TestGuests(t *testing.T) {
	g := &guests{on: map[string]sim.Machine{}}
	inBubble(t, azure.Options{MachineHost: g}, func(w *inventory) {
		w.create("Uniform", "mp", 2, zoned("1"))
		m := g.running()[w.set("mp").Machines[1].UID]
		check(t, "provider ID", "azure:///subscriptions/"+azure.SubscriptionID+
			"/resourceGroups/capz/providers/Microsoft.Compute/virtualMachineScaleSets/mp/virtualMachines/1", m.ProviderID)
		check(t, "hostname", "mp000001", m.Hostname)
		check(t, "user data", "#cloud-config\n", string(m.UserData))
		check(t, "kubelet", "v1.33.1", m.KubeletVersion)
		check(t, "zone", "1", m.Zone)
		check(t, "cores", 2, m.CPUs)
		_, err := w.patch("mp", armcompute.VirtualMachineScaleSetUpdate{Properties: &armcompute.VirtualMachineScaleSetUpdateProperties{
			VirtualMachineProfile: &armcompute.VirtualMachineScaleSetUpdateVMProfile{
				StorageProfile: &armcompute.VirtualMachineScaleSetUpdateStorageProfile{
					ImageReference: &armcompute.ImageReference{CommunityGalleryImageID: to.Ptr("/CommunityGalleries/" + compute.CommunityGallery +
						"/Images/capi-ubun2-2404/Versions/1.34.0")},
				}},
		}})
		w.must(err)
		w.apply("mp", "1")
		check(t, "kubelet of another image", "v1.34.0", g.running()[w.set("mp").Machines[1].UID].KubeletVersion)
		w.must(w.cloud.Terminate("mp_0"))
		check(t, "what happened", "on mp000000,on mp000001,off mp000001,on mp000001,off mp000000", strings.Join(g.history(), ","))
	})
	g = &guests{on: map[string]sim.Machine{}}
	inBubble(t, azure.Options{MachineHost: g}, func(w *inventory) {
		w.create("Flexible", "flex", 1)
		m := w.set("flex").Machines[0]
		check(t, "provider ID", "azure:///subscriptions/"+azure.SubscriptionID+
			"/resourceGroups/capz/providers/Microsoft.Compute/virtualMachines/"+m.Name, g.running()[m.UID].ProviderID)
		check(t, "hostname", strings.ToLower(m.Computer), g.running()[m.UID].Hostname)
		check(t, "its length", len("flex")+6, len(m.Computer))
		check(t, "name", len("flex_")+8, len(m.Name))
	})
}

// TestRestart holds that what runs goes on in another process: the machines, the operation and what it waits for.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	inBubble(t, azure.Options{}, func(w *inventory) {
		w.must(w.cloud.Close())
		c, err := azure.New(azure.Options{Dir: dir, Limits: azure.Limits{}})
		w.must(err)
		w.cloud = c
		p, err := w.sets.BeginCreateOrUpdate(w.Context(), azure.ResourceGroup, "mp", example(t, "Uniform", "mp", 3), nil)
		w.must(err)
		token, err := p.ResumeToken()
		w.must(err)
		time.Sleep(time.Second)
		w.must(w.cloud.Close())
		g := &guests{on: map[string]sim.Machine{}}
		c, err = azure.New(azure.Options{Dir: dir, Limits: azure.Limits{}, MachineHost: g})
		w.must(err)
		w.cloud = c
		p, err = w.sets.BeginCreateOrUpdate(w.Context(), azure.ResourceGroup, "mp", armcompute.VirtualMachineScaleSet{},
			&armcompute.VirtualMachineScaleSetsClientBeginCreateOrUpdateOptions{ResumeToken: token})
		w.must(err)
		r, err := finish(w, p)
		w.must(err)
		check(t, "state", "Succeeded", *r.Properties.ProvisioningState)
		check(t, "machines that run", 3, len(g.running()))
	})
}

func TestPages(t *testing.T) {
	inBubble(t, azure.Options{}, func(w *inventory) {
		w.create("Flexible", "mp", 230)
		w.cloud.Calls().Reset()
		check(t, "machines", 230, len(w.flexible("mp")))
		check(t, "pages", 3, w.cloud.Calls().Count("compute", "VirtualMachines_List"))
		var names []string
		for _, m := range w.flexible("mp") {
			names = append(names, *m.Name)
		}
		slices.Sort(names)
		check(t, "each once", 230, len(slices.Compact(names)))
	})
}

// TestListOfSubscription holds that the virtual machines of all groups are listed in pages, whole or as statuses alone, and those of
// uniform scale sets in neither list.
func TestListOfSubscription(t *testing.T) {
	inBubble(t, azure.Options{}, func(w *inventory) {
		w.create("Flexible", "one", 60)
		w.create("Flexible", "two", 60)
		w.create("Uniform", "three", 1)
		list := func(o *armcompute.VirtualMachinesClientListAllOptions) (all []*armcompute.VirtualMachine, pages int) {
			for p := w.flex.NewListAllPager(o); p.More(); pages++ {
				page, err := p.NextPage(w.Context())
				w.must(err)
				all = append(all, page.Value...)
			}
			return all, pages
		}
		models, pages := list(nil)
		check(t, "machines", 120, len(models))
		check(t, "pages", 2, pages)
		statuses, pages := list(&armcompute.VirtualMachinesClientListAllOptions{StatusOnly: to.Ptr("true")})
		check(t, "statuses", 120, len(statuses))
		check(t, "pages of statuses", 2, pages)
		of := map[string]*armcompute.VirtualMachine{}
		for _, vm := range statuses {
			of[strings.ToLower(*vm.ID)] = vm
		}
		for _, vm := range models {
			is := of[strings.ToLower(*vm.ID)]
			if is == nil || vm.Properties.InstanceView != nil || vm.Properties.VirtualMachineScaleSet == nil || vm.Tags == nil {
				t.Fatalf("want each model without its status, and a status beside it, got %+v and %+v", vm, is)
			}
			if is.Properties.VirtualMachineScaleSet != nil || is.Tags != nil ||
				*is.Properties.InstanceView.Statuses[1].Code != "PowerState/running" {
				t.Fatalf("want a status without a model, got %+v", is)
			}
		}
		_, err := w.flex.NewListAllPager(&armcompute.VirtualMachinesClientListAllOptions{Expand: to.Ptr(
			armcompute.ExpandTypesForListVMsInstanceView)}).NextPage(w.Context())
		w.refused(err, 400, "BadRequest", "together with a $filter")
	})
}

func TestActions(t *testing.T) {
	inBubble(t, azure.Options{}, func(w *inventory) {
		w.create("Uniform", "mp", 2, spot("Deallocate"))
		w.create("Flexible", "flex", 1)
		off, err := w.vms.BeginPowerOff(w.Context(), azure.ResourceGroup, "mp", "0", nil)
		w.must(err)
		_, err = finish(w, off)
		w.must(err)
		check(t, "power", "stopped", w.set("mp").Machines[0].Power)
		on, err := w.vms.BeginStart(w.Context(), azure.ResourceGroup, "mp", "0", nil)
		w.must(err)
		_, err = finish(w, on)
		w.must(err)
		time.Sleep(time.Minute)
		check(t, "power", "running", w.set("mp").Machines[0].Power)
		_, err = w.vms.SimulateEviction(w.Context(), azure.ResourceGroup, "mp", "1", nil)
		w.must(err)
		check(t, "power", "deallocated", w.set("mp").Machines[1].Power)
		name := w.set("flex").Machines[0].Name
		_, err = w.flex.SimulateEviction(w.Context(), azure.ResourceGroup, name, nil)
		w.refused(err, 409, "OperationNotAllowed", "is none")
		away, err := w.flex.BeginDeallocate(w.Context(), azure.ResourceGroup, name, nil)
		w.must(err)
		_, err = finish(w, away)
		w.must(err)
		check(t, "power", "deallocated", w.set("flex").Machines[0].Power)
		_, err = w.flex.BeginRestart(w.Context(), azure.ResourceGroup, name, nil)
		w.refused(err, 409, "OperationNotAllowed", "does not run")
	})
}

func TestManagersThrottling(t *testing.T) {
	inBubble(t, azure.Options{Limits: azure.Limits{"SubscriptionReads": {Size: 3, Refill: 0.5}}}, func(w *inventory) {
		w.must(w.look())
		check(t, "what is left", "2", w.last.Header.Get("x-ms-ratelimit-remaining-subscription-reads"))
		w.must(w.look())
		w.must(w.look())
		w.refused(w.look(), 429, "SubscriptionRequestsThrottled", "Number of 'reads' requests")
		check(t, "until when", "2", w.last.Header.Get("Retry-After"))
	})
}
