package managed

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/fleet"
)

const (
	// lifeLaunch is the time until a machine runs, lifeStop the time until it has stopped, both as in a real cloud.
	lifeLaunch = 40 * time.Second
	lifeStop   = 20 * time.Second
)

// Instance is a machine of a cloud without groups of machines.
type Instance struct {
	fleet.Machine
	fleet.Disruptions
	// Key is that of its row, below Pool, the key of its pool. ID is the ID by which the MachineHost knows it, Name that of its node.
	Pool, Key, ID, Name, Address string
	// Version of Kubernetes, and Model: what it was made of.
	Version, Model string
	Created        time.Time
	// Booted is the time at which it started to run, zero before; Next is the time of its next change.
	Booted, Next time.Time
	// Stopped is true if it has stopped, Deleting while it is being deleted.
	Stopped, Deleting bool
	// Rebuilt is true after it was rebuilt in place, until its node is Ready and uncordoned.
	Rebuilt bool
}

// Failure is the reason of a failure.
type Failure struct{ Code, Message string }

// Instances are the machines of a cloud that has no service of groups of machines.
type Instances struct {
	Rows  *fleet.Machines[Instance, *Instance]
	state *core.State
	// boot returns the time until a machine runs, stop is the time until it has stopped, both as in a real cloud. named returns the name of
	// its node.
	boot  func(*Instance) time.Duration
	stop  time.Duration
	named func(*Instance) string
	// identified returns the ID of a machine, refuses the reason why it can't be launched; both can be nil.
	identified func(*Instance) string
	refuses    func(*Instance) *Failure
}

// NewInstances returns an empty set of machines, whose rows have the prefix in a store. guest describes a machine to its MachineHost.
func NewInstances(state *core.State, prefix string, guest func(*Instance) sim.Machine) *Instances {
	rows := fleet.New(state, prefix+"instance/", fleet.Kind[*Instance]{Group: func(i *Instance) string { return i.Pool },
		Occupies: func(*Instance) bool { return true }, Runs: func(i *Instance) bool { return !i.Booted.IsZero() }, Guest: guest})
	return &Instances{state: state, Rows: rows,
		boot: func(*Instance) time.Duration { return lifeLaunch }, stop: lifeStop,
		named: func(i *Instance) string { return i.Name + "-" + i.ID[:8] }}
}

// Of returns the machines of a pool in the order of their creation.
func (s *Instances) Of(pool string) []*Instance { return s.Rows.Of(pool + "|") }

// Living returns the machines of a pool that are not being deleted.
func (s *Instances) Living(p *Pool) []Machine {
	var out []Machine
	for _, i := range s.Of(p.Key()) {
		if !i.Deleting {
			out = append(out, p.MachineOf(i))
		}
	}
	return out
}

// running counts the machines of a pool that neither have stopped nor are being deleted.
func (s *Instances) running(p *Pool) int {
	n := 0
	for _, i := range s.Of(p.Key()) {
		if !i.Deleting && !i.Stopped {
			n++
		}
	}
	return n
}

// Launch creates a machine in the one of the zones that has the fewest of its pool's, or returns why there is none.
func (s *Instances) Launch(i Instance, zones []string) *Failure {
	zone, faults, full := s.Rows.Place(fleet.SpreadOf(s.Of(i.Pool)).Emptiest(slices.Sorted(slices.Values(zones)))[:1], i.Type, i.Pool)
	if full != nil {
		return &Failure{cmp.Or(full.Code, "OutOfCapacity"), cmp.Or(full.Message, "There are no machines of type "+i.Type+" left in "+zone+".")}
	}
	if s.refuses != nil {
		if failure := s.refuses(&i); failure != nil {
			return failure
		}
	}
	number := s.state.NextNumber("instance")
	i.Zone, i.Number = zone, number
	i.Key, i.ID = fmt.Sprintf("%s|%08d", i.Pool, number), s.state.Seed.UUID("instance", i.Pool, number)
	if s.identified != nil {
		i.ID = s.identified(&i)
	}
	i.Name = s.named(&i)
	i.Address = fmt.Sprintf("10.%d.%d.%d", 64+number>>16&63, number>>8&255, number&255)
	i.Created, i.Next = s.state.Now, s.state.Now.Add(s.state.Life(s.boot(&i)))
	i.Disrupt(faults, i.Spot, s.state.Now)
	i.NeverBoots = i.NeverBoots || !i.ImpairedAt.IsZero()
	s.Rows.Put(i.Key, &i)
	return nil
}

// Stop ends what happens inside a machine for good.
func (s *Instances) Stop(i *Instance) {
	if !i.Booted.IsZero() {
		s.Rows.PowerOff(i.ID)
	}
	i.Booted, i.StopsAt, i.Next, i.Stopped = time.Time{}, time.Time{}, time.Time{}, true
	s.Rows.Touch(i.Key)
}

// Reboot stops a machine and starts it again. It keeps its ID.
func (s *Instances) Reboot(i *Instance) {
	s.Stop(i)
	i.Stopped, i.Next = false, s.state.Now.Add(s.state.Life(s.boot(i)))
}

// rebuild makes machines what the pool is to be, in place.
func (s *Instances) rebuild(p *Pool, machines []Machine) {
	for _, m := range machines {
		i := s.Rows.Get(m.Key)
		s.Reboot(i)
		i.Version, i.Type, i.Model, i.Rebuilt = p.Version, p.Type, p.Model(), true
	}
}

// Delete begins to delete a machine.
func (s *Instances) Delete(i *Instance) {
	if !i.Deleting {
		s.Stop(i)
		i.Deleting, i.Next = true, s.state.Now.Add(s.state.Life(s.stop))
	}
}

func (s *Instances) drop(machines []Machine) {
	for _, m := range machines {
		s.Delete(s.Rows.Get(m.Key))
	}
}

// Tick brings the machines to the present and returns when something is due next; the zero time means never.
func (s *Instances) Tick() time.Time {
	var next time.Time
	for key, i := range s.Rows.All() {
		if core.Due(i.Next, s.state.Now) {
			i.Next = time.Time{}
			s.Rows.Touch(key)
			if i.Deleting {
				s.Rows.Delete(key)
				continue
			}
			i.Booted = s.state.Now
			s.Rows.PowerOn(key)
		}
		if core.Due(i.StopsAt, s.state.Now) {
			s.Stop(i)
		}
		next = core.Earliest(next, i.Next, i.StopsAt)
	}
	return next
}

// Resume powers on again the machines that ran.
func (s *Instances) Resume() { s.Rows.Resume() }

// Power lets the machine host know what has become of the machines.
func (s *Instances) Power() { s.Rows.Power() }
