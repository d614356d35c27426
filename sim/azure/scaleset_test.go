package azure_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/sim/azure"
)

func written(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestUniform(t *testing.T) {
	inBubble(t, azure.Options{}, func(w *inventory) {
		p, err := w.sets.BeginCreateOrUpdate(w.Context(), azure.ResourceGroup, "mp-0", example(t, "Uniform", "mp-0", 2), nil)
		w.must(err)
		check(t, "status of a PUT that makes", 201, w.last.StatusCode)
		check(t, "state at first", "Creating", *w.get("mp-0").Properties.ProvisioningState)
		_, err = finish(w, p)
		w.must(err)
		set := w.get("mp-0")
		check(t, "state at last", "Succeeded", *set.Properties.ProvisioningState)
		check(t, "id", "/subscriptions/"+azure.SubscriptionID+"/resourceGroups/capz/providers/Microsoft.Compute/virtualMachineScaleSets/mp-0",
			*set.ID)
		if set.Properties.VirtualMachineProfile.OSProfile.CustomData != nil {
			t.Error("want custom data never given back, got it")
		}
		machines := w.machines("mp-0")
		check(t, "machines", 2, len(machines))
		m := machines[1]
		check(t, "instance ID", "1", *m.InstanceID)
		check(t, "computer", "mp-0000001", *m.Properties.OSProfile.ComputerName)
		check(t, "tag", "mp-0", *m.Tags["Name"])
		check(t, "latest", true, *m.Properties.LatestModelApplied)
		check(t, "size", azure.VMSize, *m.SKU.Name)
		check(t, "power", "PowerState/running", *m.Properties.InstanceView.Statuses[1].Code)
		check(t, "the group's case in lists", true, strings.Contains(*m.ID, "/resourceGroups/CAPZ/"))
	})
}

func TestFlexible(t *testing.T) {
	inBubble(t, azure.Options{}, func(w *inventory) {
		w.create("Flexible", "flex", 2)
		brief := w.machines("flex")
		check(t, "machines", 2, len(brief))
		if brief[0].Tags != nil || brief[0].Properties.StorageProfile != nil {
			t.Errorf("want little more than IDs from the scale set's list, got %s", written(t, brief[0]))
		}
		whole := w.flexible("flex")
		check(t, "virtual machines", 2, len(whole))
		check(t, "name", *brief[0].InstanceID, *whole[0].Name)
		check(t, "tag", "flex", *whole[0].Tags["Name"])
		check(t, "size", azure.VMSize, string(*whole[0].Properties.HardwareProfile.VMSize))
		check(t, "scale set", *w.get("flex").ID, *whole[0].Properties.VirtualMachineScaleSet.ID)
		check(t, "power", "PowerState/running", *whole[0].Properties.InstanceView.Statuses[1].Code)
		_, err := w.sets.GetInstanceView(w.Context(), azure.ResourceGroup, "flex", nil)
		w.refused(err, 409, "OperationNotAllowed", "Flexible")
	})
}

func TestResizeAndDelete(t *testing.T) {
	for _, mode := range []string{"Uniform", "Flexible"} {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, azure.Options{}, func(w *inventory) {
				w.create(mode, "mp", 3)
				p, err := w.sets.BeginDeleteInstances(w.Context(), azure.ResourceGroup, "mp",
					armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs{InstanceIDs: []*string{to.Ptr(w.set("mp").Machines[1].ID)}}, nil)
				w.must(err)
				check(t, "capacity at once", 2, int(*w.get("mp").SKU.Capacity))
				check(t, "state", "Updating", *w.get("mp").Properties.ProvisioningState)
				_, err = finish(w, p)
				w.must(err)
				check(t, "machines left", 2, len(w.machines("mp")))
				_, err = w.patch("mp", armcompute.VirtualMachineScaleSetUpdate{SKU: &armcompute.SKU{Capacity: to.Ptr[int64](4)}})
				w.must(err)
				check(t, "machines", 4, len(w.machines("mp")))
				_, err = w.patch("mp", armcompute.VirtualMachineScaleSetUpdate{SKU: &armcompute.SKU{Capacity: to.Ptr[int64](1)}})
				w.must(err)
				check(t, "machines after the cloud chose", 1, len(w.machines("mp")))
				d, err := w.sets.BeginDelete(w.Context(), azure.ResourceGroup, "mp", nil)
				w.must(err)
				_, err = finish(w, d)
				w.must(err)
				_, err = w.sets.Get(w.Context(), azure.ResourceGroup, "mp", nil)
				w.refused(err, 404, "ResourceNotFound", "'Microsoft.Compute/virtualMachineScaleSets/mp' under resource group 'capz' was not found")
				check(t, "sets", 0, len(w.cloud.State().Sets))
			})
		})
	}
}

func TestETag(t *testing.T) {
	inBubble(t, azure.Options{}, func(w *inventory) {
		before := w.create("Uniform", "mp", 1)
		resize := armcompute.VirtualMachineScaleSetUpdate{SKU: &armcompute.SKU{Capacity: to.Ptr[int64](2)}}
		_, err := w.sets.BeginUpdate(w.Context(), azure.ResourceGroup, "mp", resize,
			&armcompute.VirtualMachineScaleSetsClientBeginUpdateOptions{IfMatch: before.Etag})
		w.must(err)
		time.Sleep(time.Minute)
		_, err = w.sets.BeginUpdate(w.Context(), azure.ResourceGroup, "mp", resize,
			&armcompute.VirtualMachineScaleSetsClientBeginUpdateOptions{IfMatch: before.Etag})
		w.refused(err, 412, "PreconditionFailed", "")
		_, err = w.sets.BeginCreateOrUpdate(w.Context(), azure.ResourceGroup, "mp", example(t, "Uniform", "mp", 1),
			&armcompute.VirtualMachineScaleSetsClientBeginCreateOrUpdateOptions{IfNoneMatch: to.Ptr("*")})
		w.refused(err, 412, "PreconditionFailed", "")
	})
}
