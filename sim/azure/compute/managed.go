package compute

import (
	"strings"
	"time"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
)

// Node is a machine of a scale set as the provider that manages the scale set sees it.
type Node struct {
	// Set is the key of the scale set, Instance the machine's ID within it.
	Set, Instance, Name, UID, ID, Computer, Size, Zone, Address string
	// Image is the ID of the image that it was made from.
	Image string
	Tags  map[string]string
	// Running is true while it is powered on, Deallocated while its place is given back, Deleting while it is being deleted.
	Running, Deallocated, Deleting, NeverBoots bool
	// Settled is when its last change ended.
	Settled time.Time
	Trouble *arm.Trouble
}

// Nodes returns the machines of a scale set in the order in which they were made.
func (w *Service) Nodes(set string) []Node {
	s := w.sets.Get(set)
	if s == nil {
		return nil
	}
	var out []Node
	for _, m := range w.machinesOf(s) {
		out = append(out, nodeOf(s, m))
	}
	return out
}

func nodeOf(s *scaleSet, m *machine) Node {
	return Node{
		Set: s.key(), Instance: m.Instance, Name: m.Name, UID: m.UID, ID: m.id(s), Computer: strings.ToLower(m.Computer), Size: m.Type,
		Zone: m.Zone, Address: m.Address,
		Image: document.Text(m.Profile, "storageProfile.imageReference.id"), Tags: m.Tags, Running: m.Power == powerRunning,
		Deallocated: m.Power == powerDeallocated,
		Deleting:    m.State == stateDeleting, NeverBoots: m.NeverBoots, Settled: m.Settled, Trouble: m.Trouble,
	}
}

// PutManaged creates a scale set for another provider, or gives it another model. What the document says is not checked, and the machines
// that exist keep the model that they have. Alone makes virtual machines by themselves of it, which are in no scale set for clients.
func (w *Service) PutManaged(sub, group, name string, alone bool, d document.Object) {
	s := w.sets.Get(SetKey(sub, group, name))
	if s == nil {
		s = &scaleSet{
			ID: arm.ResourceID(sub, group, "Microsoft.Compute/virtualMachineScaleSets", name), Sub: sub, Group: group, Name: name, Created: w.Now,
			UID: w.UUID("scale set"), State: stateSucceeded, Alone: alone,
		}
		w.sets.Put(s.key(), s)
	} else {
		document.Place(d, "sku.capacity", float64(s.capacity()))
	}
	defaults(d)
	w.scaleSets.accept(s, d)
	w.changed(s)
}

// HasSet reports whether the scale set exists.
func (w *Service) HasSet(set string) bool { return w.sets.Get(set) != nil }

// GrowTo lets a scale set have at least so many machines.
func (w *Service) GrowTo(set string, n int) {
	if s := w.sets.Get(set); s != nil && !s.deleting() && s.capacity() < n {
		document.Place(s.Doc, "sku.capacity", float64(n))
		w.running.begin(s, opPatch)
		w.life.fill(s)
	}
}

// Remove deletes a machine of a scale set, whose capacity falls by one.
func (w *Service) Remove(set, instance string) {
	s, m := w.sets.Get(set), w.machines.Get(machineKey(set, instance))
	if s != nil && m != nil && m.State != stateDeleting {
		w.virtualMachines.deleteChosen(s, []*machine{m})
	}
}

// Reimage gives a machine of a scale set the model of now and a new disk, and starts it again. Its ID and its names stay.
func (w *Service) Reimage(set, instance string) {
	s, m := w.sets.Get(set), w.machines.Get(machineKey(set, instance))
	if s == nil || m == nil || m.State == stateDeleting {
		return
	}
	w.virtualMachines.upgrade(s, m)
	m.Blob, m.NeverBoots, m.Fails = s.Blob, false, nil // what it failed for went with its disk
	_, faults, _ := w.machines.Place([]string{m.Zone}, m.Type, s.Name)
	w.life.doom(m, faults)
	if m.Power != powerStarting {
		w.virtualMachines.reboot(m)
	}
}

// Release deallocates a machine of a scale set, Wake starts one again.
func (w *Service) Release(set, instance string) {
	if m := w.machines.Get(machineKey(set, instance)); m != nil && m.Power != powerDeallocated {
		w.life.off(m)
		m.Power, m.PowerAt = powerDeallocated, time.Time{}
		w.touch(m)
	}
}

// Wake starts a machine that was deallocated.
func (w *Service) Wake(set, instance string) {
	if m := w.machines.Get(machineKey(set, instance)); m != nil && m.Power == powerDeallocated {
		m.Power, m.PowerAt = powerStarting, w.Now.Add(w.Life(lifePower))
		w.touch(m)
	}
}

// DeleteManaged deletes a scale set with its machines.
func (w *Service) DeleteManaged(set string) {
	if s := w.sets.Get(set); s != nil && !s.deleting() {
		w.scaleSets.dropSet(s)
	}
}

// Failure returns why a scale set could not make its machines, and forgets the machines that are still to be made; nil where it could.
func (w *Service) Failure(set string) *arm.Trouble {
	s := w.sets.Get(set)
	if s == nil || s.busy() || s.Trouble == nil {
		return nil
	}
	return s.Trouble
}

// Adjust lets the capacity be what there is: what could not be made is not wanted any more.
func (w *Service) Adjust(set string) {
	if s := w.sets.Get(set); s != nil && !s.deleting() {
		document.Place(s.Doc, "sku.capacity", float64(len(w.staying(s))))
		s.Launches, s.Trouble, s.Lacking = 0, nil, nil
		w.changed(s)
	}
}

// KnownSize reports whether a size of machines is on offer.
func KnownSize(name string) bool { return sizeOf(name) != nil }
