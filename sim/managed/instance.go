package managed

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
)

const (
	// lifeLaunch is how long a machine takes to begin to run, lifeStop to go.
	lifeLaunch = 40 * time.Second
	lifeStop   = 20 * time.Second
)

// Instance is a machine that a cloud keeps by itself, in no group of machines.
type Instance struct {
	// Key is that of its row, below Pool, the key of its pool. ID is the ID by which the MachineHost knows it, Name that of its node.
	Pool, Key, ID, Name string
	Zone, Type, Address string
	// Version of Kubernetes, and Model: what it was made of.
	Version, Model string
	Created        time.Time
	// Booted is when it began to run, the zero time while it does not; Next is when its next change is due, StopsAt when it stops for good.
	Booted, Next, StopsAt time.Time
	// NeverBoots is true for one inside which nothing happens, Stopped for one that runs no more, Deleting while it is being deleted.
	NeverBoots, Stopped, Deleting bool
}

// Failure is why something failed.
type Failure struct{ Code, Message string }

// Instances are the machines of a cloud that has no service of groups of machines.
type Instances struct {
	Rows  *core.Table[Instance]
	state *core.State
	guest func(*Instance) sim.Machine
	// boot returns how long a machine takes to begin to run, stop how long it takes to go, in life; named returns the name of its node.
	boot  func(*Instance) time.Duration
	stop  time.Duration
	named func(*Instance) string
	// on and off are what becomes of machines once the state is on disk.
	on, off []string
}

// NewInstances returns no machines, whose rows have the prefix in a store. guest is what a machine learns from its cloud.
func NewInstances(state *core.State, prefix string, guest func(*Instance) sim.Machine) *Instances {
	return &Instances{state: state, Rows: core.NewTable[Instance](prefix + "instance/"), guest: guest,
		boot: func(*Instance) time.Duration { return lifeLaunch }, stop: lifeStop,
		named: func(i *Instance) string { return i.Name + "-" + i.ID[:8] }}
}

// Of returns the machines of a pool in the order of their creation.
func (s *Instances) Of(pool string) []*Instance {
	var out []*Instance
	for _, i := range s.Rows.Under(pool + "|") {
		out = append(out, i)
	}
	return out
}

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
	counts := map[string]int{}
	for _, one := range s.Of(i.Pool) {
		counts[one.Zone]++
	}
	i.Zone = slices.MinFunc(zones, func(a, b string) int { return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(a, b)) })
	faults := s.state.Faults.ForLaunch(sim.Launch{Zone: i.Zone, Type: i.Type, Group: i.Pool, Existing: s.existing})
	for _, f := range faults {
		if f.Kind == sim.NoCapacity {
			return &Failure{cmp.Or(f.Code, "OutOfCapacity"), cmp.Or(f.Message, "There are no machines of type "+i.Type+" left in "+i.Zone+".")}
		}
	}
	number := s.state.NextNumber("instance")
	i.Key, i.ID = fmt.Sprintf("%s|%08d", i.Pool, number), s.state.Seed.UUID("instance", i.Pool, number)
	i.Name = s.named(&i)
	i.Address = fmt.Sprintf("10.%d.%d.%d", 64+number>>16&63, number>>8&255, number&255)
	i.Created, i.Next = s.state.Now, s.state.Now.Add(s.state.Life(s.boot(&i)))
	for _, f := range faults {
		switch f.Kind {
		case sim.NeverBoots, sim.Impaired:
			i.NeverBoots = true
		case sim.Dies, sim.SpotInterruption:
			i.StopsAt = s.state.Now.Add(time.Duration(f.Delay))
		}
	}
	s.Rows.Put(i.Key, &i)
	return nil
}

// existing counts the machines that a fault matches.
func (s *Instances) existing(f sim.Fault) int {
	n := 0
	for _, i := range s.Rows.All() {
		if (f.Zone == "" || f.Zone == i.Zone) && (f.Type == "" || f.Type == i.Type) && (f.Group == "" || f.Group == i.Pool) {
			n++
		}
	}
	return n
}

// Stop ends what happens inside a machine for good.
func (s *Instances) Stop(i *Instance) {
	if !i.Booted.IsZero() {
		s.off = append(s.off, i.ID)
	}
	i.Booted, i.StopsAt, i.Next, i.Stopped = time.Time{}, time.Time{}, time.Time{}, true
	s.Rows.Touch(i.Key)
}

// Reboot stops a machine and starts it again. It keeps its ID.
func (s *Instances) Reboot(i *Instance) {
	s.Stop(i)
	i.Stopped, i.Next = false, s.state.Now.Add(s.state.Life(s.boot(i)))
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
			s.on = append(s.on, key)
		}
		if core.Due(i.StopsAt, s.state.Now) {
			s.Stop(i)
		}
		next = core.Earliest(next, core.Earliest(i.Next, i.StopsAt))
	}
	return next
}

// Resume powers on again the machines that ran.
func (s *Instances) Resume() {
	for key, i := range s.Rows.All() {
		if !i.Booted.IsZero() {
			s.on = append(s.on, key)
		}
	}
}

// Power lets the machine host know what has become of the machines.
func (s *Instances) Power() {
	on, off := s.on, s.off
	s.on, s.off = nil, nil
	if s.state.Host == nil {
		return
	}
	for _, id := range off {
		s.state.Host.PowerOff(id)
	}
	for _, key := range on {
		if i := s.Rows.Get(key); i != nil && !i.Booted.IsZero() && !i.NeverBoots {
			s.state.Host.PowerOn(s.guest(i))
		}
	}
}
