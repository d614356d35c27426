package managed

import (
	"maps"
	"time"
)

// Departure is a machine that is cordoned and drained before it goes.
type Departure struct {
	UID string
	// Since is when it was cordoned, Drained when nothing was left on it.
	Since, Drained time.Time
	// Release is true for a machine that is deallocated instead of deleted.
	Release bool
}

// Departures are the machines of a pool that drain, by their keys.
type Departures map[string]*Departure

// Forget drops what is noted of machines that are not among these any more.
func (d Departures) Forget(machines []Machine) {
	here := map[string]string{}
	for _, m := range machines {
		here[m.Key] = m.UID
	}
	maps.DeleteFunc(d, func(key string, one *Departure) bool {
		uid, stays := here[key]
		return !stays || uid != one.UID
	})
}

// among counts the machines that drain.
func (d Departures) among(machines []Machine) int {
	n := 0
	for _, m := range machines {
		if d[m.Key] != nil {
			n++
		}
	}
	return n
}

// Late is what becomes of a machine whose drain has had its time.
type Late int

const (
	// LateStays keeps a machine that can't be drained.
	LateStays Late = iota
	// LateGoes removes it with its pods.
	LateGoes
	// LateForces deletes its pods, whatever their budgets say, and then removes it.
	LateForces
)

// Drain is how machines are drained.
type Drain struct {
	// Limit is how long the pods have to leave, Soak how long an empty machine is kept, both in life.
	Limit, Soak time.Duration
	Late        Late
	// Force deletes pods from the beginning, whatever their budgets say.
	Force bool
}

// Progress is how far the drain of a machine is.
type Progress int

const (
	// Draining is a machine that is not empty yet, or that soaks.
	Draining Progress = iota
	// Drained is one that may go now.
	Drained
	// Stuck is one that could not be drained in time and stays.
	Stuck
)

// Leave begins the departure of a machine: its node is cordoned.
func (n *Nodes) Leave(d Departures, m Machine) *Departure {
	d[m.Key] = &Departure{UID: m.UID, Since: n.state.Now}
	n.Cordon(m.UID)
	return d[m.Key]
}

// Drain goes on with the departure of a machine.
func (n *Nodes) Drain(d *Departure, how Drain) Progress {
	late := !n.state.Now.Before(d.Since.Add(n.state.Life(how.Limit)))
	switch {
	case !d.Drained.IsZero():
	case n.Evict(d.UID, d.Since, how.Force || late && how.Late == LateForces), late && how.Late == LateGoes:
		d.Drained = n.state.Now
	case late && how.Late == LateStays:
		return Stuck
	default:
		return Draining
	}
	if n.state.Now.Before(d.Drained.Add(n.state.Life(how.Soak))) {
		return Draining
	}
	return Drained
}

// Gone goes on with the departures among the machines and returns those that may go now.
func (n *Nodes) Gone(machines []Machine, leaving Departures, how Drain) []Machine {
	var out []Machine
	for _, m := range machines {
		if d := leaving[m.Key]; d != nil && n.Drain(d, how) == Drained {
			out = append(out, m)
		}
	}
	return out
}

// Fewer begins the departure of so many machines that do not leave already, the first ones first, and returns what is noted of each.
func (n *Nodes) Fewer(machines []Machine, leaving Departures, many int) []*Departure {
	var out []*Departure
	for _, m := range machines {
		if len(out) < many && leaving[m.Key] == nil {
			out = append(out, n.Leave(leaving, m))
		}
	}
	return out
}
