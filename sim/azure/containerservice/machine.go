package containerservice

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/document"
)

const (
	// lifeJoin is how long after it was made a machine is a Ready node, lifeEvict how long a drain takes, without a workload.
	lifeJoin  = 30 * time.Second
	lifeEvict = 10 * time.Second

	// operator is AKS's name on the consoles of its machines.
	operator = "aks"

	tagPool    = "aks-managed-poolName"
	tagVersion = "aks-managed-orchestrator"
	spotLabel  = "kubernetes.azure.com/scalesetpriority"
	// quarantine is the label of a node that could not be drained and is kept.
	quarantine = "kubernetes.azure.com/upgrade-status"
)

// setKey is the key of a pool's scale set.
func (w *Service) setKey(c *Cluster, p *Pool) string {
	return compute.SetKey(c.Sub, c.nodeGroup(), p.Set)
}

// model gives a pool's scale set what machines are made of that come from now on.
func (w *nodes) model(c *Cluster, p *Pool) {
	size, release := document.Text(p.Doc, "vmSize"), imageID(p.Image)
	tags := document.Object{tagPool: p.Name, tagVersion: "Kubernetes:" + p.Current, "aks-managed-creationSource": "vmssclient-aks-" + p.Name,
		"poolName": p.Name}
	maps.Copy(tags, document.Under(c.Doc, "tags"))
	maps.Copy(tags, document.Under(p.Doc, "tags"))
	profile := document.Object{
		"osProfile": document.Object{"computerNamePrefix": p.Set, "adminUsername": "azureuser",
			"linuxConfiguration": document.Object{"disablePasswordAuthentication": true}},
		"storageProfile": document.Object{
			"imageReference": document.Object{"id": release},
			"osDisk": document.Object{"osType": document.Text(p.Doc, "osType"), "createOption": "FromImage",
				"diskSizeGB": p.Doc["osDiskSizeGB"]},
		},
		"extensionProfile": document.Object{"extensions": []any{document.Object{"name": "vmssCSE", "properties": document.Object{
			"publisher": "Microsoft.Azure.Extensions", "type": "CustomScript", "settings": document.Object{"kubernetesVersion": p.Current}}}}},
		"networkProfile": document.Object{"networkInterfaceConfigurations": []any{document.Object{"name": p.Set,
			"properties": document.Object{"primary": true}}}},
	}
	if document.Text(p.Doc, "scaleSetPriority") == "Spot" {
		profile["priority"], profile["evictionPolicy"] = "Spot", cmp.Or(document.Text(p.Doc, "scaleSetEvictionPolicy"), "Delete")
	}
	properties := document.Object{"orchestrationMode": "Uniform", "overprovision": false, "singlePlacementGroup": false,
		"upgradePolicy": document.Object{"mode": "Manual"}, "virtualMachineProfile": profile}
	if p.ofVMs() {
		properties = document.Object{"orchestrationMode": "Flexible", "virtualMachineProfile": profile}
	}
	d := document.Object{
		"location": c.Location, "sku": document.Object{"name": size, "tier": "Standard"}, "tags": tags, "properties": properties,
	}
	if zones := document.Items(p.Doc, "availabilityZones"); len(zones) > 0 {
		d["zones"] = zones
	}
	w.compute.PutManaged(c.Sub, c.nodeGroup(), p.Set, p.ofVMs(), d)
}

// poolOf finds the pool that a machine is of, nil for a machine of no pool.
func (w *nodes) poolOf(n compute.Node) (*Cluster, *Pool) {
	for _, p := range w.pools.All() {
		if c := w.clusters.Get(p.Cluster); c != nil && w.setKey(c, p) == n.Set {
			return c, p
		}
	}
	return nil, nil
}

// nodeOf returns what a machine learns from AKS, and its version of Kubernetes; nil for a machine of no pool.
func (w *nodes) nodeOf(n compute.Node) (*sim.Managed, string) {
	c, p := w.poolOf(n)
	if p == nil {
		return nil, ""
	}
	return &sim.Managed{
		Cluster: c.Name, Group: p.Name, Server: c.Endpoint, CA: c.CA, Token: c.Token, Operator: operator, Labels: w.labels(c, p, n),
		Taints: taints(p),
	}, "v" + versionOf(n)
}

// versionOf is the version of Kubernetes that a machine was made with.
func versionOf(n compute.Node) string { return strings.TrimPrefix(n.Tags[tagVersion], "Kubernetes:") }

// labels are those that a node registers with: AKS's own, and the pool's.
func (w *nodes) labels(c *Cluster, p *Pool, n compute.Node) map[string]string {
	out := map[string]string{
		"agentpool": p.Name, "kubernetes.azure.com/agentpool": p.Name, "kubernetes.azure.com/cluster": c.nodeGroup(),
		"kubernetes.azure.com/role": "agent",
		"kubernetes.azure.com/mode": strings.ToLower(document.Text(p.Doc, "mode")), "kubernetes.azure.com/node-image-version": imageOf(n.Image),
		"kubernetes.azure.com/os-sku": document.Text(p.Doc, "osSKU"),
	}
	if document.Text(p.Doc, "scaleSetPriority") == "Spot" {
		out[spotLabel] = "spot"
	}
	maps.Copy(out, document.Pairs(p.Doc, "nodeLabels"))
	return out
}

// taints are those that a node registers with.
func taints(p *Pool) []sim.Taint {
	var out []sim.Taint
	if document.Text(p.Doc, "scaleSetPriority") == "Spot" {
		out = append(out, sim.Taint{Key: spotLabel, Value: "spot", Effect: "NoSchedule"})
	}
	for _, written := range document.Texts(p.Doc, "nodeTaints") {
		if t, ok := taintOf(written); ok {
			out = append(out, t)
		}
	}
	return out
}

// taintOf reads a taint as AKS writes one: key=value:effect.
func taintOf(written string) (sim.Taint, bool) {
	pair, effect, ok := strings.Cut(written, ":")
	key, value, _ := strings.Cut(pair, "=")
	known := effect == "NoSchedule" || effect == "NoExecute" || effect == "PreferNoSchedule"
	return sim.Taint{Key: key, Value: value, Effect: effect}, ok && known && key != ""
}

// ready reports whether a machine is a Ready node.
func (w *nodes) ready(n compute.Node) bool {
	if !n.Running || n.Deleting || n.Trouble != nil {
		return false
	}
	if v := w.Workload(); v != nil {
		return v.Ready(n.UID)
	}
	return !n.NeverBoots && !n.Settled.IsZero() && !w.Now.Before(n.Settled.Add(w.Life(lifeJoin)))
}

// cordon closes a node to new pods, or opens it again.
func (w *nodes) cordon(uid string, closed bool) {
	if v := w.Workload(); v != nil {
		v.Cordon(uid, closed)
	}
}

// unregister deletes the Nodes of machines.
func (w *nodes) unregister(list ...compute.Node) {
	v := w.Workload()
	if v == nil {
		return
	}
	for _, n := range list {
		v.Unregister(n.UID)
	}
}

// drained reports whether nothing is left on a node that has to go, and sees to it that it comes to this.
func (w *nodes) drained(uid string, since time.Time) bool {
	if v := w.Workload(); v != nil {
		return v.Drain(uid, false)
	}
	return !w.Now.Before(since.Add(w.Life(lifeEvict)))
}

// mark brings labels and taints to the nodes of a pool that exist.
func (w *nodes) mark(c *Cluster, p *Pool, before document.Object) {
	v := w.Workload()
	if v == nil {
		return
	}
	old := &Pool{Doc: before, Name: p.Name}
	for _, n := range w.compute.Nodes(w.setKey(c, p)) {
		change := sim.Marks{Labels: w.labels(c, p, n), Taints: taints(p), Untaint: taints(old)}
		for key := range document.Under(before, "nodeLabels") {
			change.Unlabel = append(change.Unlabel, key)
		}
		v.Mark(n.UID, change)
	}
}
