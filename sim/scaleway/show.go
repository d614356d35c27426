package scaleway

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

// poolStatus returns the status of a pool. An upgrade is one until all machines of the new version run; then the pool scales.
func (w *region) poolStatus(p *managed.Pool) string {
	switch {
	case document.Truth(p.Doc, "locked"):
		return "locked"
	case p.State == managed.Deleting:
		return "deleting"
	case w.scalesOn(p):
		return "scaling"
	case w.trouble(p) != nil:
		return "warning"
	case p.Op == "":
		return "ready"
	case p.State == managed.Upgrading && (p.Until.IsZero() || w.renewed(p) < p.Count):
		return "upgrading"
	}
	return "scaling"
}

// scalesOn reports whether a pool whose nodes did not become Ready is shown as if they were still expected.
func (w *region) scalesOn(p *managed.Pool) bool {
	return p.Lacking == nil && p.Failure != nil && w.Switches.On(ScalesOn)
}

// renewed returns the number of running machines of a pool that match its specification.
func (w *region) renewed(p *managed.Pool) int {
	n := 0
	for _, i := range w.service.Instances.Of(p.Key()) {
		if i.Model == p.Model() && !i.Booted.IsZero() && !i.Deleting && p.Leaving[i.Key] == nil {
			n++
		}
	}
	return n
}

// trouble returns why nodes of a pool do not come, as the pool shows it.
func (w *region) trouble(p *managed.Pool) *managed.Failure {
	if p.Lacking != nil && !w.Switches.On(ShowsFailedNodes) {
		return p.Lacking
	}
	return p.Failure
}

// showPool returns a pool as clients see it.
func (w *region) showPool(c *managed.Cluster, p *managed.Pool) document.Object {
	out := document.Copied(p.Doc)
	delete(out, "locked")
	var message any
	if f := w.trouble(p); f != nil && !w.scalesOn(p) {
		message = f.Message
	}
	taints := slices.Clone(p.Taints)
	if (w.reads)%2 == 1 {
		slices.Reverse(taints)
	}
	size := p.Count
	if p.Type == external && w.Switches.On(ExternalSizeStays) {
		size = 0
	}
	maps.Copy(out, document.Object{
		"region": c.Doc["region"], "cluster_id": c.Key, "created_at": at(p.Created), "updated_at": at(p.Updated), "name": p.Name,
		"status": w.poolStatus(p), "version": p.Version, "node_type": p.Type, "autoscaling": p.Autoscaled, "size": size, "min_size": p.Min,
		"max_size": p.Max, "labels": maps.Clone(p.Labels),
		"upgrade_policy": document.Object{"max_unavailable": managed.Share(p.Missing, 0), "max_surge": managed.Share(p.Surge, 0)},
		"taints":         listOf(taints), "error_message": message,
	})
	return out
}

// listOf returns taints as clients see them.
func listOf(taints []sim.Taint) []any {
	out := []any{}
	for _, t := range taints {
		out = append(out, document.Object{"key": t.Key, "value": t.Value, "effect": cmp.Or(t.Effect, "NoSchedule")})
	}
	return out
}

// taintsOf returns the taints that a list shows.
func taintsOf(v any) []sim.Taint {
	var out []sim.Taint
	for _, t := range document.Objects(document.Object{"taints": v}, "taints") {
		out = append(out, sim.Taint{Key: document.Text(t, "key"), Value: document.Text(t, "value"), Effect: document.Text(t, "effect")})
	}
	return out
}

// started returns the time since an event, as in the real cloud.
func (w *region) started(since time.Time, life time.Duration) bool {
	return !w.Now.Before(since.Add(w.Life(life)))
}
