package agentpool

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/upgrade"
)

// The words of AKS and compute that code depends on.
const (
	stateCreating  = "Creating"
	stateDeleting  = "Deleting"
	stateSucceeded = "Succeeded"
	stateFailed    = "Failed"
	stateCanceled  = "Canceled"
	// stateDeletingMachines is that of an agent pool of which chosen machines are being drained and deleted.
	stateDeletingMachines = "DeletingMachines"

	modeSystem     = "System"
	modeDeallocate = "Deallocate"
	powerMark      = "PowerState/"
	provisionMark  = "ProvisioningState/"
	stateUpdating  = "Updating"
)

// machine is one machine of the agent pool.
type machine struct {
	// name is the machine's name in AKS, which is also the name of its Node.
	name, id, uid, zone string
	// size is its VM size.
	size string
	// provisioning is its provisioning state, power its power state without the mark; empty when that is not known.
	provisioning, power string
	created             time.Time
	// renewed is when Azure last provisioned it, as it does to reimage a machine: AKS upgrades those of scale sets so. Zero where that is
	// unknown.
	renewed time.Time
	// image is the node image that it was made from; empty where that is unknown.
	image nodeImage
	// runs is the version of Kubernetes that AKS made it with; zero where it does not tell.
	runs upgrade.Version
	// latest is false if the scale set's model has changed since the machine was made or reimaged.
	latest bool
}

func scaleSetMachine(vm *armcompute.VirtualMachineScaleSetVM, now time.Time, skew time.Duration) machine {
	m := machine{id: ptr.Deref(vm.ID, ""), latest: true}
	if vm.SKU != nil {
		m.size = ptr.Deref(vm.SKU.Name, "")
	}
	if len(vm.Zones) > 0 {
		m.zone = ptr.Deref(vm.Zones[0], "")
	}
	if is := vm.Properties; is != nil {
		m.uid, m.provisioning, m.created = ptr.Deref(is.VMID, ""), ptr.Deref(is.ProvisioningState, ""), session.OurTime(is.TimeCreated, skew)
		m.latest = is.LatestModelApplied == nil || *is.LatestModelApplied
		if is.StorageProfile != nil {
			m.image = imageOf(is.StorageProfile.ImageReference)
		}
		if is.OSProfile != nil {
			m.name = strings.ToLower(ptr.Deref(is.OSProfile.ComputerName, ""))
		}
		if is.InstanceView != nil {
			m.power, m.renewed = powerOf(is.InstanceView.Statuses), provisionedAt(is.InstanceView.Statuses, skew)
		}
		if m.provisioning == stateUpdating {
			m.renewed = now
		}
	}
	m.name = cmp.Or(m.name, ptr.Deref(vm.Name, ""))
	return m
}

func virtualMachine(vm *armcompute.VirtualMachine, skew time.Duration) machine {
	m := machine{name: ptr.Deref(vm.Name, ""), id: ptr.Deref(vm.ID, ""), latest: true,
		runs: reported(strings.TrimPrefix(tagOf(vm.Tags, tagVersion), versionMark))}
	if len(vm.Zones) > 0 {
		m.zone = ptr.Deref(vm.Zones[0], "")
	}
	if is := vm.Properties; is != nil {
		m.uid, m.provisioning, m.created = ptr.Deref(is.VMID, ""), ptr.Deref(is.ProvisioningState, ""), session.OurTime(is.TimeCreated, skew)
		if is.StorageProfile != nil {
			m.image = imageOf(is.StorageProfile.ImageReference)
		}
		if is.HardwareProfile != nil {
			m.size = string(ptr.Deref(is.HardwareProfile.VMSize, ""))
		}
		if is.InstanceView != nil {
			m.power = powerOf(is.InstanceView.Statuses)
		}
	}
	return m
}

func powerOf(statuses []*armcompute.InstanceViewStatus) string {
	for _, status := range statuses {
		if power, ok := strings.CutPrefix(ptr.Deref(status.Code, ""), powerMark); ok {
			return power
		}
	}
	return ""
}

// provisionedAt returns when the last provisioning of a machine ended; zero where that is unknown.
func provisionedAt(statuses []*armcompute.InstanceViewStatus, skew time.Duration) time.Time {
	for _, status := range statuses {
		if strings.HasPrefix(ptr.Deref(status.Code, ""), provisionMark) {
			return session.OurTime(status.Time, skew)
		}
	}
	return time.Time{}
}

// deallocated reports whether the machine has no host: it was scaled in by an agent pool that keeps machines, or its pool was stopped.
func (m machine) deallocated() bool { return m.power == "deallocated" || m.power == "deallocating" }

// off reports whether the machine is powered off, on its host or without one.
func (m machine) off() bool { return m.power == "stopped" || m.deallocated() }

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
	if m.off() {
		return pool.Failed
	}
	return pool.Running
}

// members divides the machines: those that AKS counts, and those that are deallocated without having failed, because the agent pool keeps
// machines that are scaled in or was stopped.
func (r clusterRead) members() (members, kept []machine) {
	keeps := r.pool != nil && r.pool.keepsMachines()
	for _, m := range r.machines {
		if keeps && m.deallocated() {
			kept = append(kept, m)
		} else {
			members = append(members, m)
		}
	}
	return members, kept
}

// instances returns the machines in pool's words, in the order in which they were created. leaving are those that AKS drains to delete
// them, imageField is the object's field that asks for a newer node image.
func (r clusterRead) instances(members []machine, launched configuration, leaving map[string]bool, imageField string) []pool.Instance {
	list := make([]pool.Instance, 0, len(members))
	for _, m := range members {
		is := r.configurationOf(m, launched)
		i := pool.Instance{
			ID: m.name, ProviderID: providerID(m.id), UID: m.uid, Zone: m.zone, Template: is.template(), State: m.state(),
			CloudState: m.provisioning, Created: m.created, Renewed: m.renewed,
		}
		if is.outdated != "" && is.renewed().template().Same(launched.renewed().template()) {
			i.TemplateDiff = []string{imageField}
		}
		switch {
		case leaving[m.name]:
			i.State = pool.Terminating
		case i.State == pool.Failed && m.off():
			i.Stopped = m.power
		}
		list = append(list, i)
	}
	driverkit.SortByAge(list)
	return list
}

// configurationOf returns the configuration that a machine has. Its size is its own. AKS does not tell its version: while it runs an older
// one than it was asked for, those machines have it that were made from another model of the scale set, or all before there is another one.
func (r clusterRead) configurationOf(m machine, launched configuration) configuration {
	out := configuration{version: launched.version, rolls: maps.Clone(launched.rolls), outdated: launched.outdated, oldest: launched.oldest}
	if m.image != "" {
		out = out.on(m.image)
	}
	if _, named := out.rolls[body.VMSize]; named && m.size != "" {
		out.rolls[body.VMSize] = strings.ToLower(m.size)
	}
	if m.runs.Known() {
		if m.runs.Compare(launched.version) != 0 {
			out.version = m.runs
		}
		return out
	}
	others := slices.ContainsFunc(r.machines, func(o machine) bool { return !o.latest })
	if old := reported(r.pool.text("currentOrchestratorVersion")); old.Known() && old.Compare(launched.version) != 0 && (!m.latest ||
		!others) {
		out.version = old
	}
	return out
}

// tagOf returns the value of a tag; empty without one.
func tagOf(tags map[string]*string, name string) string {
	for key, value := range tags {
		if strings.EqualFold(key, name) {
			return ptr.Deref(value, "")
		}
	}
	return ""
}
