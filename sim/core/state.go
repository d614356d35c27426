package core

import (
	"encoding/json"
	"time"

	"github.com/muster-project/muster/sim"
)

// Environment is what all that a simulator holds, now or earlier, shares.
type Environment struct {
	// Seed is where IDs, jitter and chances come from.
	Seed   sim.Seed
	Speed  sim.Speed
	Faults *sim.Faults
	// Switches are those that are on.
	Switches sim.Switches
	// Host runs what is inside machines; nil leaves them empty.
	Host sim.MachineHost
}

// Workload returns the host's view of nodes, nil if it has none.
func (e *Environment) Workload() sim.Workload {
	w, ok := e.Host.(sim.Workload)
	if !ok {
		return nil
	}
	return w
}

// Life returns how long something takes here that takes d in the real cloud.
func (e *Environment) Life(d time.Duration) time.Duration { return e.Speed.Of(d) }

// State is what the services of a cloud share: the clock and the numbering. Operations run one at a time.
type State struct {
	*Environment
	// Now is the time of the operation that runs.
	Now time.Time
	// PageLimit is how many items a page of the read that runs may hold; zero is no limit but the operation's own.
	PageLimit int
	// Sequences holds the numbering.
	Sequences *Table[Sequence]
}

// NewState returns an empty state, whose rows have the prefix in a store.
func NewState(e *Environment, prefix string) *State {
	return &State{Environment: e, Sequences: NewTable[Sequence](prefix + "sequence/")}
}

// Enter sets the time and the page limit of the operation that runs.
func (c *State) Enter(now time.Time, pageLimit int) { c.Now, c.PageLimit = now, pageLimit }

// Sequence numbers what the cloud makes.
type Sequence struct{ Last int64 }

// NextNumber returns the next number of a sequence.
func (c *State) NextNumber(of string) int64 { return Next(c.Sequences, of) }

// Next returns the next number of a sequence in a table.
func Next(sequences *Table[Sequence], of string) int64 {
	s := sequences.Get(of)
	if s == nil {
		s = &Sequence{}
		sequences.Put(of, s)
	}
	s.Last++
	sequences.Touch(of)
	return s.Last
}

// rows are a table of any type.
type rows interface {
	Load(docs map[string]json.RawMessage) error
	Flush(changes map[string]json.RawMessage) error
}

// Tables are loaded and written together.
type Tables []rows

// Load reads the rows of all tables from documents.
func (t Tables) Load(docs map[string]json.RawMessage) error {
	for _, one := range t {
		if err := one.Load(docs); err != nil {
			return err
		}
	}
	return nil
}

// Flush writes the rows that have changed.
func (t Tables) Flush(changes map[string]json.RawMessage) error {
	for _, one := range t {
		if err := one.Flush(changes); err != nil {
			return err
		}
	}
	return nil
}
