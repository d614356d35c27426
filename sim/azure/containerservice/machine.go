package containerservice

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

const (
	// operator is AKS's name on the consoles of its machines.
	operator = "aks"

	tagPool    = "aks-managed-poolName"
	tagVersion = "aks-managed-orchestrator"
	spotLabel  = "kubernetes.azure.com/scalesetpriority"
	spotTaint  = spotLabel + "=spot:NoSchedule"
	// quarantine is the label of a node that could not be drained and is kept.
	quarantine = "kubernetes.azure.com/upgrade-status"
)

// setKey is the key of a pool's scale set.
func setKey(c *Cluster, p *Pool) string {
	return compute.SetKey(c.Sub, c.nodeGroup(), p.Set)
}

// put gives a pool's scale set what machines are made of that come from now on.
func (w *models) put(c *Cluster, p *Pool) {
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
	if spot(p.Doc) {
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
func (w *models) poolOf(n compute.Node) (*Cluster, *Pool) {
	for _, p := range w.rows.pools.All() {
		if c := w.rows.clusters.Get(p.Cluster); c != nil && setKey(c, p) == n.Set {
			return c, p
		}
	}
	return nil, nil
}

// nodeOf returns what a machine learns from AKS, and its version of Kubernetes; nil for a machine of no pool.
func (w *models) nodeOf(n compute.Node) (*sim.Managed, string) {
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
func (w *models) labels(c *Cluster, p *Pool, n compute.Node) map[string]string {
	out := map[string]string{
		"agentpool": p.Name, "kubernetes.azure.com/agentpool": p.Name, "kubernetes.azure.com/cluster": c.nodeGroup(),
		"kubernetes.azure.com/role": "agent",
		"kubernetes.azure.com/mode": strings.ToLower(document.Text(p.Doc, "mode")), "kubernetes.azure.com/node-image-version": imageOf(n.Image),
		"kubernetes.azure.com/os-sku": document.Text(p.Doc, "osSKU"),
	}
	if spot(p.Doc) {
		out[spotLabel] = "spot"
	}
	maps.Copy(out, document.Pairs(p.Doc, "nodeLabels"))
	return out
}

// taints are those that a node registers with, each once.
func taints(p *Pool) []sim.Taint {
	list := document.Texts(p.Doc, "nodeTaints")
	if spot(p.Doc) && !slices.Contains(list, spotTaint) {
		list = append([]string{spotTaint}, list...)
	}
	var out []sim.Taint
	for _, written := range list {
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

// mark brings labels and taints to the nodes of a pool that exist.
func (w *models) mark(c *Cluster, p *Pool, before document.Object) {
	labels, old := document.Pairs(before, "nodeLabels"), taints(&Pool{Doc: before, Name: p.Name})
	for _, n := range w.compute.Nodes(setKey(c, p)) {
		w.nodes.Mark(n.UID, managed.Remarked(w.labels(c, p, n), labels, taints(p), old))
	}
}

// machineOf describes a machine of a pool. Stale are those that were made otherwise than machines are made now, and those that an upgrade
// found broken.
func machineOf(p *Pool, n compute.Node) managed.Machine {
	m := managed.Machine{
		Key: n.Instance, UID: n.UID, Up: n.Running && n.Trouble == nil, Deleting: n.Deleting,
		Stale: versionOf(n) != p.Current || imageOf(n.Image) != p.Image || n.Size != document.Text(p.Doc, "vmSize") ||
			p.Roll != nil && p.Roll.Broken[n.Instance],
	}
	if !n.NeverBoots {
		m.Booted = n.Settled
	}
	return m
}

func (w *agentPools) machines(x *arm.Call) (*arm.Answer, error) {
	c, p, err := w.find.pool(x)
	if err != nil {
		return nil, err
	}
	var out []any
	for _, n := range w.compute.Nodes(setKey(c, p)) {
		out = append(out, w.views.machine(c, p, n))
	}
	return w.core.Paged(x, out)
}

func (w *agentPools) machine(x *arm.Call) (*arm.Answer, error) {
	c, p, err := w.find.pool(x)
	if err != nil {
		return nil, err
	}
	for _, n := range w.compute.Nodes(setKey(c, p)) {
		if strings.EqualFold(n.Computer, x.Vars["name"]) {
			return arm.OK(w.views.machine(c, p, n)), nil
		}
	}
	return nil, absent("machine", "GetMachine_NotFound")
}
