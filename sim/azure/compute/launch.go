package compute

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

// fill begins to make or to delete as many machines as the capacity asks for.
func (w *fleet) fill(s *scaleSet) {
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
func (w *fleet) surplus(s *scaleSet, have []*machine, n int) []*machine {
	rest := slices.DeleteFunc(slices.Clone(have), (*machine).protected)
	policy := "Default"
	if rules := document.Texts(s.Doc, "properties.scaleInPolicy.rules"); len(rules) > 0 {
		policy = rules[0]
	}
	counts, faults := map[string]int{}, map[int]int{}
	for _, m := range have {
		counts[m.Zone]++
		faults[m.Fault]++
	}
	var out []*machine
	for len(out) < n && len(rest) > 0 {
		m := slices.MinFunc(rest, func(a, b *machine) int {
			byFault := 0
			if policy == "Default" {
				byFault = cmp.Compare(faults[b.Fault], faults[a.Fault])
			}
			return cmp.Or(cmp.Compare(counts[b.Zone], counts[a.Zone]), byFault, byPolicy(policy, a, b))
		})
		counts[m.Zone]--
		faults[m.Fault]--
		rest = slices.DeleteFunc(rest, func(o *machine) bool { return o == m })
		out = append(out, m)
	}
	return out
}

// byPolicy orders machines by who goes first: the highest instance ID, or the newest, unless the policy wants the oldest.
func byPolicy(policy string, a, b *machine) int {
	if policy == "OldestVM" {
		return cmp.Compare(a.Number, b.Number)
	}
	return cmp.Compare(b.Number, a.Number)
}

// tickSet makes the machines that are due, and returns when the next one is.
func (w *fleet) tickSet(s *scaleSet) time.Time {
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
func (w *fleet) launch(s *scaleSet) *arm.Trouble {
	profile := document.Under(s.Doc, profilePath)
	m := &machine{
		Set: s.key(), Sub: s.Sub, Group: s.Group, Location: s.location(), Flexible: !s.uniform(), Number: s.Next, UID: w.UUID("machine"),
		State: stateCreating, Created: w.Now, Version: 1, Size: s.size(), Profile: document.Copied(profile), Blob: s.Blob, Model: s.Model,
		Tags: document.Pairs(s.Doc, "tags"), Spot: document.Text(profile, "priority") == "Spot",
		Eviction: cmp.Or(document.Text(profile, "evictionPolicy"), "Deallocate"),
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
func (w *fleet) nameMachine(s *scaleSet, m *machine) {
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
	m.Computer = prefix + fmt.Sprintf("%06s", strings.ToUpper(strconv.FormatInt(int64(m.Number), 36)))
}

// placeMachine finds a zone and a fault domain, and the faults that the machine meets there. Where one zone has nothing, another is tried,
// unless the zones must be in balance.
func (w *fleet) placeMachine(s *scaleSet, m *machine) ([]sim.Fault, *arm.Trouble) {
	have := w.staying(s)
	if zones := document.Texts(s.Doc, "zones"); len(zones) > 0 {
		return w.placeInZone(s, m, have, zones)
	}
	count, _ := document.Number(s.Doc, "properties.platformFaultDomainCount")
	counts := make([]int, max(1, count))
	for _, o := range have {
		counts[o.Fault%len(counts)]++
	}
	m.Fault = slices.Index(counts, slices.Min(counts))
	faults := w.facing(s, m)
	if _, none := core.FaultOf(faults, sim.NoCapacity); none {
		return nil, &arm.Trouble{Code: codeAllocation, Message: wordsAllocation}
	}
	return faults, nil
}

func (w *fleet) placeInZone(s *scaleSet, m *machine, have []*machine, zones []string) ([]sim.Fault, *arm.Trouble) {
	counts := map[string]int{}
	for _, o := range have {
		counts[o.Zone]++
	}
	order := slices.Clone(zones)
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(counts[a], counts[b]) })
	for _, z := range order {
		if document.Truth(s.Doc, "properties.zoneBalance") && counts[z] > counts[order[0]] {
			break
		}
		m.Zone = z
		faults := w.facing(s, m)
		if _, none := core.FaultOf(faults, sim.NoCapacity); !none {
			return faults, nil
		}
	}
	if len(zones) == 1 {
		return nil, &arm.Trouble{Code: codeZonal, Message: fmt.Sprintf(wordsZonal, zones[0])}
	}
	return nil, &arm.Trouble{Code: codeOverconstrained, Message: fmt.Sprintf(wordsOverconstrained, "Networking Constraints, VM Size",
		strings.Join(zones, ", "))}
}

// facing are the faults that a machine would meet.
func (w *fleet) facing(s *scaleSet, m *machine) []sim.Fault {
	return w.Faults.ForLaunch(sim.Launch{Zone: m.Zone, Type: m.Size, Group: s.Name, Existing: func(f sim.Fault) int {
		n := 0
		for _, o := range w.machines.All() {
			if o.State != stateDeleting && (f.Zone == "" || f.Zone == o.Zone) && (f.Type == "" || f.Type == o.Size) &&
				(f.Group == "" || strings.EqualFold(o.Set, s.key())) {
				n++
			}
		}
		return n
	}})
}

// doom plays the faults that a machine was made with.
func (w *fleet) doom(m *machine, faults []sim.Fault) {
	for _, f := range faults {
		switch f.Kind {
		case sim.NeverBoots:
			m.NeverBoots = true
		case sim.Impaired:
			m.Fate = &arm.Trouble{Code: cmp.Or(f.Code, codeOSTimeout), Message: cmp.Or(f.Message, fmt.Sprintf(wordsOSTimeout, m.Name))}
			if m.Fate.Code == codeExtension && f.Message == "" {
				m.Fate.Message = fmt.Sprintf(wordsExtension, "CAPZ.Linux.Bootstrapping", "Microsoft.Azure.ContainerUpstream",
					"CAPZ.Linux.Bootstrapping")
			}
			if m.Fate.Code == codeOSTimeout {
				m.NeverBoots, m.DoneAt = true, w.Now.Add(w.Life(lifeOSTimeout))
			}
		case sim.Dies:
			m.StopsAt = w.Now.Add(time.Duration(f.Delay))
		case sim.SpotInterruption:
			if m.Spot {
				m.EvictAt = w.Now.Add(time.Duration(f.Delay))
			}
		}
	}
}

// remove begins to delete a machine.
func (w *fleet) remove(m *machine) {
	if m.State == stateDeleting {
		return
	}
	m.State, m.DoneAt = stateDeleting, w.Now.Add(w.Life(lifeDelete))
	m.PowerAt, m.StopsAt, m.EvictAt = time.Time{}, time.Time{}, time.Time{}
	w.off(m)
	m.Version++
	w.touch(m)
}

// off stops what runs inside a machine.
func (w *fleet) off(m *machine) {
	if m.Power == powerRunning || m.Power == powerStarting {
		w.powerOff = append(w.powerOff, m.UID)
	}
	m.Power = powerStopped
}

// userData is a machine's custom data as it was before it was written in base64.
func (w *fleet) userData(m *machine) []byte {
	// It was checked when it was given; what cannot be decoded is an empty disk, as in life.
	raw, err := base64.StdEncoding.DecodeString(w.kept(m.Blob))
	if err != nil {
		return nil
	}
	return raw
}
