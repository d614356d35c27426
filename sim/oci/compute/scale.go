package compute

import (
	"slices"
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/fleet"
	"github.com/muster-project/muster/sim/oci/workrequests"
)

// scaler brings pools to their sizes.
type scaler struct {
	*store
	life     *machines
	launcher *launcher
}

// step takes a pool a step further, and returns when it has to be looked at again.
func (s *scaler) step(p *pool) time.Time {
	switch p.State {
	case terminated:
		until := p.Since.Add(s.Life(lifeShown))
		if core.Due(until, s.Now) {
			s.pools.Delete(p.ID)
		}
		return until
	case terminating:
		return s.empty(p)
	case stopping, stopped:
		s.shrink(p)
		if p.State == stopping && !slices.ContainsFunc(s.staying(p), func(m *instance) bool { return m.State != stopped }) {
			s.enter(p, stopped)
		}
		return time.Time{}
	}
	s.shrink(p)
	again := core.Earliest(s.launcher.grow(p), s.relaunch(p))
	return core.Earliest(again, s.settle(p))
}

// empty ends a pool whose instances have ended.
func (s *scaler) empty(p *pool) time.Time {
	switch {
	case s.existing(p) > 0:
		return time.Time{}
	case s.Switches.On(ForgetsTerminated):
		s.pools.Delete(p.ID)
		return time.Time{}
	}
	s.enter(p, terminated)
	return s.step(p)
}

// shrink lets the instances leave that are too many: from the availability domain and then the fault domain with the most, the oldest
// first.
func (s *scaler) shrink(p *pool) {
	staying := s.staying(p)
	if len(staying) <= p.Size {
		return
	}
	surplus := fleet.Surplus(staying, staying, len(staying)-p.Size, func(stay []*instance) func(a, b *instance) int {
		domains, faults := fleet.SpreadOf(stay), faultsOf(stay)
		return func(a, b *instance) int {
			if n := domains.ByMost(a.Zone, b.Zone); n != 0 {
				return n
			}
			return faults.ByMost(a.Zone+a.FaultDomain, b.Zone+b.FaultDomain)
		}
	})
	w := s.Works.Begin(workTerminate, p.text("compartmentId"), kindPool, p.ID)
	for _, m := range surplus {
		s.life.leave(p, m, true)
		m.Work = w.ID
		s.Works.Relate(w, m.ID)
	}
}

// faultsOf counts instances by their availability domain and fault domain.
func faultsOf(all []*instance) fleet.Spread {
	out := fleet.Spread{}
	for _, m := range all {
		out[m.Zone+m.FaultDomain]++
	}
	return out
}

// relaunch starts the instances of a pool again that have stopped although the pool has not: all of them where all have.
func (s *scaler) relaunch(p *pool) time.Time {
	staying := s.staying(p)
	halted := slices.DeleteFunc(slices.Clone(staying), func(m *instance) bool { return m.State != stopped })
	switch {
	case len(halted) == 0, len(halted) < len(staying) && !s.Switches.On(RestartsStopped):
		if p.Halted.IsZero() {
			return time.Time{}
		}
		p.Halted = time.Time{}
		s.pools.Touch(p.ID)
		return time.Time{}
	case p.Halted.IsZero():
		p.Halted = s.Now
		s.pools.Touch(p.ID)
	}
	at := p.Halted.Add(s.Life(lifeRelaunch))
	if core.Due(at, s.Now) {
		for _, m := range halted {
			s.life.start(m)
		}
		p.Halted = time.Time{}
		s.pools.Touch(p.ID)
	}
	return at
}

// settle brings a pool into the state that its instances are in, and returns when it gives up those that are missing.
func (s *scaler) settle(p *pool) time.Time {
	staying := s.staying(p)
	moves := slices.ContainsFunc(s.members(p), (*instance).moves)
	switch {
	case len(staying) < p.Size:
		if p.State == running {
			s.enter(p, scaling)
		}
		until := p.Since.Add(s.Life(lifeGivesUp))
		if !core.Due(until, s.Now) {
			return until
		}
		s.Works.End(s.Works.Get(p.Work), workrequests.Failed)
		p.Size, p.Work = len(staying), ""
		s.changed(p)
		return s.settle(p)
	case !moves:
		s.enter(p, running)
		s.launched(p)
	case p.State == provisioning:
		s.enter(p, starting)
	case p.State == running:
		s.enter(p, scaling)
	}
	return time.Time{}
}

// launched ends the work request of launches that are done.
func (s *scaler) launched(p *pool) {
	if p.Work != "" {
		s.Works.End(s.Works.Get(p.Work), workrequests.Succeeded)
		p.Work = ""
		s.pools.Touch(p.ID)
	}
}
