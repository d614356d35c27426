package managed

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"
)

// Busy returns the operation that blocks a new one on a pool, or on the cluster if the pool is nil; nil if there is none.
func (s *Service) Busy(c *Cluster, p *Pool) *Operation {
	if c.Op != "" {
		return s.Operations.Get(c.Op)
	}
	for _, one := range s.PoolsOf(c) {
		if one.Op != "" && (p == nil || one == p || s.PerCluster) {
			return s.Operations.Get(one.Op)
		}
	}
	return nil
}

// begin starts an operation.
func (s *Service) begin(c *Cluster, pool string, doing State) *Operation {
	op := &Operation{ID: s.state.Seed.UUID("operation", s.state.NextNumber("operation")), Cluster: c.Key, Pool: pool, Doing: doing,
		Start: s.state.Now}
	s.Operations.Put(op.ID, op)
	return op
}

// leaving returns the departures that go on when an operation on a pool begins or ends.
func leaving(s *Service, p *Pool) Departures {
	if !s.Reconciles && !s.Overlaps || p.Leaving == nil {
		return Departures{}
	}
	for _, d := range p.Leaving {
		if s.Overlaps && p.State == Failed { // those that could not be drained have their time again
			d.Since = s.state.Now
		}
	}
	return p.Leaving
}

// BeginCluster starts an operation on a cluster whose own part takes so long.
func (s *Service) BeginCluster(c *Cluster, doing State, life time.Duration) *Operation {
	s.end(c.Op, nil, true)
	op := s.begin(c, "", doing)
	c.Op, c.State, c.Until, c.Failure = op.ID, doing, s.state.Now.Add(s.state.Life(life)), nil
	touchCluster(s, c)
	return op
}

// beginPool starts an operation on a pool. One on its cluster comes first.
func (s *Service) beginPool(c *Cluster, p *Pool, doing State) *Operation {
	s.end(p.Op, nil, true)
	op := s.begin(c, p.Name, doing)
	p.Work = Work{Op: op.ID, Next: s.state.Now.Add(s.state.Life(s.Lag)), Leaving: leaving(s, p)}
	if c.Op != "" && doing != Deleting {
		p.Next = c.Until
	}
	p.State, p.Failure, p.Lacking, p.Retry = doing, nil, nil, time.Time{}
	s.touch(p)
	return op
}

// CreateCluster begins to create a cluster. Its pools are created by CreatePool.
func (s *Service) CreateCluster(c *Cluster) *Operation {
	c.Goal, c.Created = c.Version, s.state.Now
	s.Clusters.Put(c.Key, c)
	return s.BeginCluster(c, Creating, s.Create)
}

// ChangeCluster begins to change a cluster, and upgrades its control plane where the version is another.
func (s *Service) ChangeCluster(c *Cluster, version string) *Operation {
	if version == c.Version {
		return s.BeginCluster(c, Updating, s.Change)
	}
	c.Goal = version
	return s.BeginCluster(c, Upgrading, s.Upgrade)
}

// DeleteCluster begins to delete a cluster with its pools, whatever runs.
func (s *Service) DeleteCluster(c *Cluster) *Operation {
	for _, p := range s.PoolsOf(c) {
		if s.Cancel(p); p.State != Deleting {
			s.beginPool(c, p, Deleting)
		}
	}
	s.end(c.Op, nil, true)
	return s.BeginCluster(c, Deleting, s.Change)
}

// CreatePool begins to create a pool.
func (s *Service) CreatePool(c *Cluster, p *Pool) *Operation {
	p.Cluster, p.Current, p.Created = c.Key, p.Version, s.state.Now
	s.Pools.Put(p.Key(), p)
	return s.beginPool(c, p, Creating)
}

// ChangePool begins to make another of a pool: labels and taints are brought to its nodes, its machines are replaced where they are to be
// made of something else. A change to what it is already resumes an upgrade that failed or was cancelled. The operation is nil where the
// cloud needs none.
func (s *Service) ChangePool(c *Cluster, p *Pool, next Spec) *Operation {
	doing := Updating
	unfinished := !s.Reconciles && slices.ContainsFunc(s.Instances.Living(p), func(m Machine) bool { return m.Stale })
	switch {
	case next.Model() != p.Model(), unfinished && reflect.DeepEqual(next, p.Spec):
		doing = Upgrading
	case next.Count != p.Count:
		doing = Scaling
	}
	if s.Reconciles && doing == Updating {
		s.EditPool(p, next)
		return s.Operations.Get(p.Op)
	}
	return s.ChangePoolBy(c, p, next, doing)
}

// ChangePoolBy begins to make another of a pool by an operation that the cloud chooses: only Upgrading replaces machines.
func (s *Service) ChangePoolBy(c *Cluster, p *Pool, next Spec, doing State) *Operation {
	s.EditPool(p, next)
	return s.beginPool(c, p, doing)
}

// EditPool changes a pool without an operation: only labels and taints are brought to its nodes.
func (s *Service) EditPool(p *Pool, next Spec) {
	if !maps.Equal(next.Labels, p.Labels) || !slices.Equal(next.Taints, p.Taints) {
		for _, m := range s.Instances.Living(p) {
			s.Nodes.Mark(m.UID, Remarked(next.Labels, p.Labels, next.Taints, p.Taints))
		}
	}
	p.Spec = next
	s.touch(p)
}

// Autoscale lets the cloud's autoscaler give a pool at rest a count.
func (s *Service) Autoscale(c *Cluster, p *Pool, count int) error {
	switch {
	case !p.Autoscaled:
		return fmt.Errorf("pool %s is not scaled by the autoscaler", p.Name)
	case s.Busy(c, p) != nil:
		return fmt.Errorf("the autoscaler leaves pool %s alone while an operation runs", p.Name)
	case count < p.Min || count > p.Max:
		return fmt.Errorf("pool %s may have %d to %d nodes, not %d", p.Name, p.Min, p.Max, count)
	}
	next := p.Spec
	next.Count = count
	s.ChangePool(c, p, next)
	return nil
}

// DeletePool begins to delete a pool.
func (s *Service) DeletePool(c *Cluster, p *Pool) *Operation { return s.beginPool(c, p, Deleting) }

// DeleteMachines begins to delete machines of a pool: the count falls by them, unless they are to be replaced.
func (s *Service) DeleteMachines(c *Cluster, p *Pool, replace bool, chosen ...*Instance) *Operation {
	op := s.beginPool(c, p, Scaling)
	for _, i := range chosen {
		s.Nodes.Leave(p.Leaving, p.MachineOf(i))
	}
	if !replace {
		p.Count -= len(chosen)
	}
	return op
}

// Cancel aborts the operation of a pool: what was done stays, and nodes that were cordoned take pods again.
func (s *Service) Cancel(p *Pool) {
	if p.Op == "" || p.State == Deleting {
		return
	}
	s.Nodes.Stay(s.Instances.Living(p), p.Leaving)
	s.end(p.Op, nil, true)
	p.Work, p.State = Work{}, Running
	s.touch(p)
}

// Finish ends the operation of a pool; a failure is why it did not succeed.
func (s *Service) Finish(p *Pool, failure *Failure) {
	s.end(p.Op, failure, false)
	p.Work, p.State, p.Failure = Work{Leaving: leaving(s, p)}, Running, failure
	if failure != nil {
		p.State = Failed
	} else {
		p.Current = p.Version
	}
	s.touch(p)
}

// end ends an operation.
func (s *Service) end(id string, failure *Failure, aborted bool) {
	if op := s.Operations.Get(id); op != nil && op.Running() {
		op.End, op.Failure, op.Aborted = s.state.Now, failure, aborted
		s.Operations.Touch(id)
	}
}

// Running reports whether the operation has not ended.
func (o *Operation) Running() bool { return o.End.IsZero() }
