package fleet

import (
	"cmp"
	"slices"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
)

// Row is a pointer to a row of a table that embeds a Machine and its Disruptions.
type Row[R any] interface {
	*R
	Member
	disrupted
}

// Machines is a table of machines. Machines are powered on and off at the MachineHost once the state is on disk.
type Machines[R any, M Row[R]] struct {
	*core.Table[R]
	state *core.State
	kind  Kind[M]
	// on are the keys of the machines to power on, off the IDs of the machines to power off.
	on, off []string
}

// Kind holds the functions by which the machines of clouds differ.
type Kind[M any] struct {
	// Group returns the name of a machine's group that faults match, empty for a machine without a group.
	Group func(M) string
	// Occupies reports whether a machine uses capacity of its zone, Runs whether it is powered on.
	Occupies, Runs func(M) bool
	// Guest describes a machine to the MachineHost.
	Guest func(M) sim.Machine
}

// New returns an empty table, whose rows have the prefix in a store.
func New[R any, M Row[R]](state *core.State, prefix string, kind Kind[M]) *Machines[R, M] {
	return &Machines[R, M]{Table: core.NewTable[R](prefix), state: state, kind: kind}
}

// Of returns the machines whose keys have the prefix, such as those of a group, in the order of their numbers.
func (s *Machines[R, M]) Of(prefix string) []M {
	var out []M
	for _, row := range s.Under(prefix) {
		out = append(out, row)
	}
	return ByNumber(out)
}

// ByNumber sorts rows by their numbers, and returns them.
func ByNumber[M Member](rows []M) []M {
	slices.SortStableFunc(rows, func(a, b M) int { return cmp.Compare(a.machine().Number, b.machine().Number) })
	return rows
}

// Place returns the first of the zones that has capacity for a machine of a type and a group, and the faults of a launch there. full is the
// sim.NoCapacity of the last zone if no zone has capacity.
func (s *Machines[R, M]) Place(zones []string, kind, group string) (zone string, faults []sim.Fault, full *sim.Fault) {
	for _, zone = range zones {
		faults = s.state.Faults.ForLaunch(sim.Launch{Zone: zone, Type: kind, Group: group, Existing: s.occupied})
		refused, none := core.FaultOf(faults, sim.NoCapacity)
		if !none {
			return zone, faults, nil
		}
		full = &refused
	}
	return zone, faults, full
}

// occupied iterates over the machines that use capacity.
func (s *Machines[R, M]) occupied(yield func(sim.Launch) bool) {
	for _, row := range s.All() {
		m := M(row)
		if s.kind.Occupies(m) && !yield(sim.Launch{Zone: m.machine().Zone, Type: m.machine().Type, Group: s.kind.Group(m)}) {
			return
		}
	}
}

// PowerOn powers on the machine with a key at the next Power.
func (s *Machines[R, M]) PowerOn(key string) { s.on = append(s.on, key) }

// PowerOff powers off the machine with an ID at the next Power.
func (s *Machines[R, M]) PowerOff(id string) { s.off = append(s.off, id) }

// Resume powers on again the machines that ran.
func (s *Machines[R, M]) Resume() {
	for key, row := range s.All() {
		if s.kind.Runs(row) {
			s.PowerOn(key)
		}
	}
}

// Power powers machines on and off at the MachineHost. Machines that have stopped since PowerOn stay off.
func (s *Machines[R, M]) Power() {
	on, off := s.on, s.off
	s.on, s.off = nil, nil
	if s.state.Host == nil {
		return
	}
	for _, id := range off {
		s.state.Host.PowerOff(id)
	}
	for _, key := range on {
		if row := s.Get(key); row != nil && s.kind.Runs(row) && !M(row).disruptions().NeverBoots {
			s.state.Host.PowerOn(s.kind.Guest(row))
		}
	}
}
