package container

import (
	"cmp"
	"slices"

	"github.com/muster-project/muster/sim/managed"
)

// end ends an upgrade with surge that does not replace all nodes: each group gets back to its size without the machines that it had beside
// it. Those that drain go first, then those that are not ready, and then old ones: what was upgraded stays. All other nodes take pods
// again.
func (w *rolls) end(p *Pool, conditions []Condition) {
	p.Roll, p.Ending, p.Next = nil, &ending{conditions}, w.core.Now
	w.rows.touchPool(p)
}

// trim begins to drain the machines of a group that are too many.
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

// wind takes the end of an upgrade a step further.
func (w *rolls) wind(c *Cluster, p *Pool) {
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
