package compute

import (
	"github.com/muster-project/muster/sim/oci/rest"
)

// powering returns an operation that powers all instances of a pool on or off. It needs a pool in one of some states.
func powering(do func(*Service, *pool), states ...string) func(*Service, *rest.Exchange) (rest.Reply, error) {
	return onPool(func(s *Service, _ *rest.Exchange, p *pool) (rest.Reply, error) {
		if err := power(s, p, do, states...); err != nil {
			return rest.Reply{}, err
		}
		return showPool(s, p), nil
	})
}

// power powers all instances of a pool on or off, if it is in one of some states.
func power(s *Service, p *pool, do func(*Service, *pool), states ...string) error {
	for _, state := range states {
		if p.State == state {
			do(s, p)
			s.rows.changed(p)
			return nil
		}
	}
	return rest.IncorrectState("Instance pool %s is in the state %s.", p.ID, p.State)
}

// stopAll stops the instances of a pool.
func stopAll(s *Service, p *pool) {
	s.rows.enter(p, stopping)
	for _, m := range s.rows.staying(p) {
		s.life.stop(m)
	}
}

// startAll starts the instances of a pool.
func startAll(s *Service, p *pool) {
	s.rows.enter(p, starting)
	for _, m := range s.rows.staying(p) {
		s.life.start(m)
	}
}

// resetAll powers the instances of a pool off and on again.
func resetAll(s *Service, p *pool) {
	s.rows.enter(p, starting)
	for _, m := range s.rows.staying(p) {
		s.life.off(m)
		m.State = stopped
		s.life.start(m)
	}
}
