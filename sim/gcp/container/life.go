package container

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/state"
)

// The times that things take in life.
const (
	// lifeCreate is what a control plane takes to be created, lifePlane to be upgraded, lifeChange to be changed.
	lifeCreate = 4 * time.Minute
	lifePlane  = 5 * time.Minute
	lifeChange = 10 * time.Second
	// lifeWatch is how often GKE looks at what goes on.
	lifeWatch = 5 * time.Second
	// lifeGiveUp is for how long GKE waits for machines of a node pool.
	lifeGiveUp = 35 * time.Minute
	// lifeDrain is for how long GKE respects the budgets of the pods on a node that it drains.
	lifeDrain = time.Hour
)

// tickCluster brings a cluster to the present, and returns when it has to be looked at again.
func (w *lifecycle) tickCluster(c *Cluster) time.Time {
	op := w.of(c, c.Op)
	switch {
	case op == nil || op.Pool != "":
		return time.Time{}
	case c.Until.After(w.Now):
		return c.Until
	}
	var conditions []Condition
	for _, p := range w.poolsOf(c) {
		if p.Op != "" {
			return w.Now.Add(w.Life(lifeWatch))
		}
		conditions = append(conditions, p.Conditions...)
	}
	switch op.Type {
	case "DELETE_CLUSTER":
		w.end(c, op.Name, nil)
		w.clusters.Delete(c.key())
		return time.Time{}
	case "UPGRADE_MASTER":
		c.Master = c.Goal
	case "CREATE_CLUSTER":
		w.end(c, op.Name, conditions)
	}
	w.end(c, op.Name, nil)
	w.release(c)
	return time.Time{}
}

// tickPool brings a node pool to the present, and returns when it has to be looked at again.
func (w *lifecycle) tickPool(p *Pool) time.Time {
	c := w.clusters.Get(p.Cluster)
	switch {
	case c == nil || p.Op == "":
		return time.Time{}
	case p.Next.After(w.Now):
		return p.Next
	}
	p.Next = w.Now.Add(w.Life(lifeWatch))
	w.pools.Touch(p.key())
	w.advance(c, p)
	if p.Op == "" || w.pools.Get(p.key()) == nil {
		return time.Time{}
	}
	return p.Next
}

// advance takes what an operation does to a node pool a step further.
func (w *lifecycle) advance(c *Cluster, p *Pool) {
	if p.Status == stopping {
		w.remove(c, p)
		return
	}
	if p.Until.IsZero() {
		p.Until = w.Now.Add(w.Life(lifeGiveUp))
		if err := w.nodes.model(c, p); err != nil {
			p.Roll = nil
			w.finish(c, p, []Condition{{Code: "UNKNOWN", Canonical: "INVALID_ARGUMENT", Message: "Google Compute Engine: " + err.Error()}})
			return
		}
	}
	w.forget(c, p)
	switch {
	case p.Ending != nil:
		w.rolls.wind(c, p)
	case p.Roll != nil:
		w.rolls.on(c, p)
	case p.Repair != "":
		w.repair(c, p)
	default:
		w.settle(c, p)
	}
}

// forget drops what is noted of machines that are gone.
func (w *lifecycle) forget(c *Cluster, p *Pool) {
	here := map[string]bool{}
	for _, n := range w.nodes.of(c, p) {
		here[n.ID] = !n.deleting()
	}
	maps.DeleteFunc(p.Leaving, func(_ string, l *leaving) bool { return !here[l.ID] })
}

// repair creates a node again once it has drained, and opens it to pods when it is back.
func (w *lifecycle) repair(c *Cluster, p *Pool) {
	for _, n := range w.nodes.of(c, p) {
		if n.Name != p.Repair {
			continue
		}
		switch {
		case p.Leaving[n.Name] != nil && w.drained(p, n, false):
			delete(p.Leaving, n.Name)
			p.Broken = n.ID
			w.recreate(n)
			return
		case p.Leaving[n.Name] != nil, (n.ID == p.Broken || !w.nodes.ready(n)) && !state.Due(p.Until, w.Now):
			return
		}
		w.nodes.cordon(n.ID, false)
	}
	p.Repair, p.Broken = "", ""
}

// remove drains the nodes of a node pool and deletes its groups.
func (w *lifecycle) remove(c *Cluster, p *Pool) {
	force := !document.Truth(p.Doc, "nodeDrainConfig.respectPdbDuringNodePoolDeletion")
	left := false
	for _, g := range p.Groups {
		if !w.groups.Exists(groupPath(c, g)) {
			continue
		}
		left = true
		if w.emptied(p, w.living(c, g), force) {
			w.groups.Drop(groupPath(c, g))
		}
	}
	if left {
		return
	}
	for path := range p.Templates {
		_ = w.groups.DropTemplate(path) // one that another group uses stays
	}
	w.settled(c, p, nil)
	w.pools.Delete(p.key())
}

// emptied drains all of some machines and reports whether none has anything left.
func (w *lifecycle) emptied(p *Pool, all []machine, force bool) bool {
	empty := true
	for _, n := range all {
		if p.Leaving[n.Name] == nil {
			w.leave(p, n)
		}
		empty = w.drained(p, n, force) && empty
	}
	return empty
}

// settle brings the groups of a node pool to the sizes that they shall have. Nodes that are too many are drained before they go.
func (w *lifecycle) settle(c *Cluster, p *Pool) {
	done := true
	for _, g := range p.Groups {
		if g.Want != nil {
			done = w.size(c, p, g) && done
		}
	}
	switch {
	case done:
		w.dropZones(c, p)
		w.finish(c, p, nil)
	case state.Due(p.Until, w.Now):
		w.finish(c, p, w.trouble(c, p))
	}
}

// size brings a group to the size that it shall have, and reports whether it is there with all its nodes ready.
func (w *lifecycle) size(c *Cluster, p *Pool, g *group) bool {
	path := groupPath(c, g)
	living := w.living(c, g)
	w.letGo(p, living)
	drains := 0
	for _, n := range living {
		if p.Leaving[n.Name] != nil {
			drains++
		}
	}
	if w.groups.Size(path) < *g.Want {
		w.resize(path, *g.Want)
	}
	w.fewer(p, living, len(living)-drains-*g.Want)
	return drains == 0 && len(w.machines(path)) == *g.Want && w.nodes.readyOf(living) == *g.Want
}

// fewer begins to drain as many machines, chosen at random.
func (w *lifecycle) fewer(p *Pool, living []machine, many int) {
	order := slices.Clone(living)
	slices.SortFunc(order, func(a, b machine) int {
		return cmp.Compare(sim.Seed(0).Hex(8, a.Name, a.ID), sim.Seed(0).Hex(8, b.Name, b.ID))
	})
	for _, n := range order {
		if many > 0 && p.Leaving[n.Name] == nil {
			w.leave(p, n)
			many--
		}
	}
}

// leave begins to drain a machine.
func (w *lifecycle) leave(p *Pool, n machine) {
	p.Leaving[n.Name] = &leaving{ID: n.ID, Since: w.Now}
	w.nodes.cordon(n.ID, true)
}

// drained reports whether nothing is left on a machine that has to go, or whether it has had its time; by force the budgets of the pods do
// not count.
func (w *lifecycle) drained(p *Pool, n machine, force bool) bool {
	l := p.Leaving[n.Name]
	switch {
	case l == nil:
		return false
	case !l.Drained.IsZero():
		return true
	case w.nodes.drained(n.ID, l.Since, force || !w.Now.Before(l.Since.Add(w.Life(lifeDrain)))):
		l.Drained = w.Now
		return true
	}
	return false
}

// letGo deletes the machines that have drained.
func (w *lifecycle) letGo(p *Pool, living []machine) {
	for _, n := range living {
		if w.drained(p, n, false) {
			w.takeOut(n)
			delete(p.Leaving, n.Name)
		}
	}
}

// living are the machines of a group that are not being deleted.
func (w *lifecycle) living(c *Cluster, g *group) []machine {
	return slices.DeleteFunc(w.machines(groupPath(c, g)), func(n machine) bool { return n.deleting() })
}

// dropZones deletes the empty groups of zones that the node pool has left.
func (w *lifecycle) dropZones(c *Cluster, p *Pool) {
	p.Groups = slices.DeleteFunc(p.Groups, func(g *group) bool {
		gone := !slices.Contains(p.zones(), g.Zone)
		if gone {
			w.groups.Drop(groupPath(c, g))
		}
		return gone
	})
}

// trouble is why the machines of a node pool are not as they shall be: what Compute Engine says of those that it can't create, or that
// nodes did not register.
func (w *lifecycle) trouble(c *Cluster, p *Pool) []Condition {
	want, ready := 0, 0
	for _, g := range p.Groups {
		size := w.groups.Size(groupPath(c, g))
		want += size
		all := w.living(c, g)
		ready += w.nodes.readyOf(all)
		for _, n := range all {
			if len(n.Failures) > 0 {
				return []Condition{w.stockout(n, size, all)}
			}
		}
	}
	return []Condition{{Code: "UNKNOWN", Canonical: "UNKNOWN",
		Message: fmt.Sprintf("All cluster resources were brought up, but: only %d nodes out of %d "+
			"have registered; cluster may be unhealthy.", ready, want)}}
}

// stockout is the condition for a machine that Compute Engine can't create.
func (w *lifecycle) stockout(n machine, size int, all []machine) Condition {
	up := 0
	for _, one := range all {
		if one.running() {
			up++
		}
	}
	code, f := "GCE_STOCKOUT", n.Failures[0]
	if f.Code == "QUOTA_EXCEEDED" {
		code = "GCE_QUOTA_EXCEEDED"
	}
	return Condition{Code: code, Canonical: "RESOURCE_EXHAUSTED",
		Message: fmt.Sprintf("Google Compute Engine: Not all instances running in IGM after %s. "+
			"Expected %d, running %d, transitioning %d. Current errors: [%s]: Instance '%s' creation failed: %s", lifeGiveUp, size, up,
			size-up, code,
			n.Name, f.Message)}
}
