package container

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/managed"
)

// Durations in the real cloud.
const (
	// lifeCreate is the time to create a control plane, lifePlane to upgrade it, lifeChange to change it.
	lifeCreate = 4 * time.Minute
	lifePlane  = 5 * time.Minute
	lifeChange = 10 * time.Second
	// lifeGiveUp is the time after which GKE gives up waiting for machines of a node pool.
	lifeGiveUp = 35 * time.Minute
)

// drain is GKE's drain of nodes: for an hour it respects the disruption budgets.
var drain = managed.Drain{Limit: time.Hour, Late: managed.LateForces}

// tickCluster applies the transitions of a cluster that are due, and returns the time of the next one.
func (w *lifecycle) tickCluster(c *Cluster) time.Time {
	op := w.of(c, c.Op)
	switch {
	case op == nil || op.Pool != "":
		return time.Time{}
	case c.Until.After(w.core.Now):
		return c.Until
	}
	var conditions []Condition
	for _, p := range w.rows.poolsOf(c) {
		if p.Op != "" {
			return w.core.Now.Add(w.core.Life(managed.Watch))
		}
		conditions = append(conditions, p.Conditions...)
	}
	switch op.Type {
	case "DELETE_CLUSTER":
		w.end(c, op.Name, nil)
		w.rows.clusters.Delete(c.key())
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
	c := w.rows.clusters.Get(p.Cluster)
	if c == nil {
		return time.Time{}
	}
	return w.nodes.Look(&p.Work, func() {
		w.rows.pools.Touch(p.key())
		w.advance(c, p)
	})
}

// advance takes what an operation does to a node pool a step further.
func (w *lifecycle) advance(c *Cluster, p *Pool) {
	if p.Status == stopping {
		w.remove(c, p)
		return
	}
	if p.Until.IsZero() {
		p.Until = w.core.Now.Add(w.core.Life(lifeGiveUp))
		if err := w.models.put(c, p); err != nil {
			p.Roll = nil
			w.finish(c, p, []Condition{{Code: "UNKNOWN", Canonical: "INVALID_ARGUMENT", Message: "Google Compute Engine: " + err.Error()}})
			return
		}
	}
	p.Leaving.Forget(living(w.groups.machinesOf(c, p)))
	switch {
	case p.Ending != nil:
		w.rolls.removeSurge(c, p)
	case p.Roll != nil:
		w.rolls.on(c, p)
	case p.Repair != "":
		w.repair(c, p)
	default:
		w.settle(c, p)
	}
}

// repair creates a node again once it has drained, and opens it to pods when it is back.
func (w *lifecycle) repair(c *Cluster, p *Pool) {
	for _, m := range w.groups.machinesOf(c, p) {
		if m.Key != p.Repair {
			continue
		}
		d := p.Leaving[m.Key]
		switch {
		case d != nil && w.nodes.Drain(d, drain) == managed.Drained:
			delete(p.Leaving, m.Key)
			p.Broken = m.UID
			w.groups.recreate(m)
			return
		case d != nil, (m.UID == p.Broken || !w.nodes.Ready(m)) && !core.Due(p.Until, w.core.Now):
			return
		}
		w.nodes.Uncordon(m.UID)
	}
	p.Repair, p.Broken = "", ""
}

// remove drains the nodes of a node pool and deletes its groups.
func (w *lifecycle) remove(c *Cluster, p *Pool) {
	how, left := drain, false
	how.Force = !document.Truth(p.Doc, "nodeDrainConfig.respectPdbDuringNodePoolDeletion")
	for _, g := range p.Groups {
		if !w.groups.Exists(groupPath(c, g)) {
			continue
		}
		left = true
		if w.emptied(p, living(w.groups.machines(c, p, g)), how) {
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
	w.rows.pools.Delete(p.key())
}

// emptied drains all of some machines and reports whether none has anything left.
func (w *lifecycle) emptied(p *Pool, all []managed.Machine, how managed.Drain) bool {
	w.nodes.Fewer(all, p.Leaving, len(all))
	return len(w.nodes.Gone(all, p.Leaving, how)) == len(all)
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
	case core.Due(p.Until, w.core.Now):
		w.finish(c, p, w.trouble(c, p))
	}
}

// size brings a group to the size that it shall have, and reports whether it is there with all its nodes ready.
func (w *lifecycle) size(c *Cluster, p *Pool, g *group) bool {
	path, want, living := groupPath(c, g), *g.Want, living(w.groups.machines(c, p, g))
	w.letGo(p, living)
	drains := 0
	for _, m := range living {
		if p.Leaving[m.Key] != nil {
			drains++
		}
	}
	if w.groups.Size(path) < want {
		w.groups.resize(path, want)
	}
	w.nodes.Fewer(byChance(living), p.Leaving, len(living)-drains-want)
	return drains == 0 && len(w.groups.machines(c, p, g)) == want && w.nodes.CountReady(living) == want
}

// byChance returns machines in the order in which GKE takes them.
func byChance(machines []managed.Machine) []managed.Machine {
	return slices.SortedFunc(slices.Values(machines), func(a, b managed.Machine) int {
		return cmp.Compare(sim.Seed(0).Hex(8, a.Key, a.UID), sim.Seed(0).Hex(8, b.Key, b.UID))
	})
}

// letGo deletes the machines that have drained.
func (w *lifecycle) letGo(p *Pool, living []managed.Machine) {
	for _, m := range w.nodes.Gone(living, p.Leaving, drain) {
		w.groups.takeOut(m)
	}
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
		machines := living(w.groups.machines(c, p, g))
		ready += w.nodes.CountReady(machines)
		for _, m := range w.groups.Members(groupPath(c, g)) {
			if len(m.Failures) > 0 && !machineOf(c, p, "", m).Deleting {
				return []Condition{w.stockout(m, size, machines)}
			}
		}
	}
	return []Condition{{Code: "UNKNOWN", Canonical: "UNKNOWN",
		Message: fmt.Sprintf("All cluster resources were brought up, but: only %d nodes out of %d "+
			"have registered; cluster may be unhealthy.", ready, want)}}
}

// stockout is the condition for a machine that Compute Engine can't create.
func (w *lifecycle) stockout(n compute.Member, size int, machines []managed.Machine) Condition {
	up := 0
	for _, m := range machines {
		if m.Up {
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
