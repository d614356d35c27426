package azure_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/compute"
)

type scaleSet = armcompute.VirtualMachineScaleSet

// watched lets the Application Health extension report on machines.
func watched(s *scaleSet) {
	s.Properties.VirtualMachineProfile.ExtensionProfile = &armcompute.VirtualMachineScaleSetExtensionProfile{
		Extensions: []*armcompute.VirtualMachineScaleSetExtension{{
			Name: to.Ptr("health"), Properties: &armcompute.VirtualMachineScaleSetExtensionProperties{
				Publisher: to.Ptr("Microsoft.ManagedServices"), Type: to.Ptr("ApplicationHealthLinux"), TypeHandlerVersion: to.Ptr("1.0"),
			},
		}}}
}

// probed lets a load balancer's probe watch machines.
func probed(s *scaleSet) {
	s.Properties.VirtualMachineProfile.NetworkProfile.HealthProbe = &armcompute.APIEntityReference{ID: to.Ptr("/subscriptions/x/probes/y")}
}

func upgrading(mode armcompute.UpgradeMode, rolling *armcompute.RollingUpgradePolicy) func(*scaleSet) {
	return func(s *scaleSet) {
		s.Properties.UpgradePolicy = &armcompute.UpgradePolicy{Mode: &mode, RollingUpgradePolicy: rolling}
	}
}

func repaired(action armcompute.RepairAction) func(*scaleSet) {
	return func(s *scaleSet) {
		s.Properties.AutomaticRepairsPolicy = &armcompute.AutomaticRepairsPolicy{Enabled: to.Ptr(true), GracePeriod: to.Ptr("PT20M"),
			RepairAction: &action}
	}
}

// imaged is a change of the image.
func imaged(version string) armcompute.VirtualMachineScaleSetUpdate {
	return armcompute.VirtualMachineScaleSetUpdate{Properties: &armcompute.VirtualMachineScaleSetUpdateProperties{
		VirtualMachineProfile: &armcompute.VirtualMachineScaleSetUpdateVMProfile{
			StorageProfile: &armcompute.VirtualMachineScaleSetUpdateStorageProfile{
				ImageReference: &armcompute.ImageReference{CommunityGalleryImageID: to.Ptr("/CommunityGalleries/" + compute.CommunityGallery +
					"/Images/capi-ubun2-2404/Versions/" + version)},
			}},
	}}
}

// latest are the IDs of the machines that have the model of now, changing how many machines something happens to.
func (w *inventory) latest(set string) (latest string, changing int) {
	var ids []string
	for _, m := range w.set(set).Machines {
		if m.Latest {
			ids = append(ids, m.ID)
		}
		if m.State == "Updating" {
			changing++
		}
	}
	return strings.Join(ids, " "), changing
}

func (w *inventory) byHand(machine, deed string) {
	w.Helper()
	if status, _, text := ask(w.T, w.cloud, "POST", sim.AdminPath+"machines/"+machine+"/"+deed, ""); status != 204 {
		w.Fatalf("%s %s by hand: want 204, got %d %s", deed, machine, status, text)
	}
}

// With the policy Automatic a change reaches all machines at once, without a drain.
func TestAutomaticUpgrade(t *testing.T) {
	for _, mode := range []string{"Uniform", "Flexible"} {
		t.Run(mode, func(t *testing.T) {
			g := &guests{on: map[string]sim.Machine{}}
			inBubble(t, azure.Options{MachineHost: g}, func(w *inventory) {
				w.create(mode, "mp", 3, upgrading(armcompute.UpgradeModeAutomatic, nil))
				check(t, "machines that run", 3, len(g.running()))
				_, err := w.sets.BeginUpdate(w.Context(), azure.ResourceGroup, "mp", imaged("1.34.0"), nil)
				w.must(err)
				check(t, "machines that run at once", 0, len(g.running()))
				time.Sleep(time.Minute)
				for _, m := range g.running() {
					check(t, "kubelet", "v1.34.0", m.KubeletVersion)
				}
				check(t, "machines that run again", 3, len(g.running()))
			})
		})
	}
	inBubble(t, azure.Options{}, func(w *inventory) {
		w.create("Uniform", "mp", 2)
		_, err := w.patch("mp", sized("Standard_D4s_v3"))
		w.must(err)
		time.Sleep(time.Minute)
		latest, _ := w.latest("mp")
		check(t, "by request alone nothing is upgraded", "", latest)
		_, err = w.patch("mp", armcompute.VirtualMachineScaleSetUpdate{Properties: &armcompute.VirtualMachineScaleSetUpdateProperties{
			UpgradePolicy: &armcompute.UpgradePolicy{Mode: to.Ptr(armcompute.UpgradeModeAutomatic)},
		}})
		w.must(err)
		latest, _ = w.latest("mp")
		check(t, "any change has the machines looked at", "0 1", latest)
	})
}

// With the policy Rolling a change reaches the machines in batches, one zone after the other, until too many of them are unhealthy.
func TestRollingUpgrade(t *testing.T) {
	policy := func(percent int32) *armcompute.RollingUpgradePolicy {
		return &armcompute.RollingUpgradePolicy{MaxBatchInstancePercent: &percent, PauseTimeBetweenBatches: to.Ptr("PT5M")}
	}
	inBubble(t, azure.Options{}, func(w *inventory) {
		w.create("Uniform", "mp", 4, watched, upgrading(armcompute.UpgradeModeRolling, policy(50)))
		_, err := w.sets.BeginUpdate(w.Context(), azure.ResourceGroup, "mp", imaged("1.34.0"), nil)
		w.must(err)
		time.Sleep(time.Second)
		latest, changing := w.latest("mp")
		check(t, "the first batch", "0 1: 2", fmt.Sprint(latest, ": ", changing))
		time.Sleep(20 * time.Second)
		latest, changing = w.latest("mp")
		check(t, "the pause", "0 1: 0", fmt.Sprint(latest, ": ", changing))
		check(t, "state in the pause", "Succeeded", w.set("mp").State)
		time.Sleep(time.Minute)
		latest, _ = w.latest("mp")
		check(t, "the second batch", "0 1 2 3", latest)
		check(t, "state in the end", "Succeeded", w.set("mp").State)
	})
	inBubble(t, azure.Options{}, func(w *inventory) {
		w.create("Uniform", "mp", 4, watched, zoned("1", "2"), upgrading(armcompute.UpgradeModeRolling, policy(100)))
		_, err := w.sets.BeginUpdate(w.Context(), azure.ResourceGroup, "mp", imaged("1.34.0"), nil)
		w.must(err)
		time.Sleep(time.Second)
		latest, _ := w.latest("mp")
		check(t, "machines of one zone", "0 2", latest)
		w.byHand("mp_0", "sicken")
		w.byHand("mp_2", "sicken")
		time.Sleep(2 * time.Minute)
		latest, _ = w.latest("mp")
		check(t, "it stops with the unhealthy", "0 2", latest)
		check(t, "and says why", "Failed MaxUnhealthyUpgradedInstancePercentExceededInRollingUpgrade", w.set("mp").State+" "+w.set("mp").Code)
	})
}

// Automatic repairs replace unhealthy machines undrained, one at a time, once they were left alone for the grace period.
func TestAutomaticRepairs(t *testing.T) {
	for _, c := range []struct {
		reason  string
		mode    string
		changes []func(*scaleSet)
		deed    string
		protect bool
		want    string
	}{
		{reason: "replaced", changes: []func(*scaleSet){watched, repaired("Replace")}, deed: "sicken", want: "0 2 3"},
		{reason: "in flexible mode too", mode: "Flexible", changes: []func(*scaleSet){watched, repaired("Replace")}, deed: "sicken", want: "new"},
		{reason: "started again", changes: []func(*scaleSet){watched, repaired("Restart")}, deed: "sicken", want: "0 1 2"},
		{reason: "a probe sees a machine that is off", changes: []func(*scaleSet){probed, repaired("Replace")}, deed: "stop", want: "0 2 3"},
		{reason: "an extension that does not run says nothing", changes: []func(*scaleSet){watched, repaired("Replace")}, deed: "stop",
			want: "0 1 2"},
		{reason: "without a policy", changes: []func(*scaleSet){watched}, deed: "sicken", want: "0 1 2"},
		{reason: "a protected one is left alone", changes: []func(*scaleSet){watched, repaired("Replace")}, deed: "sicken", protect: true,
			want: "0 1 2"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			g := &guests{on: map[string]sim.Machine{}}
			inBubble(t, azure.Options{MachineHost: g}, func(w *inventory) {
				mode := "Uniform"
				if c.mode != "" {
					mode = c.mode
				}
				w.create(mode, "mp", 3, c.changes...)
				victim := w.set("mp").Machines[1]
				if c.protect {
					w.protect("mp", victim.ID)
				}
				ids := func() string {
					var out []string
					for _, m := range w.set("mp").Machines {
						if mode == "Flexible" && m.ID != victim.ID && m.Created.After(victim.Created.Add(time.Minute)) {
							return "new"
						}
						out = append(out, m.ID)
					}
					return strings.Join(out, " ")
				}
				before := ids()
				w.byHand(victim.Name, c.deed)
				time.Sleep(time.Minute) // ten times faster than life: the grace period has not passed
				check(t, "within the grace period", before, ids())
				started := len(g.history())
				time.Sleep(5 * time.Minute)
				check(t, "after it", c.want, ids())
				check(t, "capacity", 3, w.set("mp").Capacity)
				check(t, "state", "Succeeded", w.set("mp").State)
				if c.reason == "started again" {
					check(t, "what happened", "off mp000001,on mp000001", strings.Join(g.history()[started:], ","))
				}
			})
		})
	}
}

// What a policy needs, and what is not simulated, is refused and not ignored.
func TestPoliciesThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		reason  string
		changes []func(*scaleSet)
		code    string
		words   string
	}{
		{"a rolling upgrade needs to know who is healthy", []func(*scaleSet){upgrading("Rolling", nil)}, "BadRequest",
			"Rolling Upgrade mode is not supported for this Virtual Machine Scale Set because a health probe or health extension was not provided."},
		{"and so do repairs", []func(*scaleSet){repaired("Replace")}, "BadRequest",
			"Automatic repairs not supported for this Virtual Machine Scale Set because a health probe or health extension was not provided."},
		{"the grace period has bounds", []func(*scaleSet){watched, repaired("Replace"),
			func(s *scaleSet) { s.Properties.AutomaticRepairsPolicy.GracePeriod = to.Ptr("PT5M") }},
			"InvalidParameter", "PT10M to PT90M"},
		{"a batch is at most all machines", []func(*scaleSet){watched, upgrading("Rolling",
			&armcompute.RollingUpgradePolicy{MaxBatchInstancePercent: to.Ptr[int32](101)})}, "InvalidParameter", "'5' and '100'"},
		{"and has a least share", []func(*scaleSet){watched, upgrading("Rolling",
			&armcompute.RollingUpgradePolicy{MaxUnhealthyInstancePercent: to.Ptr[int32](4)})}, "InvalidParameter", "'5' and '100'"},
		{"surge is not simulated", []func(*scaleSet){watched, upgrading("Rolling", &armcompute.RollingUpgradePolicy{MaxSurge: to.Ptr(true)})},
			"NotSupported", "maxSurge"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			inBubble(t, azure.Options{}, func(w *inventory) {
				_, err := w.put(example(t, "Uniform", "mp", 1, c.changes...), "mp")
				w.refused(err, 400, c.code, c.words)
			})
		})
	}
}
