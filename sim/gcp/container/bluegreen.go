package container

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

// Phases of a blue-green upgrade, as GKE names them.
const (
	phaseStarted   = "UPDATE_STARTED"
	phaseCreating  = "CREATING_GREEN_POOL"
	phaseCordoning = "CORDONING_BLUE_POOL"
	phaseDraining  = "DRAINING_BLUE_POOL"
	phaseSoaking   = "NODE_POOL_SOAKING"
	phaseDeleting  = "DELETING_BLUE_POOL"
	phaseRollback  = "ROLLBACK_STARTED"
)

// settings is the path of the settings of blue-green upgrades.
const settings = "upgradeSettings.blueGreenSettings."

// beginGreen adds the second set of groups.
func (w *rolls) beginGreen(c *Cluster, p *Pool) {
	p.Roll.Blue = &blueGreen{}
	w.enter(p, phaseStarted)
	for _, blue := range slices.Clone(p.Groups) {
		size := *blue.Want
		p.Groups = append(p.Groups, &group{Zone: blue.Zone, Name: w.models.groupName(c, p, blue.Zone), Want: &size, Green: true})
	}
}

// enter begins a phase.
func (w *rolls) enter(p *Pool, phase string) {
	p.Roll.Blue.Phase, p.Roll.Blue.Since = phase, w.core.Now
	w.rows.touchPool(p)
}

// sides returns the groups of both sets.
func (p *Pool) sides() (blue, green []*group) {
	for _, g := range p.Groups {
		if g.Green {
			green = append(green, g)
		} else {
			blue = append(blue, g)
		}
	}
	return blue, green
}

// onGreen takes a blue-green upgrade a step further.
func (w *rolls) onGreen(c *Cluster, p *Pool) {
	blue, green := p.sides()
	b := p.Roll.Blue
	switch b.Phase {
	case phaseStarted:
		w.enter(p, phaseCreating)
	case phaseCreating:
		w.grow(c, p, green)
	case phaseCordoning:
		w.nodes.Cordon(w.uids(c, p, blue)...)
		w.enter(p, phaseDraining)
	case phaseDraining:
		w.drain(p, w.all(c, p, blue))
	case phaseSoaking:
		if b.Complete || core.Due(b.Deletion, w.core.Now) {
			w.enter(p, phaseDeleting)
		} else if b.Deletion.After(p.Next) {
			p.Next = b.Deletion // nothing happens before, unless a client ends the soak time
		}
	case phaseDeleting:
		w.replace(c, p, blue, green)
	case phaseRollback:
		w.undo(c, p, blue, green)
	}
}

// replace deletes the old groups. The new ones take their place.
func (w *rolls) replace(c *Cluster, p *Pool, blue, green []*group) {
	if !w.deleted(c, blue) {
		return
	}
	for _, g := range green {
		g.Green = false
	}
	p.Groups = green
	w.done(c, p)
}

// all are the machines of groups that are not being deleted, uids their IDs.
func (w *rolls) all(c *Cluster, p *Pool, groups []*group) []managed.Machine {
	var out []managed.Machine
	for _, g := range groups {
		out = append(out, living(w.groups.machines(c, p, g))...)
	}
	return out
}

func (w *rolls) uids(c *Cluster, p *Pool, groups []*group) []string {
	var out []string
	for _, m := range w.all(c, p, groups) {
		out = append(out, m.UID)
	}
	return out
}

// grow waits until the second set of groups has all its nodes.
func (w *rolls) grow(c *Cluster, p *Pool, green []*group) {
	for _, g := range green {
		if !w.life.size(c, p, g) {
			if core.Due(p.Until, w.core.Now) {
				w.life.finish(c, p, w.life.trouble(c, p))
			}
			return
		}
	}
	w.enter(p, phaseCordoning)
}

// drain drains the old nodes batch by batch, with a pause after each.
func (w *rolls) drain(p *Pool, blue []managed.Machine) {
	var left []managed.Machine
	for _, m := range blue {
		switch d := p.Leaving[m.Key]; {
		case d == nil:
			left = append(left, m)
		case d.Drained.IsZero():
			if w.nodes.Drain(d, drain) != managed.Drained {
				return
			}
			p.Roll.Blue.Since = w.core.Now
		}
	}
	pause := spanOf(document.Text(p.Doc, settings+"standardRolloutPolicy.batchSoakDuration"))
	begun := len(left) < len(blue)
	switch {
	case begun && w.core.Now.Before(p.Roll.Blue.Since.Add(w.core.Life(pause))):
	case len(left) > 0:
		w.nodes.Fewer(left, p.Leaving, batch(p, len(blue)))
	default:
		w.enter(p, phaseSoaking)
		p.Roll.Blue.Deletion = w.core.Now.Add(w.core.Life(spanOf(document.Text(p.Doc, settings+"nodePoolSoakDuration"))))
	}
}

// batch returns the number of nodes that are drained at the same time.
func batch(p *Pool, nodes int) int {
	policy := document.Under(p.Doc, settings+"standardRolloutPolicy")
	if share, ok := policy["batchPercentage"].(float64); ok {
		return max(1, int(math.Ceil(share*float64(nodes))))
	}
	return max(1, number(policy, "batchNodeCount"))
}

// deleted deletes groups and reports whether they are gone.
func (w *rolls) deleted(c *Cluster, groups []*group) bool {
	gone := true
	for _, g := range groups {
		if w.groups.Exists(groupPath(c, g)) {
			w.groups.Drop(groupPath(c, g))
			gone = false
		}
	}
	return gone
}

// undo opens the old nodes again, drains the new ones and deletes them.
func (w *rolls) undo(c *Cluster, p *Pool, blue, green []*group) {
	w.nodes.Uncordon(w.uids(c, p, blue)...)
	if !w.life.emptied(p, w.all(c, p, green), drain) || !w.deleted(c, green) {
		return
	}
	p.Groups = blue
	w.done(c, p)
}

// spanOf reads a duration as Google writes one: 3600s, 1.5s.
func spanOf(written string) time.Duration {
	d, err := time.ParseDuration(cmp.Or(written, "0s"))
	if err != nil {
		return 0
	}
	return d
}
