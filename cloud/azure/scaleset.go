package azure

import (
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// setRead is the scale set with its machines as they were read; is is nil if it did not exist.
type setRead struct {
	is       *armcompute.VirtualMachineScaleSet
	machines []machine
	attached attachedVMs
	// created is when the scale set was created, by the controller's clock.
	created time.Time
	// at and machinesAt are the start times of the reads of the scale set and of its machines, skew is the lead of Azure's clock.
	at, machinesAt time.Time
	skew           time.Duration
	named          driverkit.NamedGroup
	former         driverkit.FormerGroup
}

// oldest returns when the older of the two reads began.
func (r setRead) oldest() time.Time {
	if r.machinesAt.IsZero() || r.at.Before(r.machinesAt) {
		return r.at
	}
	return r.machinesAt
}

// capacity returns the requested number of the scale set's own machines.
func (r setRead) capacity() int {
	return max(0, model.Read(*r.is).Capacity()-staying(r.attached))
}

// existing returns how many machines exist that are not being deleted.
func (r setRead) existing() int { return staying(r.machines) }

// staying returns how many machines of a list are not being deleted.
func staying(list []machine) int {
	n := 0
	for _, m := range list {
		if m.state() != pool.Terminating {
			n++
		}
	}
	return n
}

// lacking reports whether more machines were requested than exist, and Azure gave up.
func (r setRead) lacking() bool {
	return gaveUp(stateOf(r.is)) && r.existing() < r.capacity()
}

// size returns the number of machines that the scale set keeps: the requested number, or the existing one once Azure gave up creating the
// rest.
func (r setRead) size() int {
	if r.lacking() {
		return r.existing()
	}
	return r.capacity()
}

// withAttached returns the capacity of the scale set with that many machines of its own. Azure counts attached machines as well: with a
// capacity that leaves them out it would choose machines to delete.
func (r setRead) withAttached(size int) int { return size + staying(r.attached) }

// members returns those of the targets that exist and are not being deleted.
func (r setRead) members(targets []pool.InstanceRef) []machine {
	var list []machine
	for _, t := range targets {
		for _, m := range r.machines {
			if m.id == t.ID && m.state() != pool.Terminating {
				list = append(list, m)
			}
		}
	}
	return list
}

// version returns the one model that the scale set has.
func (r setRead) version(want desired) pool.Template {
	current := model.Read(*r.is)
	content := current.Content
	if want.against != nil {
		content = want.against.State.Content
	}
	return pool.Template{Ref: model.Ref(content, current.Data), Content: content, Data: current.Data}
}

// creations returns when the machines of a Uniform scale set were created, as far as it is known, and since when none can be of its present
// model once that is replaced: from now on where machines are yet to be shown, and otherwise from behind the last one. Both are by Azure's
// clock, which is known to the second.
func (r setRead) creations(now time.Time) (created []time.Time, until time.Time) {
	shown := 0
	for _, m := range r.machines {
		if m.created.IsZero() {
			continue
		}
		at := m.created.Add(r.skew)
		created = append(created, at)
		if m.state() != pool.Terminating {
			shown++
		}
		if next := at.Add(model.Instant); next.After(until) {
			until = next
		}
	}
	if soon := now.Add(r.skew); shown < r.capacity() && soon.After(until) {
		until = soon
	}
	return created, until
}

// extending returns what Azure does to machines of a Flexible scale set while it changes their extensions: their tags are written
// afterwards, and until then nothing shows that the machines have them.
func (r setRead) extending(want desired) *pool.Cause {
	if want.against == nil || !flexible(r.is) {
		return nil
	}
	for _, m := range r.machines {
		if m.provisioning == stateUpdating && slices.Contains(m.made(want.against).InPlaceDrift, model.FieldExtensions) {
			return &pool.Cause{Reason: stateUpdating, Message: "Azure is changing the extensions of machines"}
		}
	}
	return nil
}

// stateOf returns a scale set's provisioning state.
func stateOf(is *armcompute.VirtualMachineScaleSet) string {
	if is.Properties == nil {
		return ""
	}
	return ptr.Deref(is.Properties.ProvisioningState, "")
}

// flexible reports whether an existing scale set is in mode Flexible, whatever the specification asks for now.
func flexible(is *armcompute.VirtualMachineScaleSet) bool {
	return is.Properties != nil && is.Properties.OrchestrationMode != nil &&
		strings.EqualFold(string(*is.Properties.OrchestrationMode), string(armcompute.OrchestrationModeFlexible))
}
