package container

import (
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/compute"
)

const (
	// lifeJoin is how long after it began to run a machine is a Ready node, lifeEvict how long a drain takes, without a workload.
	lifeJoin  = 30 * time.Second
	lifeEvict = 10 * time.Second

	// operator is GKE's name on the consoles of its machines.
	operator = "gke"
)

// effects are the effects of taints in Kubernetes' words, by GKE's.
var effects = map[string]string{"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}

// poolOf finds the node pool that an instance group is of, nil for a group of another owner.
func (w *nodes) poolOf(path string) (*Cluster, *Pool) {
	for _, p := range w.pools.All() {
		c := w.clusters.Get(p.Cluster)
		for _, g := range p.Groups {
			if c != nil && groupPath(c, g) == path {
				return c, p
			}
		}
	}
	return nil, nil
}

// nodeOf returns what a machine learns from GKE, and its version of Kubernetes; nil for a machine of no node pool.
func (w *nodes) nodeOf(n compute.Node) (*sim.Managed, string) {
	c, p := w.poolOf(n.Group)
	if p == nil {
		return nil, ""
	}
	labels := w.labels(p)
	labels["topology.gke.io/zone"] = n.Zone
	return &sim.Managed{
		Cluster: c.Name, Group: p.Name, Server: c.Access.Endpoint, CA: c.Access.CA, Token: c.Access.Token, Operator: operator, Labels: labels,
		Taints: taints(p),
	}, "v" + p.Templates[n.Template].Version
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

// ready reports whether a machine is a Ready node.
func (w *nodes) ready(n machine) bool {
	if !n.running() || n.deleting() {
		return false
	}
	if v := w.Workload(); v != nil {
		return v.Ready(n.ID)
	}
	return !n.NeverBoots && !w.Now.Before(n.Running.Add(w.Life(lifeJoin)))
}

// readyOf counts the machines that are Ready nodes.
func (w *nodes) readyOf(all []machine) int {
	n := 0
	for _, one := range all {
		if w.ready(one) {
			n++
		}
	}
	return n
}

// cordon closes a node to new pods, or opens it again.
func (w *nodes) cordon(uid string, closed bool) {
	if v := w.Workload(); v != nil {
		v.Cordon(uid, closed)
	}
}

// drained reports whether nothing is left on a node that has to go, and sees to it that it comes to this.
func (w *nodes) drained(uid string, since time.Time, force bool) bool {
	if v := w.Workload(); v != nil {
		return v.Drain(uid, force)
	}
	return !w.Now.Before(since.Add(w.Life(lifeEvict)))
}

// mark brings labels and taints to the nodes of a node pool that exist.
func (w *nodes) mark(c *Cluster, p *Pool, before document.Object) {
	v := w.Workload()
	if v == nil {
		return
	}
	old := &Pool{Doc: before, Name: p.Name}
	for _, n := range w.of(c, p) {
		change := sim.Marks{Labels: w.labels(p), Taints: taints(p), Untaint: taints(old)}
		for key := range document.Pairs(before, "config.labels") {
			change.Unlabel = append(change.Unlabel, key)
		}
		v.Mark(n.ID, change)
	}
}
