package core

import (
	"encoding/json"
	"time"

	"github.com/muster-project/muster/sim"
)

// Environment is shared by the current and all earlier states of a simulator.
type Environment struct {
	// Seed initializes IDs, jitter and random choices.
	Seed   sim.Seed
	Speed  sim.Speed
	Faults *sim.Faults
	// Switches are the enabled switches.
	Switches sim.Switches
	// Host runs the machines' software; nil runs none.
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

// Life converts a duration of the real cloud to one of the simulation.
func (e *Environment) Life(d time.Duration) time.Duration { return e.Speed.Of(d) }

// State is shared by the services of a cloud: the clock and the numbering. Operations run one at a time.
type State struct {
	*Environment
	// Now is the time of the current operation.
	Now time.Time
	// PageLimit is the maximum number of items on a page of the current read; zero keeps the operation's own limit.
	PageLimit int
	// Sequences holds the numbering.
	Sequences *Table[Sequence]
}

// NewState returns an empty state, whose rows have the prefix in a store.
func NewState(e *Environment, prefix string) *State {
	return &State{Environment: e, Sequences: NewTable[Sequence](prefix + "sequence/")}
}

// Enter sets the time and the page limit of the next operation.
func (c *State) Enter(now time.Time, pageLimit int) { c.Now, c.PageLimit = now, pageLimit }

// Sequence numbers the resources that the cloud creates.
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
