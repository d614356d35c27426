package azure

import (
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/pool"
)

// The provisioning states of scale sets and machines that Muster distinguishes.
const (
	stateCreating  = "Creating"
	stateDeleting  = "Deleting"
	stateUpdating  = "Updating"
	stateSucceeded = "Succeeded"
	stateFailed    = "Failed"
	stateCanceled  = "Canceled"
)

const (
	// powerMark is the prefix of the status with the power state.
	powerMark = "PowerState/"
	// powerDeallocated is the power state of a machine without a host, such as an evicted one.
	powerDeallocated = "deallocated"
)

// machine is one machine of the scale set in either mode. Exactly one of uniform and flexible is set.
type machine struct {
	id string
	// uid is its vmId: a scale set that is deleted and created again gives the same instance IDs to other machines.
	uid      string
	uniform  *armcompute.VirtualMachineScaleSetVM
	flexible *armcompute.VirtualMachine
	tags     map[string]*string
	// provisioning is its provisioning state, power its power state without the mark; empty when that is not known.
	provisioning, power string
	zone                string
	created             time.Time
	// protected is true if it is protected from scale-in, protectionUnknown if it could not be read which machines are.
	protected, protectionUnknown bool
	// assumed is true if its removal was accepted and no list shows it yet.
	assumed bool
	// statuses are those of its instance view, followed by those of its extensions.
	statuses []*armcompute.InstanceViewStatus
}

func uniformMachine(vm *armcompute.VirtualMachineScaleSetVM, skew time.Duration) machine {
	m := machine{id: idOf(vm), uniform: vm, tags: vm.Tags, protected: guarded(vm)}
	var domain *int32
	if is := vm.Properties; is != nil {
		m.provisioning, m.created, m.uid = ptr.Deref(is.ProvisioningState, ""), session.OurTime(is.TimeCreated, skew), ptr.Deref(is.VMID, "")
		if view := is.InstanceView; view != nil {
			domain, m.statuses = view.PlatformFaultDomain, allStatuses(view.Statuses, view.Extensions)
		}
	}
	return m.in(vm.Zones, domain)
}

func flexibleMachine(vm *armcompute.VirtualMachine, skew time.Duration) machine {
	m := machine{id: ptr.Deref(vm.Name, ""), flexible: vm, tags: vm.Tags}
	var domain *int32
	if is := vm.Properties; is != nil {
		m.provisioning, m.created, domain = ptr.Deref(is.ProvisioningState, ""), session.OurTime(is.TimeCreated, skew), is.PlatformFaultDomain
		m.uid = ptr.Deref(is.VMID, "")
		if view := is.InstanceView; view != nil {
			if view.PlatformFaultDomain != nil {
				domain = view.PlatformFaultDomain
			}
			m.statuses = allStatuses(view.Statuses, view.Extensions)
		}
	}
	return m.in(vm.Zones, domain)
}

// in returns the machine with its failure domain, which is its zone or else its fault domain, and its power state.
func (m machine) in(zones []*string, domain *int32) machine {
	switch {
	case len(zones) > 0:
		m.zone = ptr.Deref(zones[0], "")
	case domain != nil:
		m.zone = "fd-" + strconv.Itoa(int(*domain))
	}
	for _, status := range m.statuses {
		if power, ok := strings.CutPrefix(ptr.Deref(status.Code, ""), powerMark); ok {
			m.power = power
		}
	}
	return m
}

func allStatuses(own []*armcompute.InstanceViewStatus,
	extensions []*armcompute.VirtualMachineExtensionInstanceView) []*armcompute.InstanceViewStatus {
	all := append([]*armcompute.InstanceViewStatus(nil), own...)
	for _, e := range extensions {
		all = append(all, e.Statuses...)
	}
	return all
}

// state returns the machine's state.
func (m machine) state() pool.InstanceState {
	switch m.provisioning {
	case stateDeleting:
		return pool.Terminating
	case "", stateCreating:
		return pool.Pending
	case stateFailed, stateCanceled:
		return pool.Failed
	}
	if m.stopped() != "" {
		return pool.Failed
	}
	return pool.Running
}

// stopped returns the power state of a machine that was created and no longer runs; empty for any other.
func (m machine) stopped() string {
	switch m.provisioning {
	case "", stateCreating, stateDeleting, stateFailed, stateCanceled:
		return ""
	}
	switch m.power {
	case "stopped", "stopping", "deallocating", powerDeallocated:
		return m.power
	}
	return ""
}

// idOf returns a machine's ID within its scale set: a number, or the name of its virtual machine.
func idOf(vm *armcompute.VirtualMachineScaleSetVM) string {
	if vm.InstanceID != nil {
		return *vm.InstanceID
	}
	return ptr.Deref(vm.Name, "")
}

// guarded reports whether Azure does not choose the machine when the scale set is made smaller.
func guarded(vm *armcompute.VirtualMachineScaleSetVM) bool {
	return vm.Properties != nil && vm.Properties.ProtectionPolicy != nil && ptr.Deref(vm.Properties.ProtectionPolicy.ProtectFromScaleIn, false)
}
