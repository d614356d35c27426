package azure_test

import (
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure"
)

// Operations overlap: what is asked of a scale set at work is done, and of two that are about the whole scale set the older one ends.
func TestOverlappingOperations(t *testing.T) {
	for _, mode := range []string{"Uniform", "Flexible"} {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, azure.Options{}, func(w *inventory) {
				w.create(mode, "mp", 3)
				names := w.set("mp").Machines
				first, err := w.sets.BeginDeleteInstances(w.Context(), azure.ResourceGroup, "mp", ids(names[0].ID), nil)
				w.must(err)
				second, err := w.sets.BeginDeleteInstances(w.Context(), azure.ResourceGroup, "mp", ids(names[1].ID), nil)
				w.must(err)
				w.protect("mp", names[2].ID)
				check(t, "capacity at once", 1, w.set("mp").Capacity)
				grown, err := w.sets.BeginUpdate(w.Context(), azure.ResourceGroup, "mp", resize(4), nil)
				w.must(err)
				larger, err := w.sets.BeginUpdate(w.Context(), azure.ResourceGroup, "mp", resize(5), nil)
				w.must(err)
				_, err = finish(w, grown)
				w.refused(err, 200, "OperationPreempted", "preempted by a more recent operation")
				for _, p := range []interface{ Done() bool }{first, second} {
					check(t, "deletions go on", false, p.Done())
				}
				_, err = finish(w, first)
				w.must(err)
				_, err = finish(w, second)
				w.must(err)
				_, err = finish(w, larger)
				w.must(err)
				check(t, "machines", 5, len(w.machines("mp")))
				check(t, "state", "Succeeded", w.set("mp").State)
				check(t, "at rest", false, w.set("mp").Busy)
			})
		})
	}
	inBubble(t, azure.Options{}, func(w *inventory) {
		w.create("Uniform", "mp", 1)
		_, err := w.sets.BeginUpdate(w.Context(), azure.ResourceGroup, "mp", resize(5), nil)
		w.must(err)
		time.Sleep(150 * time.Millisecond)
		p, err := w.sets.BeginUpdate(w.Context(), azure.ResourceGroup, "mp", resize(int64(len(w.set("mp").Machines))), nil)
		w.must(err)
		made := len(w.set("mp").Machines)
		_, err = finish(w, p)
		w.must(err)
		check(t, "what was not made yet is not made any more", made, len(w.machines("mp")))
		p, err = w.sets.BeginUpdate(w.Context(), azure.ResourceGroup, "mp", resize(int64(made+1)), nil)
		w.must(err)
		time.Sleep(150 * time.Millisecond)
		_, err = w.sets.BeginUpdateInstances(w.Context(), azure.ResourceGroup, "mp", ids(w.set("mp").Machines[made].ID), nil)
		w.refused(err, 409, "Conflict", "concurrent request")
		_, err = finish(w, p)
		w.must(err)
	})
}

// A write that comes while another one of the same scale set has not been answered yet conflicts with it.
func TestSimultaneousWrites(t *testing.T) {
	inBubble(t, azure.Options{}, func(w *inventory) {
		w.create("Uniform", "mp", 3)
		w.must(w.cloud.Faults().Add(sim.Fault{Kind: sim.Delay, Action: "VirtualMachineScaleSets_Update", Delay: sim.Duration(time.Second),
			Times: 1}))
		var wg sync.WaitGroup
		wg.Go(func() {
			status, code, _ := ask(w.T, w.cloud, "PATCH", inGroup+"virtualMachineScaleSets/mp"+version, `{"sku":{"capacity":4}}`)
			check(t, "the first", 200, status)
			check(t, "the first", "", code)
		})
		time.Sleep(100 * time.Millisecond)
		status, code, _ := ask(w.T, w.cloud, "POST", inGroup+"virtualMachineScaleSets/mp/delete"+version, `{"instanceIds":["0"]}`)
		check(t, "the second", 409, status)
		check(t, "the second", "ConflictingConcurrentWriteNotAllowed", code)
		wg.Wait()
		status, _, _ = ask(w.T, w.cloud, "POST", inGroup+"virtualMachineScaleSets/mp/delete"+version, `{"instanceIds":["0"]}`)
		check(t, "once the first is answered", 202, status)
	})
}

// A failure of a scale set is not forgotten because something else ends well meanwhile.
func TestOverlapKeepsTrouble(t *testing.T) {
	inBubble(t, azure.Options{}, func(w *inventory) {
		w.create("Uniform", "mp", 3)
		w.must(w.cloud.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Limit: 3}))
		grown, err := w.sets.BeginUpdate(w.Context(), azure.ResourceGroup, "mp", resize(5), nil)
		w.must(err)
		p, err := w.sets.BeginUpdateInstances(w.Context(), azure.ResourceGroup, "mp", ids("0"), nil)
		w.must(err)
		_, err = finish(w, grown)
		w.refused(err, 200, "AllocationFailed", "Allocation failed")
		_, err = finish(w, p)
		w.must(err)
		check(t, "state", "Failed AllocationFailed", w.set("mp").State+" "+w.set("mp").Code)
	})
}

// A machine that has failed is no better for being protected, tagged or given what it has.
func TestFailureIsNotForgotten(t *testing.T) {
	for _, mode := range []string{"Uniform", "Flexible"} {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, azure.Options{}, func(w *inventory) {
				w.create(mode, "mp", 1)
				m := w.set("mp").Machines[0]
				w.must(w.cloud.Fail(m.Name, "VMExtensionProvisioningError", "exit status=1"))
				failed := func(after string) {
					m := w.set("mp").Machines[0]
					check(t, "state "+after, "Failed VMExtensionProvisioningError exit status=1", m.State+" "+m.Code+" "+m.Message)
				}
				w.protect("mp", m.ID)
				check(t, "protected", true, w.set("mp").Machines[0].Protected)
				failed("after it was protected")
				if mode == "Flexible" {
					p, err := w.flex.BeginUpdate(w.Context(), azure.ResourceGroup, m.Name,
						armcompute.VirtualMachineUpdate{Tags: map[string]*string{"a": to.Ptr("b")}}, nil)
					w.must(err)
					_, err = finish(w, p)
					w.must(err)
					failed("after it was tagged")
				}
				p, err := w.sets.BeginUpdateInstances(w.Context(), azure.ResourceGroup, "mp", ids(m.ID), nil)
				w.must(err)
				_, err = finish(w, p)
				w.refused(err, 200, "ResourceOperationFailure", "exit status=1")
				failed("after it was given its model again")
			})
		})
	}
}
