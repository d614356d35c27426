package azure_test

import (
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud/azure"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
)

// beside is another pool of the same subscription.
func (w *world) beside(name string) azure.Target {
	t := w.aTarget()
	t.Owner.ID, t.Owner.Name = "owner-"+name, name
	return t
}

// aged is a target whose looks accept an answer of an age.
func aged(t azure.Target, age time.Duration) azure.Target {
	t.Cache.MaxAge = age
	return t
}

// sharing makes pools of two machines. listing has the look of one read them all.
func (w *world) sharing() (first, second azure.Target, listing func()) {
	w.t.Helper()
	first, second = w.aTarget(), w.beside("second")
	all := []azure.Target{first, second, w.beside("third"), w.beside("fourth")}
	for _, t := range all {
		w.create(t, 2)
	}
	for _, t := range all {
		w.observe(t)
	}
	lists := []string{"compute:VirtualMachineScaleSets.ListAll"}
	if w.mode == azurev1.FlexibleOrchestrationMode {
		lists = append(lists, "compute:VirtualMachines.ListAll", "compute:VirtualMachines.ListAll")
	} else {
		lists = append(lists, "compute:VirtualMachineScaleSetVMs.List")
	}
	return first, second, func() {
		w.t.Helper()
		if got := w.wire.during(func() { w.observe(aged(second, time.Nanosecond)) }); !slices.Equal(got, lists) {
			w.t.Fatalf("want the look to list the subscription by %v, got %v", lists, got)
		}
	}
}

// A look at a Flexible pool that accepts an older answer costs nothing once another pool's look has listed the subscription, and shows what
// that has shown. What must be new is read for the scale set alone.
func TestSharedLook(t *testing.T) {
	inWorld(t, azurev1.FlexibleOrchestrationMode, func(t *testing.T, w *world) {
		first, _, listing := w.sharing()
		time.Sleep(20 * time.Second)
		listing()
		time.Sleep(5 * time.Second)
		if got := w.wire.during(func() {
			if o := w.observe(aged(first, 15*time.Second)); !o.Cache.Shared || o.Cache.Fresh || len(o.Instances) != 2 {
				t.Errorf("want both machines by a shared answer, got %+v", o)
			}
		}); len(got) > 0 {
			t.Errorf("want no call for what another look has read, got %v", got)
		}
		if got := w.wire.during(func() {
			if o := w.observe(first); !o.Cache.Fresh {
				t.Error("want a new look")
			}
		}); !slices.Equal(got, []string{"compute:VirtualMachineScaleSets.Get", "compute:VirtualMachines.List"}) {
			t.Errorf("want what must be new read for the scale set alone, got %v", got)
		}
		stopped := w.observe(first).Instances[0]
		if err := w.cloud.Deallocate(stopped.ProviderID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		listing()
		time.Sleep(5 * time.Second)
		calls := w.wire.during(func() {
			o := w.observe(aged(first, 15*time.Second))
			at := slices.IndexFunc(o.Instances, func(i pool.Instance) bool { return i.ID == stopped.ID })
			if at < 0 || o.Instances[at].Stopped != "deallocated" || o.Instances[at].State != pool.Failed {
				t.Errorf("want it seen that the machine is deallocated, got %+v", o.Instances)
			}
		})
		if len(calls) > 0 {
			t.Errorf("want nothing read again for the pool alone, got %v", calls)
		}
	})
}

// A change of a scale set is found in what another pool's look has read; only the machines of mode Uniform are read for the pool alone.
func TestSharedLookAtChangedSet(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		first, _, listing := w.sharing()
		time.Sleep(10 * time.Second)
		is, err := w.sets.Get(t.Context(), simazure.ResourceGroup, setName, nil)
		if err != nil {
			t.Fatal(err)
		}
		is.Tags["team"] = new("b")
		w.patch(armcompute.VirtualMachineScaleSetUpdate{Tags: is.Tags})
		time.Sleep(10 * time.Second)
		listing()
		time.Sleep(5 * time.Second)
		var want []string
		if w.mode != azurev1.FlexibleOrchestrationMode {
			want = []string{"compute:VirtualMachineScaleSetVMs.List"}
		}
		var o pool.Observed
		if got := w.wire.during(func() { o = w.observe(aged(first, 15*time.Second)) }); !slices.Equal(got, want) {
			t.Errorf("want %v, got %v", want, got)
		}
		if !slices.Contains(o.Group.Drift, "spec.additionalTags") {
			t.Errorf("want the other tag seen, got %v", o.Group.Drift)
		}
	})
}

// A list of machines that is older than the scale set is read again: what a user has added since would count as missing.
func TestSharedLookThatIsOlderThanItsSet(t *testing.T) {
	inWorld(t, azurev1.FlexibleOrchestrationMode, func(t *testing.T, w *world) {
		first, _, listing := w.sharing()
		time.Sleep(20 * time.Second)
		listing()
		w.patch(armcompute.VirtualMachineScaleSetUpdate{SKU: &armcompute.SKU{Capacity: new(int64(3))}})
		time.Sleep(10 * time.Second)
		w.observe(aged(w.beside("fifth"), time.Nanosecond)) // lists the scale sets, and no machines for one that does not exist
		time.Sleep(time.Second)
		if o := w.observe(aged(first, 15*time.Second)); o.Group == nil || o.Group.Size != 3 || len(o.Instances) != 3 {
			t.Errorf("want the machine of the new size seen with it, got %+v with %+v", o.Group, o.Instances)
		}
	})
}

// A list that pools share and that is older than an accepted removal does not bring the removed machine back.
func TestSharedLookThatIsOlderThanARemoval(t *testing.T) {
	inWorld(t, azurev1.FlexibleOrchestrationMode, func(t *testing.T, w *world) {
		first, _, listing := w.sharing()
		gone := w.observe(first).Instances[0]
		w.start(first, pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: gone.ID}}})
		time.Sleep(9500 * time.Millisecond)
		w.fault(sim.Fault{Kind: sim.Stale, Action: "VirtualMachines_ListAll", Delay: sim.Duration(time.Minute)})
		listing()
		w.calm()
		time.Sleep(700 * time.Millisecond)
		for _, i := range w.observe(aged(first, 15*time.Second)).Instances {
			if i.ID == gone.ID && i.State != pool.Terminating {
				t.Errorf("want the removed machine on its way out, got %+v", i)
			}
		}
	})
}

// Where the credentials do not allow to list the subscription's machines, those of each Flexible scale set are listed by themselves.
func TestSharedLookThatIsDenied(t *testing.T) {
	inWorld(t, azurev1.FlexibleOrchestrationMode, func(t *testing.T, w *world) {
		first, second, _ := w.sharing()
		w.driver = w.newDriver()
		w.fault(sim.Fault{Kind: sim.ErrorBefore, Action: "VirtualMachines_ListAll", Code: "AuthorizationFailed", Message: "no", Status: 403})
		for _, target := range []azure.Target{first, second, first, second, first, second} {
			if o := w.observe(aged(target, 15*time.Second)); len(o.Instances) != 2 || len(o.Issues) > 0 {
				t.Errorf("want both machines and no issue, got %+v with issues %v", o.Instances, o.Issues)
			}
			time.Sleep(10 * time.Second)
		}
		if n := w.cloud.Calls().Count("compute", "VirtualMachines_ListAll"); n != 1 {
			t.Errorf("want the listing tried once, got %d", n)
		}
	})
}

// Of the machines of a scale set that this process made it is known that none is protected: nothing is asked.
func TestNewMachinesAreExposed(t *testing.T) {
	inWorld(t, azurev1.FlexibleOrchestrationMode, func(t *testing.T, w *world) {
		target := w.aTarget()
		w.observe(target)
		calls := w.wire.during(func() {
			w.start(target, pool.Step{Kind: pool.CreateGroup, Size: 2})
			time.Sleep(5 * time.Minute)
			for _, i := range w.observe(target).Instances {
				if !i.ScaleInUnprotected || i.ScaleInProtected {
					t.Errorf("want the machine exposed, got %+v", i)
				}
			}
		})
		if n := count(calls, "VirtualMachineScaleSetVMs.List"); n > 0 {
			t.Errorf("want no list of what is protected, got %v", calls)
		}
	})
}

// After its protection was changed a machine is read by itself, for lists of instances have a small budget: what Azure ignored is seen.
func TestChangedProtectionIsRead(t *testing.T) {
	inWorld(t, azurev1.FlexibleOrchestrationMode, func(t *testing.T, w *world) {
		target := w.aTarget()
		w.create(target, 3)
		list := w.observe(target).Instances
		protect := pool.Step{Kind: pool.Protect, Targets: []pool.InstanceRef{{ID: list[0].ID, ProviderID: list[0].ProviderID}}}
		for _, ignored := range []bool{true, false} {
			if ignored {
				w.fault(sim.Fault{Kind: sim.Ignore, Action: "VirtualMachineScaleSetVMs_Update"})
			}
			w.start(target, protect)
			w.calm()
			var o pool.Observed
			calls := w.wire.during(func() { o = w.observe(target) })
			if count(calls, "VirtualMachineScaleSetVMs.Get") != 1 || count(calls, "VirtualMachineScaleSetVMs.List") != 0 {
				t.Errorf("want the machine read by itself, got %v", calls)
			}
			for k, i := range o.Instances {
				if i.ScaleInUnprotected != (k != 0 || ignored) {
					t.Errorf("ignored %v: want the first machine alone protected if it took effect, got %+v", ignored, i)
				}
			}
		}
	})
}

// A protection that is decided on a shared list keeps the tags that a user has set since: the write replaces them all.
func TestProtectionKeepsTags(t *testing.T) {
	inWorld(t, azurev1.FlexibleOrchestrationMode, func(t *testing.T, w *world) {
		first, _, listing := w.sharing()
		time.Sleep(20 * time.Second)
		listing()
		time.Sleep(time.Second)
		one := w.observe(aged(first, 15*time.Second)).Instances[0]
		is, err := w.machines.Get(t.Context(), simazure.ResourceGroup, setName, one.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		is.Tags = map[string]*string{"team": new("b")}
		change := armcompute.VirtualMachineScaleSetVM{Location: is.Location, Tags: is.Tags}
		if _, err := w.machines.BeginUpdate(t.Context(), simazure.ResourceGroup, setName, one.ID, change, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		first.Cache.MaxAge = 15 * time.Second
		w.start(first, pool.Step{Kind: pool.Protect, Targets: []pool.InstanceRef{{ID: one.ID, ProviderID: one.ProviderID}}})
		time.Sleep(time.Minute)
		for _, set := range w.cloud.State().Sets {
			for _, m := range set.Machines {
				if m.Name == one.ID && (m.Tags["team"] != "b" || !m.Protected) {
					t.Errorf("want it protected and the user's tag kept, got %+v", m)
				}
			}
		}
	})
}
