package aws

import (
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
)

const (
	// lifeJoin is how long after its boot a machine is a Ready node where nobody is asked.
	lifeJoin = 30 * time.Second
	// lifeEvict is how long a drain takes where nobody is asked.
	lifeEvict = 10 * time.Second
)

// nodeOf is what a machine of a node group learns from EKS, nil for others.
func (r *realm) nodeOf(i *instance) *sim.Managed {
	m := r.managedFacts(i)
	if m == nil {
		return nil
	}
	out := &sim.Managed{
		Cluster: m.cluster.name(), Group: m.group.name(), Server: str(m.cluster.Shape.Endpoint), CA: m.cluster.CA, Own: m.facts.Own,
		Labels: m.labels(i.Spot), Taints: taintsOf(m.group.Shape.Taints),
	}
	if r.admits(str(m.group.Shape.NodeRole)) {
		out.Token = m.cluster.Token
	}
	return out
}

func taintsOf(taints []eks.Taint) []sim.Taint {
	var out []sim.Taint
	for _, t := range taints {
		out = append(out, sim.Taint{Key: str(t.Key), Value: str(t.Value), Effect: taintEffects[t.Effect]})
	}
	return out
}

// workload is what knows of nodes, nil where nobody does.
func (s *Server) workload() sim.Workload {
	w, ok := s.host.(sim.Workload)
	if !ok {
		return nil
	}
	return w
}

// ready reports a member whose machine is a Ready node.
func (r *realm) ready(n *nodegroup, m *member) bool {
	i := r.instances.Get(m.Instance)
	if i == nil || i.State != stateRunning || i.impaired(r.now) {
		return false
	}
	if w := r.server.workload(); w != nil {
		return w.Ready(i.ID)
	}
	return !i.NeverBoots && r.admits(str(n.Shape.NodeRole)) && !r.now.Before(i.Since.Add(r.life(lifeJoin)))
}

// drained reports a machine that nothing is left on that has to go, and sees to it that it comes to this.
func (r *realm) drained(id string, since time.Time, force bool) bool {
	if w := r.server.workload(); w != nil {
		return w.Drain(id, force)
	}
	return !r.now.Before(since.Add(r.life(lifeEvict)))
}

func (r *realm) cordon(id string, closed bool) {
	if w := r.server.workload(); w != nil {
		w.Cordon(id, closed)
	}
}
