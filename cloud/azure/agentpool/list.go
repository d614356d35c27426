package agentpool

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/session"
)

// tagPool is the tag by which AKS names the agent pool on its scale sets and virtual machines.
const tagPool = "aks-managed-poolName"

// machineReader lists the machines of one agent pool. Without them nothing is known of a pool: a list that is denied is an error.
type machineReader struct {
	c    *session.Session
	now  time.Time
	skew time.Duration
	// pool is the agent pool's name, group the node resource group.
	pool, group string
}

// read lists the machines: virtual machines, or those of a scale set, whose name is kept.
func (r machineReader) read(ctx context.Context, vms bool, scaleSet *string) ([]machine, error) {
	if vms {
		return r.virtualMachines(ctx)
	}
	if *scaleSet == "" {
		set, err := r.findScaleSet(ctx)
		if err != nil || set == nil {
			return nil, err
		}
		*scaleSet = *set.Name
	}
	options := &armcompute.VirtualMachineScaleSetVMsClientListOptions{Expand: new("instanceView")}
	type page = armcompute.VirtualMachineScaleSetVMsClientListResponse
	items := func(p page) []*armcompute.VirtualMachineScaleSetVM { return p.Value }
	list, err := session.Listed(ctx, r.c.ScaleSetVMs.NewListPager(r.group, *scaleSet, options), items, r.now)
	if session.Absent(err) {
		*scaleSet = ""
		return nil, &cloud.Error{Kind: cloud.Conflict, Code: "ScaleSetGone", Message: fmt.Sprintf(
			"the scale set of agent pool %s went while it was read", r.pool)}
	}
	if err != nil {
		return nil, err
	}
	machines := make([]machine, 0, len(list))
	for _, vm := range list {
		machines = append(machines, scaleSetMachine(vm, r.skew))
	}
	return machines, nil
}

// findScaleSet returns the scale set that AKS keeps the agent pool's machines in; nil if there is none yet.
func (r machineReader) findScaleSet(ctx context.Context) (*armcompute.VirtualMachineScaleSet, error) {
	type page = armcompute.VirtualMachineScaleSetsClientListResponse
	items := func(p page) []*armcompute.VirtualMachineScaleSet { return p.Value }
	list, err := session.Listed(ctx, r.c.ScaleSets.NewListPager(r.group, nil), items, r.now)
	if session.Absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, set := range list {
		if set.Name != nil && tagOf(set.Tags, tagPool) == r.pool {
			return set, nil
		}
	}
	return nil, nil
}

// virtualMachines lists the machines of an agent pool of type VirtualMachines.
func (r machineReader) virtualMachines(ctx context.Context) ([]machine, error) {
	type page = armcompute.VirtualMachinesClientListResponse
	items := func(p page) []*armcompute.VirtualMachine { return p.Value }
	list, err := session.Listed(ctx, r.c.VMs.NewListPager(r.group, nil), items, r.now)
	if session.Absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var machines []machine
	for _, vm := range list {
		if tagOf(vm.Tags, tagPool) == r.pool {
			machines = append(machines, virtualMachine(vm, r.skew))
		}
	}
	return machines, nil
}
