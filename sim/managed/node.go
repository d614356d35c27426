package managed

import (
	"maps"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
)

const (
	// lifeJoin is the time from a machine's boot until its node is Ready, lifeEvict the duration of a drain, both without a workload.
	lifeJoin  = 30 * time.Second
	lifeEvict = 10 * time.Second
)

// Machine is a machine of a node pool.
type Machine struct {
	// Key names it within its pool, UID is the ID by which the MachineHost knows it: a machine that is created anew under its name has
	// another one. Group is the group of machines that it is in, where the cloud has such groups.
	Key, UID, Group string
	// Stale is true if it was made otherwise than machines of the pool are made now.
	Stale bool
	// Up is true while it runs and its cloud finds nothing wrong with it, Deleting once it is on its way out.
	Up, Deleting bool
	// Booted is when it began to run, the zero time for one inside which nothing happens or that its cluster does not let in.
	Booted time.Time
	// Unserved is true if its cluster has no API server whose nodes can be looked at.
	Unserved bool
}

// Nodes are the nodes of machines, as the cloud that manages them sees them.
type Nodes struct{ state *core.State }

// NewNodes returns the nodes of a cloud's machines.
func NewNodes(state *core.State) *Nodes { return &Nodes{state} }

// Ready reports whether a machine is a Ready node. Without a workload to look at, a machine is Ready some time after its boot.
func (n *Nodes) Ready(m Machine) bool {
	if !m.Up || m.Deleting {
		return false
	}
	if v := n.state.Workload(); v != nil && !m.Unserved {
		return v.Ready(m.UID)
	}
	return !m.Booted.IsZero() && !n.state.Now.Before(m.Booted.Add(n.state.Life(lifeJoin)))
}

// CountReady returns how many of the machines are Ready nodes.
func (n *Nodes) CountReady(machines []Machine) int {
	ready := 0
	for _, m := range machines {
		if n.Ready(m) {
			ready++
		}
	}
	return ready
}

// Cordon closes the nodes of machines to new pods.
func (n *Nodes) Cordon(uids ...string) { n.cordon(uids, true) }

// Uncordon opens the nodes of machines to new pods.
func (n *Nodes) Uncordon(uids ...string) { n.cordon(uids, false) }

func (n *Nodes) cordon(uids []string, closed bool) {
	if v := n.state.Workload(); v != nil {
		for _, uid := range uids {
			v.Cordon(uid, closed)
		}
	}
}

// Unregister deletes the Node of a machine.
func (n *Nodes) Unregister(uid string) {
	if v := n.state.Workload(); v != nil {
		v.Unregister(uid)
	}
}

// Evict begins to evict what runs on a machine, or goes on with it; by force whatever the budgets of the pods say. It reports whether
// nothing is left that has to go. since is when it began.
func (n *Nodes) Evict(uid string, since time.Time, force bool) bool {
	if v := n.state.Workload(); v != nil {
		return v.Drain(uid, force)
	}
	return !n.state.Now.Before(since.Add(n.state.Life(lifeEvict)))
}

// Mark changes the labels and taints of a node.
func (n *Nodes) Mark(uid string, change sim.Marks) {
	if v := n.state.Workload(); v != nil {
		v.Mark(uid, change)
	}
}

// Remarked returns how the nodes of a pool change whose labels and taints become others.
func Remarked(labels, oldLabels map[string]string, taints, oldTaints []sim.Taint) sim.Marks {
	return sim.Marks{Labels: labels, Taints: taints, Unlabel: slices.Sorted(maps.Keys(oldLabels)), Untaint: oldTaints}
}
