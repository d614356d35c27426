package agentpool

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/cloud/azure/session"
)

// tagPool is the tag by which AKS names the agent pool on its scale sets and virtual machines.
const tagPool = "aks-managed-poolName"

// tagVersion is the tag by which AKS names the version of Kubernetes that it makes machines with, and versionMark what is before it.
const (
	tagVersion  = "aks-managed-orchestrator"
	versionMark = "Kubernetes:"
)

// machineReader lists the machines of one agent pool. Without them nothing is known of a pool: a list that is denied is an error.
type machineReader struct {
	c    *session.Session
	now  time.Time
	skew time.Duration
	// pool is the agent pool's name, group the node resource group.
	pool, group string
}

// read lists the machines of an agent pool: virtual machines, or those of a scale set, whose name is kept.
func (r machineReader) read(ctx context.Context, is *agentPool, scaleSet *string) ([]machine, error) {
	if body.OfVMs(is.properties) {
		return r.virtualMachines(ctx, is)
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
		machines = append(machines, scaleSetMachine(vm, r.now, r.skew))
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

// virtualMachines lists the machines of an agent pool of type VirtualMachines. The list lacks their power states, which are read where AKS
// reports fewer machines that run than there are. Where it reports none at all, no machine runs, or the answer has no room for it: the
// first machine tells which.
func (r machineReader) virtualMachines(ctx context.Context, is *agentPool) ([]machine, error) {
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
	running, known := body.Running(is.properties)
	if len(machines) == 0 || known && running >= len(machines) {
		return machines, nil
	}
	unknown := machines
	if !known && !is.keepsMachines() {
		if err := r.power(ctx, machines[:1]); err != nil || !machines[0].off() {
			return machines, err
		}
		unknown = machines[1:]
	}
	return machines, r.power(ctx, unknown)
}

// power puts the power states into machines, each read by itself: a list that shows them needs to be allowed in the whole subscription.
func (r machineReader) power(ctx context.Context, machines []machine) error {
	for k := range machines {
		reply, err := r.c.VMs.InstanceView(ctx, r.group, machines[k].name, nil)
		if session.Absent(err) {
			continue
		}
		if err != nil {
			return session.Refusal(err, r.now)
		}
		machines[k].power = powerOf(reply.Statuses)
	}
	return nil
}
