package project

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/muster-project/muster/sim"
)

// Environment is what all that a simulator holds, now or earlier, shares.
type Environment struct {
	// Seed is where IDs and chances come from.
	Seed   sim.Seed
	Speed  *sim.Speed
	Faults *sim.Faults
	// Host runs what is inside machines; nil leaves them empty.
	Host sim.MachineHost
	// Projects are the IDs of the projects that exist.
	Projects []string
}

// Workload returns the host's view of nodes, nil if it has none.
func (e *Environment) Workload() sim.Workload {
	w, ok := e.Host.(sim.Workload)
	if !ok {
		return nil
	}
	return w
}

// Core is what the services share: the clock, the numbering, and the operations. Operations of the API run one at a time.
type Core struct {
	*Environment
	// Now is the time of the operation that runs.
	Now time.Time
	// PageLimit is how many items a page of the read that runs may hold; zero is no limit but the list's own.
	PageLimit int
	// Sequences holds the numbering, Operations what was begun, Requests which operation a request ID began.
	Sequences  *sim.Table[Sequence]
	Operations *sim.Table[Operation]
	Requests   *sim.Table[Begun]
	// Outages are the scopes that can't be reached, such as zones/us-central1-a.
	Outages *sim.Table[Outage]
}

// Outage is a scope that can't be reached.
type Outage struct{ Scope string }

// NewCore returns an empty core.
func NewCore(e *Environment) *Core {
	return &Core{
		Environment: e, Sequences: sim.NewTable[Sequence]("sequence/"), Operations: sim.NewTable[Operation]("operation/"), Requests: sim.NewTable[Begun]("request/"),
		Outages: sim.NewTable[Outage]("outage/"),
	}
}

// Tables returns the tables of the core.
func (w *Core) Tables() Tables { return Tables{w.Sequences, w.Operations, w.Requests, w.Outages} }

// Table is a table of rows of any type.
type Table interface {
	Load(docs map[string]json.RawMessage) error
	Flush(changes map[string]json.RawMessage) error
}

// Tables are loaded and written together.
type Tables []Table

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

// Sequence numbers what the cloud makes.
type Sequence struct{ Last int64 }

// NextNumber returns the next number of a sequence.
func (w *Core) NextNumber(of string) int64 {
	s := w.Sequences.Get(of)
	if s == nil {
		s = &Sequence{}
		w.Sequences.Put(of, s)
	}
	s.Last++
	w.Sequences.Touch(of)
	return s.Last
}

// NewID returns the next ID of a resource: a number of nineteen digits, no two alike.
func (w *Core) NewID() uint64 {
	const first, span = uint64(1e18), uint64(8e18)
	n := w.NextNumber("id")
	return first + uint64(w.Seed.Chance("id", n)*float64(span))/1e6*1e6 + uint64(n)
}

// Unreachable returns the error for a request to a scope that can't be reached.
func Unreachable(scope string) *Error {
	return &Error{Status: 503, Reason: "backendError", State: "UNAVAILABLE", Message: "The scope '" + scope + "' can't be reached. Try again later."}
}

// Digits returns an ID as Google writes it: in JSON it is a string.
func Digits(id uint64) string { return strconv.FormatUint(id, 10) }

// Life returns how long something takes here that takes d in the real cloud.
func (w *Core) Life(d time.Duration) time.Duration { return w.Speed.Of(d) }

// Address returns the next private address of a network.
func (w *Core) Address() string {
	n := w.NextNumber("address") + 1 // the first addresses of a subnetwork are Google's
	return "10.128." + strconv.Itoa(int(n/250)%250) + "." + strconv.Itoa(int(n%250)+2)
}

// Due reports a time that is set and has come.
func Due(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

// Earliest returns the earlier of two times; the zero time stands for never.
func Earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Stamp returns a time as Compute Engine writes it.
func Stamp(t time.Time) string {
	return t.In(time.FixedZone("", -8*60*60)).Format("2006-01-02T15:04:05.000-07:00")
}
