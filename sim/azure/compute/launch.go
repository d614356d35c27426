package compute

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/fleet"
)

// fill begins to make or to delete as many machines as the capacity asks for.
func (w *life) fill(s *scaleSet) {
	have := w.staying(s)
	switch n := s.capacity() - len(have); {
	case n > 0:
		if s.Launches == 0 {
			s.LaunchAt = w.Now
		}
		s.Launches = n
	case n < 0:
		s.Launches = 0
		for _, m := range w.surplus(s, have, -n) {
			w.running.wait(s, m)
			w.remove(m)
		}
		// What is protected stays, and is counted.
		document.Place(s.Doc, "sku.capacity", float64(len(w.staying(s))))
	default:
		s.Launches = 0
	}
}

// surplus chooses n machines to delete, in the order that the scale set's policy gives: zones are balanced first, then fault domains.
func (w *life) surplus(s *scaleSet, have []*machine, n int) []*machine {
	policy := "Default"
	if rules := document.Texts(s.Doc, "properties.scaleInPolicy.rules"); len(rules) > 0 {
		policy = rules[0]
	}
	open := slices.DeleteFunc(slices.Clone(have), (*machine).protected)
	return fleet.Surplus(have, open, n, func(stay []*machine) func(a, b *machine) int {
		zones, faults := fleet.SpreadOf(stay), map[int]int{}
		for _, m := range stay {
			if policy == "Default" {
				faults[m.Fault]++
			}
		}
		return func(a, b *machine) int {
			return cmp.Or(zones.ByMost(a.Zone, b.Zone), cmp.Compare(faults[b.Fault], faults[a.Fault]), byPolicy(policy, a, b))
		}
	})
}

// byPolicy orders machines by who goes first: the highest instance ID, or the newest, unless the policy wants the oldest.
func byPolicy(policy string, a, b *machine) int {
	if policy == "OldestVM" {
		return cmp.Compare(a.Number, b.Number)
	}
	return cmp.Compare(b.Number, a.Number)
}

// tickSet makes the machines that are due, and returns when the next one is.
func (w *life) tickSet(s *scaleSet) time.Time {
	for s.Launches > 0 && core.Due(s.LaunchAt, w.Now) {
		s.Launches--
		s.LaunchAt = s.LaunchAt.Add(w.Life(lifeLaunchGap))
		if t := w.launch(s); t != nil {
			s.Launches, s.Trouble = 0, t
		}
		w.sets.Touch(s.key())
	}
	if s.Launches > 0 {
		return s.LaunchAt
	}
	return time.Time{}
}

// launch makes one machine, or says why there is none to be had.
func (w *life) launch(s *scaleSet) *arm.Trouble {
	profile := document.Under(s.Doc, profilePath)
	m := &machine{
		Machine: fleet.Machine{Number: s.Next, Type: s.size(), Spot: document.Text(profile, "priority") == "Spot"},
		Set:     s.key(), Sub: s.Sub, Group: s.Group, Location: s.location(), Flexible: !s.uniform(), UID: w.UUID("machine"),
		State: stateCreating, Created: w.Now, Version: 1, Profile: document.Copied(profile), Blob: s.Blob, Model: s.Model,
		Tags: document.Pairs(s.Doc, "tags"), Eviction: cmp.Or(document.Text(profile, "evictionPolicy"), "Deallocate"),
	}
	faults, t := w.placeMachine(s, m)
	if t != nil {
		return t
	}
	s.Next++
	w.nameMachine(s, m)
	m.Address = w.Address()
	m.Power = powerStarting
	m.PowerAt, m.DoneAt = w.Now.Add(w.Life(lifePower)), w.Now.Add(w.Life(lifeProvision))
	w.doom(m, faults)
	w.machines.Put(machineKey(m.Set, m.Instance), m)
	w.running.wait(s, m)
	return nil
}

// nameMachine gives a machine its names, in the way of its mode.
func (w *life) nameMachine(s *scaleSet, m *machine) {
	prefix := document.Text(s.Doc, profilePath+".osProfile.computerNamePrefix")
	if s.Alone {
		m.Name = s.Name + itoa(m.Number)
		m.Instance, m.Computer = m.Name, m.Name
		return
	}
	if m.Flexible {
		digits := strconv.FormatUint(uint64(w.Seed.Chance("computer", s.UID, m.Number)*(1<<40)), 36)
		m.Name = s.Name + "_" + w.Seed.Hex(8, "name", s.UID, m.Number)
		m.Instance = m.Name
		m.Computer = prefix + strings.ToUpper((digits + "000000")[:6])
		return
	}
	m.Instance = itoa(m.Number)
	m.Name = s.Name + "_" + m.Instance
	m.Computer = prefix + fmt.Sprintf("%06s", strings.ToUpper(strconv.FormatInt(m.Number, 36)))
}

// placeMachine finds a zone and a fault domain, and the faults that the machine meets there. Where one zone has nothing, another is tried,
// unless the zones must be in balance.
func (w *life) placeMachine(s *scaleSet, m *machine) ([]sim.Fault, *arm.Trouble) {
	have, zones := w.staying(s), document.Texts(s.Doc, "zones")
	order := []string{""}
	if len(zones) > 0 {
		counts := fleet.SpreadOf(have)
		order = counts.Emptiest(zones)
		if least := counts[order[0]]; document.Truth(s.Doc, "properties.zoneBalance") {
			order = slices.DeleteFunc(order, func(z string) bool { return counts[z] > least })
		}
	} else {
		count, _ := document.Number(s.Doc, "properties.platformFaultDomainCount")
		counts := make([]int, max(1, count))
		for _, o := range have {
			counts[o.Fault%len(counts)]++
		}
		m.Fault = slices.Index(counts, slices.Min(counts))
	}
	zone, faults, full := w.machines.Place(order, m.Type, s.Name)
	m.Zone = zone
	switch {
	case full == nil:
		return faults, nil
	case len(zones) == 0:
		return nil, &arm.Trouble{Code: codeAllocation, Message: wordsAllocation}
	case len(zones) == 1:
		return nil, &arm.Trouble{Code: codeZonal, Message: fmt.Sprintf(wordsZonal, zones[0])}
	}
	return nil, &arm.Trouble{Code: codeOverconstrained, Message: fmt.Sprintf(wordsOverconstrained, "Networking Constraints, VM Size",
		strings.Join(zones, ", "))}
}

// doom plays the faults that a machine was made with.
func (w *life) doom(m *machine, faults []sim.Fault) {
	m.Disrupt(faults, m.Spot, w.Now)
	f, impaired := core.FaultOf(faults, sim.Impaired)
	if !impaired {
		return
	}
	m.Fails = &arm.Trouble{Code: cmp.Or(f.Code, codeOSTimeout), Message: cmp.Or(f.Message, fmt.Sprintf(wordsOSTimeout, m.Name))}
	if m.Fails.Code == codeExtension && f.Message == "" {
		m.Fails.Message = fmt.Sprintf(wordsExtension, "CAPZ.Linux.Bootstrapping", "Microsoft.Azure.ContainerUpstream",
			"CAPZ.Linux.Bootstrapping")
	}
	if m.Fails.Code == codeOSTimeout {
		m.NeverBoots, m.DoneAt = true, w.Now.Add(w.Life(lifeOSTimeout))
	}
}

// remove begins to delete a machine.
func (w *life) remove(m *machine) {
	if m.State == stateDeleting {
		return
	}
	m.State, m.DoneAt = stateDeleting, w.Now.Add(w.Life(lifeDelete))
	m.PowerAt, m.StopsAt, m.ReclaimAt = time.Time{}, time.Time{}, time.Time{}
	w.off(m)
	m.Version++
	w.touch(m)
}

// off stops what runs inside a machine.
func (w *life) off(m *machine) {
	if m.Power == powerRunning || m.Power == powerStarting {
		w.machines.PowerOff(m.UID)
	}
	m.Power = powerStopped
}
