package managed

import (
	"fmt"
	"slices"
	"time"

	"github.com/muster-project/muster/sim/core"
)

// lifeRetry is the time between a failed launch and the next attempt.
const lifeRetry = 30 * time.Second

// Tick applies all transitions that are due and returns the time of the next one; the zero time means never.
func (s *Service) Tick() time.Time {
	next := s.Instances.Tick()
	for _, c := range s.Clusters.All() {
		next = core.Earliest(next, s.tickCluster(c))
	}
	for _, p := range s.Pools.All() {
		if c := s.Clusters.Get(p.Cluster); c != nil {
			next = core.Earliest(next, s.tickPool(c, p))
		}
	}
	for id, op := range s.Operations.All() {
		if !op.Running() && core.Due(op.End.Add(s.Kept), s.state.Now) {
			s.Operations.Delete(id)
		}
	}
	return core.Earliest(next, s.Instances.Tick())
}

// tickCluster ends the operation of a cluster once its own part and those of its pools are done.
func (s *Service) tickCluster(c *Cluster) time.Time {
	switch {
	case c.Op == "":
		return time.Time{}
	case c.Until.After(s.state.Now):
		return c.Until
	}
	c.Version = c.Goal
	for _, p := range s.PoolsOf(c) {
		if p.Op != "" && c.State == Deleting {
			return s.state.Now.Add(s.state.Life(Watch))
		}
	}
	s.end(c.Op, nil, false)
	if c.State == Deleting {
		s.Clusters.Delete(c.Key)
		return time.Time{}
	}
	c.Op, c.Until, c.State = "", time.Time{}, Running
	touchCluster(s, c)
	return time.Time{}
}

// tickPool takes the operation of a pool a step further, and begins to heal one at rest.
func (s *Service) tickPool(c *Cluster, p *Pool) time.Time {
	if p.Heals && p.State == Running && s.Busy(c, p) == nil && s.Instances.running(p) < p.Count {
		s.beginPool(c, p, Scaling)
	}
	if s.Reconciles && p.Op == "" && len(staying(s, p)) < p.Count {
		s.beginPool(c, p, Scaling)
	}
	next := s.Nodes.Look(&p.Work, func() {
		s.Pools.Touch(p.Key())
		s.advance(p)
	})
	if s.Reconciles && p.Op == "" && len(p.Leaving) > 0 {
		return release(s, p)
	}
	return next
}

// staying returns the machines of a pool that neither are deleted nor drain.
func staying(s *Service, p *Pool) []Machine {
	return slices.DeleteFunc(s.Instances.Living(p), func(m Machine) bool { return p.Leaving[m.Key] != nil })
}

// release goes on with the machines that leave a pool at rest, and returns when it has to be looked at again.
func release(s *Service, p *Pool) time.Time {
	if p.Next.After(s.state.Now) {
		return p.Next
	}
	s.Pools.Touch(p.Key())
	machines := s.Instances.Living(p)
	p.Leaving.Forget(machines)
	s.letGo(p, machines)
	if len(p.Leaving) == 0 {
		return time.Time{}
	}
	p.Next = s.state.Now.Add(s.state.Life(Watch))
	return p.Next
}

// advance takes the operation of a pool a step further. Machines that have stopped are replaced with any.
func (s *Service) advance(p *Pool) {
	if p.Until.IsZero() {
		p.Until = s.state.Now.Add(s.state.Life(s.Join))
	}
	for _, i := range s.Instances.Of(p.Key()) {
		if i.Stopped && !s.Reconciles {
			s.Instances.Delete(i)
		}
	}
	machines := s.Instances.Living(p)
	p.Leaving.Forget(machines)
	if s.Reconciles {
		s.letGo(p, machines)
		machines = staying(s, p)
	}
	reopen(s, machines)
	stale := func(m Machine) bool { return m.Stale }
	switch {
	case p.State == Deleting:
		s.remove(p, machines)
	case (p.State == Upgrading || s.Reconciles) && slices.ContainsFunc(machines, stale):
		s.roll(p, machines)
	default:
		s.scale(p, machines)
	}
}

// remove drains the machines of a pool, and deletes it once they are gone.
func (s *Service) remove(p *Pool, machines []Machine) {
	s.Nodes.Fewer(machines, p.Leaving, len(machines))
	if !s.letGo(p, machines) {
		return
	}
	if len(s.Instances.Of(p.Key())) == 0 {
		s.Finish(p, nil)
		s.Pools.Delete(p.Key())
	}
}

// reopen opens the nodes of machines that were rebuilt in place and are Ready again.
func reopen(s *Service, machines []Machine) {
	for _, m := range machines {
		if i := s.Instances.Rows.Get(m.Key); i.Rebuilt && s.Nodes.Ready(m) {
			i.Rebuilt = false
			s.Instances.Rows.Touch(m.Key)
			s.Nodes.Uncordon(m.UID)
		}
	}
}

// letGo deletes the machines that have drained or have had their time. Only an upgrade lets drained machines soak. It reports whether the
// operation goes on: it ends with a machine that can't be drained and is kept.
func (s *Service) letGo(p *Pool, machines []Machine) bool {
	how := p.Drain
	if how.Soak = 0; how.Late == LateStays {
		how.Late = LateGoes
	}
	gone := s.Nodes.Gone(machines, p.Leaving, how)
	s.Instances.drop(gone)
	if len(gone) > 0 {
		p.Until = s.state.Now.Add(s.state.Life(s.Join))
	}
	for _, m := range machines {
		if d := p.Leaving[m.Key]; d != nil && !s.Instances.Rows.Get(m.Key).Deleting && s.Nodes.fails(d, how) {
			s.Finish(p, undrained(s, m))
			return false
		}
	}
	return true
}

// undrained is why an operation ends with a machine that can't be drained.
func undrained(s *Service, m Machine) *Failure {
	return &Failure{"DrainFailed", "Node " + s.Instances.Rows.Get(m.Key).Name + " could not be drained in time."}
}

// scale brings a pool to its count. Nodes that are too many are drained before they go, the newest first.
func (s *Service) scale(p *Pool, machines []Machine) {
	if !s.letGo(p, machines) {
		return
	}
	missing := p.Count - (len(machines) - p.Leaving.among(machines))
	s.launch(p, missing)
	first := slices.Clone(machines)
	if !s.OldestFirst {
		slices.Reverse(first)
	}
	s.Nodes.Fewer(first, p.Leaving, -missing)
	if p.Leaving.among(machines) == 0 && len(machines) == p.Count && s.Nodes.CountReady(machines) == p.Count {
		s.Finish(p, nil)
		return
	}
	if p.Leaving.among(machines) == 0 {
		giveUp(s, p, machines)
	}
}

// roll takes an upgrade a step further.
func (s *Service) roll(p *Pool, machines []Machine) {
	surge, missing := Share(p.Surge, p.Count), Share(p.Missing, p.Count)
	if surge+missing == 0 {
		surge = 1
	}
	turn := s.Nodes.Roll(machines, p.Leaving, Roll{Want: p.Count, Missing: missing, Drain: p.Drain})
	if p.InPlace {
		s.Instances.rebuild(p, turn.Drained)
		surge = -len(turn.Drained) // nothing is launched in the place of machines that stay
	} else {
		s.Instances.drop(turn.Drained)
	}
	if len(turn.Drained) > 0 {
		p.Until = s.state.Now.Add(s.state.Life(s.Join))
	}
	if len(turn.Stuck) > 0 {
		s.Finish(p, undrained(s, turn.Stuck[0]))
		return
	}
	left := len(turn.Old) - len(turn.Drained)
	s.launch(p, p.Count+min(surge, left)-(left+turn.Fresh))
	if p.Leaving.among(machines) == 0 {
		giveUp(s, p, machines)
	}
}

// launch creates machines of a pool, as far as there are any.
func (s *Service) launch(p *Pool, many int) {
	for range many {
		if p.Retry.After(s.state.Now) {
			return
		}
		i := p.NewInstance()
		i.Name = s.Clusters.Get(p.Cluster).Name + "-" + p.Name
		if p.Lacking = s.Instances.Launch(i, p.Zones); p.Lacking != nil {
			p.Retry = s.state.Now.Add(s.state.Life(lifeRetry))
		}
	}
}

// giveUp ends an operation whose machines have had their time. A cloud that reconciles tells why they do not come, and goes on.
func giveUp(s *Service, p *Pool, machines []Machine) {
	if !core.Due(p.Until, s.state.Now) {
		return
	}
	failure := p.Lacking
	if failure == nil {
		failure = &Failure{"NodesNotReady",
			fmt.Sprintf("%d of %d nodes of pool %s are Ready.", s.Nodes.CountReady(machines), p.Count, p.Name)}
	}
	if s.Reconciles {
		p.Failure = failure
		return
	}
	s.Finish(p, failure)
}
