package compute

import (
	"slices"
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/oci/workrequests"
)

// How long things take in life.
const (
	lifeLaunch, lifeStop, lifeEnd = 40 * time.Second, 20 * time.Second, 30 * time.Second
	lifeAttach                    = 10 * time.Second
	// lifeRetry is the wait of a pool after a launch that failed, lifeRelaunch after its instances have all stopped.
	lifeRetry, lifeRelaunch = 30 * time.Second, 5 * time.Minute
	// lifeFails is when a work request ends whose launches fail, lifeGivesUp when the pool does without the instances.
	lifeFails, lifeGivesUp = 10 * time.Minute, 24 * time.Hour
	// lifeShown is the time for which an instance or a pool is shown that has ended.
	lifeShown = 24 * time.Hour
	// notice is the time between the announcement that an instance is taken back and its end, whatever the speed.
	notice = 2 * time.Minute
)

// machines lets instances pass from one state to the next.
type machines struct{ *store }

// tick brings the instances to the present, and returns when something is due next; the zero time means never.
func (s *machines) tick() time.Time {
	var next time.Time
	for key, m := range s.instances.All() {
		s.disrupted(m)
		if core.Due(m.PhaseAt, s.Now) {
			m.PhaseAt = time.Time{}
			s.instances.Touch(key)
			s.turn(m)
		}
		if core.Due(m.Next, s.Now) {
			m.Next = time.Time{}
			s.instances.Touch(key)
			s.advance(m)
		}
		next = core.Earliest(next, m.Next, m.PhaseAt, m.StopsAt, m.ReclaimAt, m.Taken)
	}
	return next
}

// disrupted lets happen what faults have scheduled for an instance.
func (s *machines) disrupted(m *instance) {
	if core.Due(m.ReclaimAt, s.Now) {
		m.ReclaimAt, m.Taken = time.Time{}, m.ReclaimAt.Add(notice)
		s.instances.Touch(m.key())
	}
	if core.Due(m.Taken, s.Now) {
		s.terminate(m)
	}
	if core.Due(m.StopsAt, s.Now) {
		s.halt(m)
	}
}

// halt stops an instance that its operating system shuts down.
func (s *machines) halt(m *instance) {
	m.StopsAt = time.Time{}
	s.instances.Touch(m.key())
	if m.State == running {
		s.off(m)
		m.State = stopped
	}
}

// off powers an instance off.
func (s *machines) off(m *instance) {
	if !m.Booted.IsZero() {
		s.instances.PowerOff(m.ID)
		m.Booted = time.Time{}
	}
	s.instances.Touch(m.key())
}

// advance lets an instance pass from one state to the next.
func (s *machines) advance(m *instance) {
	switch m.State {
	case provisioning, starting:
		m.State, m.Booted = running, s.Now
		s.instances.PowerOn(m.key())
	case stopping:
		m.State = stopped
	case terminating:
		s.ended(m)
	case terminated:
		s.instances.Delete(m.key())
	}
}

// turn lets an instance pass from one phase in its pool to the next.
func (s *machines) turn(m *instance) {
	switch m.Phase {
	case attaching:
		m.Phase = active
	case detaching:
		s.release(m)
	case awaiting:
		s.terminate(m)
	}
}

// terminate begins to terminate an instance.
func (s *machines) terminate(m *instance) {
	if m.State == terminating || m.State == terminated {
		return
	}
	s.off(m)
	m.State, m.Next, m.PhaseAt, m.Held = terminating, s.Now.Add(s.Life(lifeEnd)), time.Time{}, time.Time{}
	m.StopsAt, m.ReclaimAt, m.Taken = time.Time{}, time.Time{}, time.Time{}
}

// leave begins to take an instance out of its pool and to terminate it. The pool waits before where it has a hook; fewer is true where it
// does so in any case.
func (s *machines) leave(p *pool, m *instance, fewer bool) {
	if m.leaving() {
		return
	}
	timeout, waits := p.hook()
	if waits && (fewer || !s.Switches.On(HooksScaleInOnly)) && (m.State == running || m.State == stopped) {
		m.Phase, m.Held, m.PhaseAt = awaiting, s.Now, s.Now.Add(s.Life(timeout))
		s.instances.Touch(m.key())
		return
	}
	s.terminate(m)
}

// ended notes that an instance has ended. It is in no list of its pool then, unless that shows it.
func (s *machines) ended(m *instance) {
	s.left(m)
	if !s.Switches.On(ShowsTerminated) || m.Pool == "" {
		s.instances.Delete(m.key())
		return
	}
	m.State, m.Phase, m.Next = terminated, active, s.Now.Add(s.Life(lifeShown))
}

// release makes an instance one of no pool. It goes on as it is.
func (s *machines) release(m *instance) {
	s.left(m)
	s.instances.Delete(m.key())
	m.Pool, m.Phase = "", active
	s.instances.Put(m.key(), m)
}

// left ends the work request by which an instance has left its pool, once all others have that leave by the same.
func (s *machines) left(m *instance) {
	others := slices.ContainsFunc(s.instances.Of(m.Pool+"|"), func(o *instance) bool { return o != m && o.Work == m.Work })
	if !others {
		s.Works.End(s.Works.Get(m.Work), workrequests.Succeeded)
	}
	m.Work = ""
}

// start starts an instance that is stopped.
func (s *machines) start(m *instance) {
	if m.State == stopped || m.State == stopping {
		m.State, m.Next = starting, s.Now.Add(s.Life(lifeLaunch))
		s.instances.Touch(m.key())
	}
}

// stop stops an instance that runs or is about to.
func (s *machines) stop(m *instance) {
	if m.State == running || m.State == starting || m.State == provisioning {
		s.off(m)
		m.State, m.Next = stopping, s.Now.Add(s.Life(lifeStop))
		s.instances.Touch(m.key())
	}
}
