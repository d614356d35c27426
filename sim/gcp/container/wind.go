package container

import (
	"cmp"
	"slices"
)

// end ends an upgrade with surge that does not replace all nodes: each group gets back to its size without the machines that it had beside
// it. Those that drain go first, then those that are not ready, and then old ones: what was upgraded stays. All other nodes take pods
// again.
func (w *rolls) end(p *Pool, conditions []Condition) {
	p.Roll, p.Ending, p.Next = nil, &ending{conditions}, w.Now
	w.touchPool(p)
}

// trim begins to drain the machines of a group that are too many.
func (w *rolls) trim(p *Pool, living []machine, want int) {
	class := func(n machine) int {
		switch {
		case p.Leaving[n.Name] != nil:
			return 0
		case !w.nodes.ready(n):
			return 1
		case p.stale(n):
			return 2
		}
		return 3
	}
	slices.SortStableFunc(living, func(a, b machine) int { return cmp.Compare(class(a), class(b)) })
	for i, n := range living {
		switch surplus := i < len(living)-want; {
		case surplus && p.Leaving[n.Name] == nil:
			w.life.leave(p, n)
		case !surplus && p.Leaving[n.Name] != nil:
			delete(p.Leaving, n.Name)
			w.nodes.cordon(n.ID, false)
		}
	}
}

// wind takes the end of an upgrade a step further.
func (w *rolls) wind(c *Cluster, p *Pool) {
	for _, g := range p.Groups {
		if g.Want == nil {
			continue
		}
		path := groupPath(c, g)
		w.trim(p, w.life.living(c, g), *g.Want)
		w.life.letGo(p, w.life.living(c, g))
		if w.groups.Size(path) < *g.Want {
			w.resize(path, *g.Want)
		}
		if len(w.machines(path)) > *g.Want {
			return
		}
	}
	w.life.finish(c, p, p.Ending.Conditions)
}
