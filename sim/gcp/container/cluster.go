package container

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/container/nodeconfig"
	"github.com/muster-project/muster/sim/gcp/container/versions"
	"github.com/muster-project/muster/sim/gcp/project"
)

var clusterName = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$`)

const (
	// everywhere is the location that stands for all of them in a list.
	everywhere = "-"
	// firstPool is the node pool of a cluster that is created without a list of them.
	firstPool = "default-pool"
	// regionZones is in how many zones of its region a regional cluster has nodes where it does not say.
	regionZones = 3
)

func (w *clusters) get(x *project.Call) (*project.Answer, error) {
	c, err := w.find.cluster(x)
	if err != nil {
		return nil, err
	}
	return project.OK(w.views.cluster(c)), nil
}

func (w *clusters) list(x *project.Call) (*project.Answer, error) {
	all := map[string][]any{}
	for _, c := range w.rows.clusters.All() {
		if c.Project == x.Vars["project"] && (x.Vars["location"] == everywhere || x.Vars["location"] == c.Location) {
			all[c.Location] = append(all[c.Location], w.views.cluster(c))
		}
	}
	return w.find.listed(x, "clusters", all)
}

// create creates a cluster with the node pools that the request lists, or with one of the nodes that it describes.
func (w *clusters) create(x *project.Call) (*project.Answer, error) {
	body, err := read(x, "CreateClusterRequest")
	if err != nil {
		return nil, err
	}
	d := document.Under(body, "cluster")
	if d == nil {
		return nil, badRequest("Cluster is required.")
	}
	pools := document.Objects(d, "nodePools")
	if n := number(d, "initialNodeCount"); len(pools) == 0 && n > 0 {
		pools = []document.Object{firstOf(d, n)}
	}
	if len(pools) == 0 {
		return nil, badRequest("Cluster.initial_node_count must be greater than zero.")
	}
	c, err := w.make(x.Vars["project"], x.Vars["location"], d, pools)
	if err != nil {
		return nil, err
	}
	return w.views.begun(w.begin(c)), nil
}

// firstOf describes the node pool of a cluster that lists none.
func firstOf(d document.Object, nodes int) document.Object {
	pool := document.Object{"name": firstPool, "initialNodeCount": float64(nodes)}
	if config := document.Under(d, "nodeConfig"); config != nil {
		pool["config"] = config
	}
	return pool
}

// make checks a new cluster with its node pools and keeps it.
func (w *clusters) make(id, location string, d document.Object, pools []document.Object) (*Cluster, error) {
	region, zones := placeOf(location)
	name := document.Text(d, "name")
	master, refusal := versions.Master(document.Text(d, "initialClusterVersion"))
	switch {
	case region == "":
		return nil, badRequest(fmt.Sprintf("Location %q does not exist.", location))
	case !clusterName.MatchString(name):
		return nil, badRequest(fmt.Sprintf("Invalid value for field \"cluster.name\": %q. Must be a match of regex "+
			"'(?:[a-z](?:[-a-z0-9]{0,38}[a-z0-9])?)'.",
			name))
	case w.rows.clusters.Get(clusterKey(id, location, name)) != nil:
		return nil, alreadyExists(placed(id, location) + "/clusters/" + name)
	case refusal != "":
		return nil, badRequest(refusal)
	case document.Truth(d, "autopilot.enabled"):
		return nil, badRequest("Autopilot clusters are not supported by this simulation.")
	}
	d = document.Copied(d)
	for _, member := range []string{"nodePools", "nodeConfig", "name"} {
		delete(d, member)
	}
	c := &Cluster{Project: id, Location: location, Name: name, Doc: d, Master: master, Goal: master, Created: w.core.Now}
	c.ID = w.core.Seed.Hex(64, "gke", c.key(), w.core.NextNumber("gke"))
	c.Hash = c.ID[:8]
	c.Address, c.CA = addressOf(w.core.Seed, c), authority(w.core.Seed, c)
	defaults(c, region, zones)
	c.Doc["initialClusterVersion"] = master
	var made []*Pool
	for _, one := range pools {
		p, err := w.nodePools.make(c, document.Copied(one))
		if err != nil {
			return nil, err
		}
		made = append(made, p)
	}
	w.rows.clusters.Put(c.key(), c)
	for _, p := range made {
		w.rows.pools.Put(p.key(), p)
	}
	return c, nil
}

// begin begins the creation of a cluster that was made.
func (w *clusters) begin(c *Cluster) *operation {
	op := w.life.begin(c, nil, "CREATE_CLUSTER")
	c.Status, c.Until = provisioning, w.core.Now.Add(w.core.Life(lifeCreate))
	for _, p := range w.rows.poolsOf(c) {
		w.life.take(p, op, provisioning)
		p.Next = c.Until
	}
	return op
}

// placeOf returns the region of a location and the zones in which a cluster there has nodes by default; an empty region for no location.
func placeOf(location string) (region string, zones []string) {
	if r := project.FindRegion(location); r != nil {
		return location, r.Zones[:min(regionZones, len(r.Zones))]
	}
	return project.RegionOf(location), []string{location}
}

// channelOf is the release channel of a new cluster: the one that it names; the most mature one that has its version; REGULAR for one that
// names neither.
func channelOf(c *Cluster) string {
	if named := document.Text(c.Doc, "releaseChannel.channel"); named != "" {
		return named
	}
	if document.Text(c.Doc, "initialClusterVersion") == "" {
		return "REGULAR"
	}
	for _, name := range []string{"STABLE", "REGULAR"} {
		for _, channel := range versions.Channels() {
			if channel.Name == name && slices.Contains(channel.Valid, c.Master) {
				return name
			}
		}
	}
	return "RAPID"
}

// named is the last part of a path, or a name where there is none.
func named(path, otherwise string) string {
	if path == "" {
		return otherwise
	}
	return path[strings.LastIndexByte(path, '/')+1:]
}

// shared returns the settings that node pools take from their cluster.
func (c *Cluster) shared() nodeconfig.Cluster {
	region, _ := placeOf(c.Location)
	return nodeconfig.Cluster{
		Locations: document.Texts(c.Doc, "locations"), Channel: document.Text(c.Doc, "releaseChannel.channel"), Region: region,
		Subnetwork: document.Text(c.Doc, "networkConfig.subnetwork"), PodRange: "gke-" + c.Name + "-pods-" + c.Hash,
		PodBlock: document.Text(c.Doc, "clusterIpv4Cidr"), MaxPods: document.Text(c.Doc, "defaultMaxPodsConstraint.maxPodsPerNode"),
	}
}

// updatable maps the members of an update of a cluster to the members of the cluster that they replace.
var updatable = map[string]string{
	"desiredReleaseChannel": "releaseChannel", "desiredLoggingService": "loggingService", "desiredMonitoringService": "monitoringService",
	"desiredLocations": "locations", "desiredInTransitEncryptionConfig": "networkConfig.inTransitEncryptionConfig",
}

// update upgrades the control plane of a cluster, or replaces one of its settings.
func (w *clusters) update(x *project.Call) (*project.Answer, error) {
	body, err := read(x, "UpdateClusterRequest")
	if err != nil {
		return nil, err
	}
	c, err := w.find.cluster(x)
	if err != nil {
		return nil, err
	}
	change := document.Under(body, "update")
	if len(change) == 0 {
		return nil, badRequest("Must provide an update.")
	}
	if version := document.Text(change, "desiredMasterVersion"); version != "" {
		return w.upgraded(c, version)
	}
	if err := open(w.core, c); err != nil {
		return nil, err
	}
	for member, v := range change {
		at, known := updatable[member]
		if !known {
			return nil, badRequest(fmt.Sprintf("Updates of %s are not supported by this simulation.", member))
		}
		document.Place(c.Doc, at, v)
	}
	return w.views.begun(w.change(c, "UPDATE_CLUSTER")), nil
}

// updateMaster upgrades the control plane of a cluster.
func (w *clusters) updateMaster(x *project.Call) (*project.Answer, error) {
	body, err := read(x, "UpdateMasterRequest")
	if err != nil {
		return nil, err
	}
	c, err := w.find.cluster(x)
	if err != nil {
		return nil, err
	}
	return w.upgraded(c, document.Text(body, "masterVersion"))
}

func (w *clusters) upgraded(c *Cluster, version string) (*project.Answer, error) {
	op, err := w.upgrade(c, version)
	if err != nil {
		return nil, err
	}
	return w.views.begun(op), nil
}

// upgrade begins to upgrade the control plane of a cluster.
func (w *clusters) upgrade(c *Cluster, asked string) (*operation, error) {
	if err := open(w.core, c); err != nil {
		return nil, err
	}
	version, refusal := versions.Master(asked)
	if refusal == "" {
		refusal = versions.CheckMaster(c.Master, version)
	}
	for _, p := range w.rows.poolsOf(c) {
		if refusal == "" {
			refusal = versions.CheckNodes(p.Current, version, false)
		}
	}
	if refusal != "" {
		return nil, badRequest(refusal)
	}
	c.Goal = version
	op := w.change(c, "UPGRADE_MASTER")
	c.Until = w.core.Now.Add(w.core.Life(lifePlane))
	return op, nil
}

// change begins an operation on a cluster itself.
func (w *clusters) change(c *Cluster, kind string) *operation {
	op := w.life.begin(c, nil, kind)
	c.Status, c.Until = reconciling, w.core.Now.Add(w.core.Life(lifeChange))
	return op
}

// setResourceLabels replaces the labels of a cluster.
func (w *clusters) setResourceLabels(x *project.Call) (*project.Answer, error) {
	body, err := read(x, "SetLabelsRequest")
	if err != nil {
		return nil, err
	}
	c, err := w.find.cluster(x)
	if err != nil {
		return nil, err
	}
	if err := open(w.core, c); err != nil {
		return nil, err
	}
	if requested, current := document.Text(body, "labelFingerprint"), labelFingerprint(c); requested != current {
		return nil, precondition("Labels could not be set due to fingerprint mismatch. Expected %q, got %q.", current, requested)
	}
	c.Doc["resourceLabels"] = document.OfStrings(document.Pairs(body, "resourceLabels"))
	return w.views.begun(w.change(c, "UPDATE_CLUSTER")), nil
}

// drop deletes a cluster with its node pools.
func (w *clusters) drop(x *project.Call) (*project.Answer, error) {
	c, err := w.find.cluster(x)
	if err != nil {
		return nil, err
	}
	if err := open(w.core, c); err != nil {
		return nil, err
	}
	return w.views.begun(w.remove(c)), nil
}

// remove begins to delete a cluster.
func (w *clusters) remove(c *Cluster) *operation {
	op := w.change(c, "DELETE_CLUSTER")
	c.Status = stopping
	for _, p := range w.rows.poolsOf(c) {
		w.life.take(p, op, stopping)
	}
	return op
}
