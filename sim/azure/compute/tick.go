package compute

import (
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/fleet"
)

// tickMachine brings one machine to the present.
func (w *life) tickMachine(key string, m *machine) time.Time {
	if core.Due(m.ReclaimAt, w.Now) {
		w.evict(m)
	}
	if core.Due(m.StopsAt, w.Now) {
		m.StopsAt = time.Time{}
		w.off(m)
		w.touch(m)
	}
	if core.Due(m.PowerAt, w.Now) {
		m.PowerAt, m.Power = time.Time{}, powerRunning
		w.machines.PowerOn(key)
		w.touch(m)
	}
	if core.Due(m.DoneAt, w.Now) {
		m.DoneAt = time.Time{}
		if m.State == stateDeleting {
			w.machines.Delete(key)
			return time.Time{}
		}
		m.State, m.Trouble, m.Settled = stateSucceeded, nil, w.Now
		if m.Fails != nil {
			m.State, m.Trouble, m.Fails = stateFailed, m.Fails, nil
		}
		m.Version++
		w.touch(m)
	}
	return core.Earliest(m.ReclaimAt, m.StopsAt, m.PowerAt, m.DoneAt)
}

// evict takes a spot machine back: it is stopped, or deleted where the policy says so, and counted no more.
func (w *life) evict(m *machine) {
	m.ReclaimAt = time.Time{}
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
func (w *life) uncount(s *scaleSet, n int) {
	document.Place(s.Doc, "sku.capacity", float64(max(0, s.capacity()-n)))
	w.changed(s)
}

// Power tells the machine host what has become of their machines.
func (w *Service) Power() { w.machines.Power() }

// guest is what a machine learns from its firmware, its image and its metadata service.
func (w *life) guest(m *machine) sim.Machine {
	s := w.sets.Get(m.Set)
	g := sim.Machine{
		Cloud: "azure", Region: m.Location, Zone: m.Zone, ID: m.UID, ProviderID: w.providerID(s, m), FaultDomain: itoa(m.Fault),
		Hostname: strings.ToLower(m.Computer), Address: m.Address,
		Type: m.Type, Launched: w.Now, UserData: fleet.UserData(w.blobs.Kept(m.Blob)),
		KubeletVersion: w.models.kubelet(document.Under(m.Profile, "storageProfile.imageReference")),
	}
	if s != nil && w.NodeOf != nil {
		if managed, version := w.NodeOf(nodeOf(s, m)); managed != nil {
			g.Managed, g.KubeletVersion = managed, version
		}
	}
	if size := sizeOf(m.Type); size != nil {
		g.CPUs, g.MemoryMiB = size.cpus, int(size.memoryGB*1024)
	}
	return g
}

// providerID is what a kubelet reports with the cloud provider of Azure: the resource group in small letters.
func (w *life) providerID(s *scaleSet, m *machine) string {
	group := strings.ToLower(m.Group)
	if m.Flexible || s == nil {
		return "azure://" + arm.ResourceID(m.Sub, group, "Microsoft.Compute/virtualMachines", m.Name)
	}
	return "azure://" + arm.ResourceID(m.Sub, group, "Microsoft.Compute/virtualMachineScaleSets", s.Name) + "/virtualMachines/" + m.Instance
}
