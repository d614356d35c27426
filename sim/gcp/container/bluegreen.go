package container

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/state"
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

// settings is where the settings of blue-green upgrades are.
const settings = "upgradeSettings.blueGreenSettings."

// beginGreen adds the second set of groups.
func (w *rolls) beginGreen(c *Cluster, p *Pool) {
	p.Roll.Blue = &blueGreen{}
	w.enter(p, phaseStarted)
	for _, blue := range slices.Clone(p.Groups) {
		size := *blue.Want
		p.Groups = append(p.Groups, &group{Zone: blue.Zone, Name: w.nodes.groupName(c, p, blue.Zone), Want: &size, Green: true})
	}
}

// enter begins a phase.
func (w *rolls) enter(p *Pool, phase string) {
	p.Roll.Blue.Phase, p.Roll.Blue.Since = phase, w.Now
	w.touchPool(p)
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
		w.close(w.all(c, blue), true)
		w.enter(p, phaseDraining)
	case phaseDraining:
		w.drain(p, w.all(c, blue))
	case phaseSoaking:
		if b.Complete || state.Due(b.Deletion, w.Now) {
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

// close closes nodes to new pods, or opens them again.
func (w *rolls) close(all []machine, closed bool) {
	for _, n := range all {
		w.nodes.cordon(n.ID, closed)
	}
}

// all are the machines of groups that are not being deleted.
func (w *rolls) all(c *Cluster, groups []*group) []machine {
	var out []machine
	for _, g := range groups {
		out = append(out, w.life.living(c, g)...)
	}
	return out
}

// grow waits until the second set of groups has all its nodes.
func (w *rolls) grow(c *Cluster, p *Pool, green []*group) {
	for _, g := range green {
		if !w.life.size(c, p, g) {
			if state.Due(p.Until, w.Now) {
				w.life.finish(c, p, w.life.trouble(c, p))
			}
			return
		}
	}
	w.enter(p, phaseCordoning)
}

// drain drains the old nodes batch by batch, with a pause after each.
func (w *rolls) drain(p *Pool, blue []machine) {
	var left []machine
	for _, n := range blue {
		switch {
		case p.Leaving[n.Name] == nil:
			left = append(left, n)
		case p.Leaving[n.Name].Drained.IsZero():
			if !w.life.drained(p, n, false) {
				return
			}
			p.Roll.Blue.Since = w.Now
		}
	}
	pause := spanOf(document.Text(p.Doc, settings+"standardRolloutPolicy.batchSoakDuration"))
	begun := len(left) < len(blue)
	switch {
	case begun && w.Now.Before(p.Roll.Blue.Since.Add(w.Life(pause))):
	case len(left) > 0:
		for _, n := range left[:min(len(left), batch(p, len(blue)))] {
			w.life.leave(p, n)
		}
	default:
		w.enter(p, phaseSoaking)
		p.Roll.Blue.Deletion = w.Now.Add(w.Life(spanOf(document.Text(p.Doc, settings+"nodePoolSoakDuration"))))
	}
}

// batch is how many nodes are drained at a time.
func batch(p *Pool, nodes int) int {
	policy := document.Under(p.Doc, settings+"standardRolloutPolicy")
	if share, given := policy["batchPercentage"].(float64); given {
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
	w.close(w.all(c, blue), false)
	fresh := w.all(c, green)
	if !w.life.emptied(p, fresh, false) || !w.deleted(c, green) {
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
