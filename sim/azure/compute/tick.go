package compute

import (
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

// tickMachine brings one machine to the present.
func (w *fleet) tickMachine(key string, m *machine) time.Time {
	if core.Due(m.EvictAt, w.Now) {
		w.evict(m)
	}
	if core.Due(m.StopsAt, w.Now) {
		m.StopsAt = time.Time{}
		w.off(m)
		w.touch(m)
	}
	if core.Due(m.PowerAt, w.Now) {
		m.PowerAt, m.Power = time.Time{}, powerRunning
		m.Boots++
		w.powerOn = append(w.powerOn, key)
		w.touch(m)
	}
	if core.Due(m.DoneAt, w.Now) {
		m.DoneAt = time.Time{}
		if m.State == stateDeleting {
			w.machines.Delete(key)
			return time.Time{}
		}
		m.State, m.Trouble, m.Settled = stateSucceeded, nil, w.Now
		if m.Fate != nil {
			m.State, m.Trouble, m.Fate = stateFailed, m.Fate, nil
		}
		m.Version++
		w.touch(m)
	}
	next := time.Time{}
	for _, at := range []time.Time{m.EvictAt, m.StopsAt, m.PowerAt, m.DoneAt} {
		if !at.IsZero() {
			next = core.Earliest(next, at)
		}
	}
	return next
}

// evict takes a spot machine back: it is stopped, or deleted where the policy says so, and counted no more.
func (w *fleet) evict(m *machine) {
	m.EvictAt = time.Time{}
	if strings.EqualFold(m.Eviction, "Delete") {
		if s := w.sets.Get(m.Set); s != nil {
			w.uncount(s, 1)
		}
		w.remove(m)
		return
	}
	w.off(m)
	m.Power = powerDeallocated
	m.PowerAt, m.StopsAt = time.Time{}, time.Time{}
	w.touch(m)
}

// uncount lowers a scale set's capacity by machines that are deleted by themselves.
func (w *fleet) uncount(s *scaleSet, n int) {
	document.Place(s.Doc, "sku.capacity", float64(max(0, s.capacity()-n)))
	w.changed(s)
}

// Power tells the machine host what has become of their machines.
func (w *Service) Power() {
	on, off := w.powerOn, w.powerOff
	w.powerOn, w.powerOff = nil, nil
	if w.Host == nil {
		return
	}
	for _, id := range off {
		w.Host.PowerOff(id)
	}
	for _, key := range on {
		if m := w.machines.Get(key); m != nil && m.Power == powerRunning && !m.NeverBoots {
			w.Host.PowerOn(w.fleet.guest(m))
		}
	}
}

// guest is what a machine learns from its firmware, its image and its metadata service.
func (w *fleet) guest(m *machine) sim.Machine {
	s := w.sets.Get(m.Set)
	g := sim.Machine{
		Cloud: "azure", Region: m.Location, Zone: m.Zone, ID: m.UID, ProviderID: w.providerID(s, m), FaultDomain: itoa(m.Fault),
		Hostname: strings.ToLower(m.Computer), Address: m.Address,
		Type: m.Size, Launched: w.Now, UserData: w.userData(m),
		KubeletVersion: w.models.kubelet(document.Under(m.Profile, "storageProfile.imageReference")),
	}
	if s != nil && w.NodeOf != nil {
		if managed, version := w.NodeOf(nodeOf(s, m)); managed != nil {
			g.Managed, g.KubeletVersion = managed, version
		}
	}
	if size := sizeOf(m.Size); size != nil {
		g.CPUs, g.MemoryMiB = size.cpus, int(size.memoryGB*1024)
	}
	return g
}

// providerID is what a kubelet reports with the cloud provider of Azure: the resource group in small letters.
func (w *fleet) providerID(s *scaleSet, m *machine) string {
	group := strings.ToLower(m.Group)
	if m.Flexible || s == nil {
		return "azure://" + arm.ResourceID(m.Sub, group, "Microsoft.Compute/virtualMachines", m.Name)
	}
	return "azure://" + arm.ResourceID(m.Sub, group, "Microsoft.Compute/virtualMachineScaleSets", s.Name) + "/virtualMachines/" + m.Instance
}
