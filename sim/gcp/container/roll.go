package container

import (
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/state"
)

const strategyBlueGreen = "BLUE_GREEN"

// begin begins to replace the nodes of a node pool by those of its current generation, as its upgrade settings say.
func (w *rolls) begin(c *Cluster, p *Pool) {
	if p.Roll != nil && p.Roll.Blue != nil && !p.Roll.Back && p.Roll.Version == p.Wanted {
		w.resume(c, p)
		return
	}
	p.Roll = &roll{Version: p.Wanted, Surge: number(p.Doc, "upgradeSettings.maxSurge"),
		Missing: number(p.Doc, "upgradeSettings.maxUnavailable")}
	w.keepSizes(c, p)
	if document.Text(p.Doc, "upgradeSettings.strategy") == strategyBlueGreen {
		w.beginGreen(c, p)
	}
}

// resume lets a blue-green upgrade go on that was paused: the new groups get the sizes of the old ones, and lose no node where an old one
// has gone meanwhile.
func (w *rolls) resume(c *Cluster, p *Pool) {
	w.keepSizes(c, p)
	blue, green := p.sides()
	for _, g := range green {
		for _, old := range blue {
			if old.Zone == g.Zone {
				size := max(*g.Want, *old.Want)
				g.Want = &size
			}
		}
	}
}

// keepSizes lets the groups of a node pool have at the end of an upgrade the sizes that they have now. One that an earlier operation failed
// to create gets as many nodes as the pool was given last for a zone.
func (w *rolls) keepSizes(c *Cluster, p *Pool) {
	for _, g := range p.Groups {
		if g.Want != nil {
			continue
		}
		n := p.Size
		if path := groupPath(c, g); w.groups.Exists(path) {
			n = w.groups.Size(path)
		}
		g.Want = &n
	}
}

// on takes an upgrade a step further: with surge one zone after the other.
func (w *rolls) on(c *Cluster, p *Pool) {
	if p.Roll.Blue != nil {
		w.onGreen(c, p)
		return
	}
	w.count(c, p)
	for _, g := range p.Groups {
		if w.zone(c, p, g) {
			continue
		}
		if state.Due(p.Until, w.Now) && len(p.Leaving) == 0 {
			w.end(p, w.life.trouble(c, p))
		}
		return
	}
	w.done(c, p)
}

// done ends an upgrade that has replaced all nodes.
func (w *rolls) done(c *Cluster, p *Pool) {
	p.Current, p.Roll, p.Former = p.Wanted, nil, nil
	w.life.dropZones(c, p)
	w.nodes.prune(c, p)
	w.life.finish(c, p, nil)
}

// count notes in the operation how many nodes have been replaced.
func (w *rolls) count(c *Cluster, p *Pool) {
	op := w.life.of(c, p.Op)
	if op == nil {
		return
	}
	op.Total, op.Done = 0, 0
	for _, g := range p.Groups {
		old, fresh, _ := w.survey(p, w.life.living(c, g))
		op.Total += len(old) + fresh
		op.Done += fresh
	}
	w.operations.Touch(op.key())
}

// zone takes the upgrade of one group a step further, and reports whether it is done: new nodes come first; as far as enough nodes are
// ready, old ones are cordoned and drained; an empty one is deleted.
func (w *rolls) zone(c *Cluster, p *Pool, g *group) bool {
	path, want, living := groupPath(c, g), *g.Want, w.life.living(c, g)
	old, fresh, ready := w.survey(p, living)
	if len(old) == 0 {
		return w.life.size(c, p, g)
	}
	for _, n := range old {
		switch {
		case p.Leaving[n.Name] != nil && w.life.drained(p, n, false):
			w.takeOut(n)
			delete(p.Leaving, n.Name)
			p.Until = w.Now.Add(w.Life(lifeGiveUp))
			continue
		case p.Leaving[n.Name] == nil && w.mayLeave(p, n, ready, want):
			if w.nodes.ready(n) {
				ready--
			}
			w.life.leave(p, n)
		}
	}
	left := len(w.life.living(c, g)) - fresh
	next := want + min(p.Roll.Surge, left)
	if w.groups.Size(path) < next {
		w.resize(path, next)
	}
	return false
}

// mayLeave reports whether an old node may be drained: no more than surge and unavailability allow at a time, and while enough nodes are
// ready without it.
func (w *rolls) mayLeave(p *Pool, n machine, ready, want int) bool {
	if len(p.Leaving) >= p.Roll.Surge+p.Roll.Missing {
		return false
	}
	return !w.nodes.ready(n) || ready-1 >= want-p.Roll.Missing
}

// survey divides the machines of a group: the old ones, how many are of the current generation, and how many take pods.
func (w *rolls) survey(p *Pool, living []machine) (old []machine, fresh, ready int) {
	for _, n := range living {
		if p.stale(n) {
			old = append(old, n)
		} else {
			fresh++
		}
		if w.nodes.ready(n) && p.Leaving[n.Name] == nil {
			ready++
		}
	}
	return old, fresh, ready
}

// stale reports a machine that was created as an earlier generation.
func (p *Pool) stale(n machine) bool { return p.Templates[n.Template].Generation != p.Generation }

// unfinished reports whether a node pool has nodes of another generation than it is to have, as an upgrade leaves them that failed or was
// cancelled.
func (w *rolls) unfinished(c *Cluster, p *Pool) bool {
	if p.Roll != nil {
		return true
	}
	for _, n := range w.nodes.of(c, p) {
		if !n.deleting() && p.stale(n) {
			return true
		}
	}
	return false
}

// back begins a rollback to what the node pool was before its last upgrade.
func (w *rolls) back(c *Cluster, p *Pool) {
	was := p.Former
	p.Doc, p.Wanted, p.Generation = was.Doc, was.Wanted, was.Generation
	p.Revision++
	if p.Roll != nil && p.Roll.Blue != nil {
		p.Roll.Back, p.Roll.Version = true, p.Wanted
		w.enter(p, phaseRollback)
		return
	}
	w.begin(c, p)
	p.Roll.Back = true
}
