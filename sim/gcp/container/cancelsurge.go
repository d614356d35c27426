package container

import (
	"cmp"
	"slices"

	"github.com/muster-project/muster/sim/managed"
)

// cancel ends an upgrade with surge before all nodes are replaced. Each group returns to its size without its surge nodes. Draining nodes
// are removed first, then nodes that are not ready, and then old ones: upgraded nodes stay. All other nodes accept pods again.
func (w *rolls) cancel(p *Pool, conditions []Condition) {
	p.Roll, p.Ending, p.Next = nil, &ending{conditions}, w.core.Now
	w.rows.touchPool(p)
}

// trim starts to drain the surplus machines of a group.
func (w *rolls) trim(p *Pool, living []managed.Machine, want int) {
	class := func(m managed.Machine) int {
		switch {
		case p.Leaving[m.Key] != nil:
			return 0
		case !w.nodes.Ready(m):
			return 1
		case m.Stale:
			return 2
		}
		return 3
	}
	slices.SortStableFunc(living, func(a, b managed.Machine) int { return cmp.Compare(class(a), class(b)) })
	surplus := max(0, len(living)-want)
	w.nodes.Fewer(living[:surplus], p.Leaving, surplus)
	w.nodes.Stay(living[surplus:], p.Leaving)
}

// removeSurge advances a cancelled upgrade: groups are resized one by one.
func (w *rolls) removeSurge(c *Cluster, p *Pool) {
	for _, g := range p.Groups {
		if g.Want == nil {
			continue
		}
		path := groupPath(c, g)
		w.trim(p, living(w.groups.machines(c, p, g)), *g.Want)
		w.life.letGo(p, living(w.groups.machines(c, p, g)))
		if w.groups.Size(path) < *g.Want {
			w.groups.resize(path, *g.Want)
		}
		if len(w.groups.machines(c, p, g)) > *g.Want {
			return
		}
	}
	w.life.finish(c, p, p.Ending.Conditions)
}
