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
	// How configures the drain of this machine, nil for the configuration of the pool.
	How *Drain
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

// Late is the action on a machine whose drain has timed out.
type Late int

const (
	// LateStays keeps the machine.
	LateStays Late = iota
	// LateGoes removes the machine with its pods.
	LateGoes
	// LateForces deletes the pods, whatever their budgets allow, and then removes the machine.
	LateForces
	// LateFails keeps the machine and fails the operation, also outside of upgrades. The next operation on the pool drains it again.
	LateFails
)

// Drain configures the drain of machines.
type Drain struct {
	// Limit is the time for the pods to leave, Soak the time for which an empty machine is kept, both as in the real cloud.
	Limit, Soak time.Duration
	Late        Late
	// Force deletes pods from the start, whatever their budgets allow. Skip removes machines without a drain.
	Force, Skip bool
}

// Progress is the state of a machine's drain.
type Progress int

const (
	// Draining is a machine that is not empty yet, or that soaks.
	Draining Progress = iota
	// Drained is one that may be removed now.
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
	if d.How != nil {
		how = *d.How
	}
	if how.Skip {
		return Drained
	}
	return n.drain(d, how)
}

func (n *Nodes) drain(d *Departure, how Drain) Progress {
	late := !n.state.Now.Before(d.Since.Add(n.state.Life(how.Limit)))
	switch {
	case !d.Drained.IsZero():
	case n.Evict(d.UID, d.Since, how.Force || late && how.Late == LateForces), late && how.Late == LateGoes:
		d.Drained = n.state.Now
	case late && (how.Late == LateStays || how.Late == LateFails):
		return Stuck
	default:
		return Draining
	}
	if n.state.Now.Before(d.Drained.Add(n.state.Life(how.Soak))) {
		return Draining
	}
	return Drained
}

// fails reports whether the time for the drain of a machine is over and the machine is kept.
func (n *Nodes) fails(d *Departure, how Drain) bool {
	if d.How != nil {
		how = *d.How
	}
	return how.Late == LateFails && n.Drain(d, how) == Stuck
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
