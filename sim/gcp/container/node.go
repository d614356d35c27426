package container

import (
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

// operator is GKE's name on the consoles of its machines.
const operator = "gke"

// effects are the effects of taints in Kubernetes' words, by GKE's.
var effects = map[string]string{"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}

// poolOf finds the node pool that an instance group is of, nil for a group of another owner.
func (w *models) poolOf(path string) (*Cluster, *Pool) {
	for _, p := range w.rows.pools.All() {
		c := w.rows.clusters.Get(p.Cluster)
		for _, g := range p.Groups {
			if c != nil && groupPath(c, g) == path {
				return c, p
			}
		}
	}
	return nil, nil
}

// nodeOf returns what a machine learns from GKE, and its version of Kubernetes; nil for a machine of no node pool.
func (w *models) nodeOf(group, template, zone string) (*sim.Managed, string) {
	c, p := w.poolOf(group)
	if p == nil {
		return nil, ""
	}
	labels := w.labels(p)
	labels["topology.gke.io/zone"] = zone
	return &sim.Managed{
		Cluster: c.Name, Group: p.Name, Server: c.Access.Endpoint, CA: c.Access.CA, Token: c.Access.Token, Operator: operator, Labels: labels,
		Taints: taints(p),
	}, "v" + p.Templates[template].Version
}

// taints are those that a node registers with.
func taints(p *Pool) []sim.Taint {
	var out []sim.Taint
	if armed(p) {
		out = append(out, sim.Taint{Key: "kubernetes.io/arch", Value: "arm64", Effect: "NoSchedule"})
	}
	for _, t := range document.Objects(p.Doc, "config.taints") {
		out = append(out, sim.Taint{Key: document.Text(t, "key"), Value: document.Text(t, "value"), Effect: effects[document.Text(t, "effect")]})
	}
	return out
}

// mark brings labels and taints to the nodes of a node pool that exist.
func (w *models) mark(c *Cluster, p *Pool, before document.Object) {
	change := managed.Remarked(w.labels(p), document.Pairs(before, "config.labels"), taints(p), taints(&Pool{Doc: before, Name: p.Name}))
	for _, m := range w.groups.machinesOf(c, p) {
		w.nodes.Mark(m.UID, change)
	}
}
