package container

import (
	"slices"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
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
		if core.Due(p.Until, w.core.Now) && len(p.Leaving) == 0 {
			w.cancel(p, w.life.trouble(c, p))
		}
		return
	}
	w.done(c, p)
}

// done ends an upgrade that has replaced all nodes.
func (w *rolls) done(c *Cluster, p *Pool) {
	p.Current, p.Roll, p.Former = p.Wanted, nil, nil
	w.life.dropZones(c, p)
	w.models.prune(c, p)
	w.life.finish(c, p, nil)
}

// count notes in the operation how many nodes have been replaced.
func (w *rolls) count(c *Cluster, p *Pool) {
	op := w.life.of(c, p.Op)
	if op == nil {
		return
	}
	op.Total, op.Done = 0, 0
	for _, m := range living(w.groups.machinesOf(c, p)) {
		op.Total++
		if !m.Stale {
			op.Done++
		}
	}
	w.rows.operations.Touch(op.key())
}

// zone takes the upgrade of one group a step further, and reports whether it is done: new nodes come first; as far as enough nodes are
// ready, old ones are cordoned and drained; an empty one is deleted.
func (w *rolls) zone(c *Cluster, p *Pool, g *group) bool {
	machines := living(w.groups.machines(c, p, g))
	if !slices.ContainsFunc(machines, func(m managed.Machine) bool { return m.Stale }) {
		return w.life.size(c, p, g)
	}
	turn := w.nodes.Roll(machines, p.Leaving, managed.Roll{
		Want: *g.Want, Missing: p.Roll.Missing, AtOnce: p.Roll.Surge + p.Roll.Missing, Drain: drain,
	})
	for _, m := range turn.Drained {
		w.groups.takeOut(m)
		p.Until = w.core.Now.Add(w.core.Life(lifeGiveUp))
	}
	path, left := groupPath(c, g), len(turn.Old)-len(turn.Drained)
	if next := *g.Want + min(p.Roll.Surge, left); w.groups.Size(path) < next {
		w.groups.resize(path, next)
	}
	return false
}

// unfinished reports whether a node pool has nodes of another generation than it is to have, as an upgrade leaves them that failed or was
// cancelled.
func (w *rolls) unfinished(c *Cluster, p *Pool) bool {
	if p.Roll != nil {
		return true
	}
	return slices.ContainsFunc(w.groups.machinesOf(c, p), func(m managed.Machine) bool { return !m.Deleting && m.Stale })
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
