package containerservice

import (
	"strings"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

// pool is a pool as a GET of its own answers.
func (w *views) pool(c *Cluster, p *Pool) document.Object {
	return document.Object{
		"id": w.id(c) + "/agentPools/" + p.Name, "name": p.Name, "type": clusterKind + "/agentPools", "properties": w.poolProperties(c, p),
	}
}

// id is the cluster's ID as AKS writes it: with resourcegroups in small letters.
func (w *views) id(c *Cluster) string {
	return strings.Replace(c.ID, "/resourceGroups/", "/resourcegroups/", 1)
}

func (w *views) poolProperties(c *Cluster, p *Pool) document.Object {
	d := document.Copied(p.Doc)
	d["provisioningState"], d["nodeImageVersion"] = p.State, p.Image
	if w.core.Switches.On(ETags) {
		d["eTag"] = arm.ETag(p.Version)
	}
	document.Place(d, "powerState.code", p.Power)
	if p.stopped() {
		document.Place(d, "powerState.code", powerStopped)
		if !p.ofVMs() {
			d["count"] = float64(0)
		}
	}
	d["currentOrchestratorVersion"] = w.lowest(c, p)
	if p.ofVMs() {
		w.scaled(c, p, d)
	}
	if len(document.Under(d, "nodeLabels")) == 0 {
		delete(d, "nodeLabels")
	}
	for _, list := range []string{"nodeTaints", "availabilityZones"} {
		if len(document.Items(d, list)) == 0 {
			delete(d, list)
		}
	}
	return d
}

// lowest is the lowest version of a pool's nodes, which is the pool's current one until an upgrade has ended.
func (w *views) lowest(c *Cluster, p *Pool) string {
	out := p.Current
	for _, n := range w.compute.Nodes(setKey(c, p)) {
		if v := versionOf(n); v != "" && managed.CompareVersions(v, out) < 0 {
			out = v
		}
	}
	return out
}

// cluster is a managed cluster as a GET answers.
func (w *views) cluster(c *Cluster) document.Object {
	d := document.Copied(c.Doc)
	d["id"], d["name"], d["type"], d["location"] = w.id(c), c.Name, "Microsoft.ContainerService/ManagedClusters", c.Location
	if w.core.Switches.On(ETags) {
		d["eTag"] = arm.ETag(c.Version)
	}
	profiles := []any{}
	for _, p := range core.Ordered(w.core.Environment, w.rows.poolsOf(c)) {
		profile := w.poolProperties(c, p)
		profile["name"] = p.Name
		profiles = append(profiles, profile)
	}
	for path, v := range map[string]any{
		"provisioningState": c.State, "powerState": document.Object{"code": c.Power}, "currentKubernetesVersion": c.Current,
		"agentPoolProfiles": profiles,
		"fqdn":              w.host(c), "resourceUID": strings.ReplaceAll(c.UID, "-", "")[:24], "maxAgentPools": float64(maxPools),
	} {
		document.Place(d, "properties."+path, v)
	}
	if strings.Contains(document.Text(d, "identity.type"), "SystemAssigned") {
		document.Place(d, "identity.principalId", w.core.Seed.UUID("principal", c.UID))
		document.Place(d, "identity.tenantId", w.core.TenantOf(c.Sub))
	}
	return d
}

// host is the name of the cluster's API server.
func (w *views) host(c *Cluster) string {
	return document.Text(c.Doc, "properties.dnsPrefix") + "-" + w.core.Seed.Hex(8, "dns", c.UID) + ".hcp." + c.Location + ".azmk8s.io"
}

// machine is a machine of a pool as AKS shows it.
func (w *views) machine(c *Cluster, p *Pool, n compute.Node) document.Object {
	d := document.Object{
		"id": w.id(c) + "/agentPools/" + p.Name + "/machines/" + n.Computer, "name": n.Computer, "type": clusterKind + "/agentPools/machines",
		"properties": document.Object{
			"resourceId": n.ID,
			"network":    document.Object{"ipAddresses": []any{document.Object{"family": "IPv4", "ip": n.Address}}},
		},
	}
	if n.Zone != "" {
		d["zones"] = []any{n.Zone}
	}
	return d
}

func (w *agentPools) upgradeProfile(x *arm.Call) (*arm.Answer, error) {
	c, p, err := w.find.pool(x)
	if err != nil {
		return nil, err
	}
	at := w.views.id(c) + "/agentPools/" + p.Name + "/upgradeProfiles/default"
	return arm.OK(document.Object{"id": at, "name": "default", "type": clusterKind + "/agentPools/upgradeProfiles",
		"properties": document.Object{
			"kubernetesVersion": w.views.lowest(c, p), "osType": document.Text(p.Doc, "osType"),
			"latestNodeImageVersion": imageName(p, latest(w.releases)),
			"upgrades":               upgradesFrom(w.views.lowest(c, p), c.Current),
		}}), nil
}

func (w *agentPools) availableVersions(x *arm.Call) (*arm.Answer, error) {
	c, err := w.find.cluster(x)
	if err != nil {
		return nil, err
	}
	list := []any{}
	for minor := max(firstMinor, managed.Minor(c.Current)-3); minor <= managed.Minor(c.Current); minor++ {
		for _, v := range patches(minor) {
			if managed.CompareVersions(v, c.Current) <= 0 {
				list = append(list, document.Object{"kubernetesVersion": v, "default": v == c.Current})
			}
		}
	}
	return arm.OK(document.Object{
		"id": w.views.id(c) + "/availableAgentPoolVersions", "name": "default", "type": clusterKind + "/availableAgentPoolVersions",
		"properties": document.Object{"agentPoolVersions": list},
	}), nil
}
