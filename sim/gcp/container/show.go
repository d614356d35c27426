package container

import (
	"crypto/sha256"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/container/nodeconfig"
	"github.com/muster-project/muster/sim/gcp/container/versions"
	"github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/sim/managed"
)

// root begins the links to GKE's resources, groupRoot those to Compute Engine's.
const (
	root      = "https://container.googleapis.com/v1/"
	groupRoot = "https://www.googleapis.com/compute/v1/"
)

// placed is the path of a location: a zone is named as one.
func placed(id, location string) string {
	if project.RegionOf(location) != "" {
		return "projects/" + id + "/zones/" + location
	}
	return "projects/" + id + "/locations/" + location
}

// path is the path of a cluster as GKE writes it.
func (c *Cluster) path() string { return placed(c.Project, c.Location) + "/clusters/" + c.Name }

// stamp is a time as GKE writes it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000000Z") }

func etag(of any) string { return project.Fingerprint(of) }

// shownConditions are why a cluster, a node pool or an operation is in its state, nil for nothing.
func shownConditions(w *project.Core, all []Condition) []any {
	var out []any
	for _, c := range all {
		d := document.Object{"message": c.Message}
		if c.Code != "" && !w.Switches.On(OmitsDeprecated) {
			d["code"] = c.Code
		}
		if c.Canonical != "" {
			d["canonicalCode"] = c.Canonical
		}
		out = append(out, d)
	}
	return out
}

// put sets a member that is not empty.
func put(d document.Object, member string, v any) {
	switch t := v.(type) {
	case string:
		if t == "" {
			return
		}
	case []any:
		if len(t) == 0 {
			return
		}
	}
	d[member] = v
}

// pool is a node pool as a GET answers.
func (w *views) pool(c *Cluster, p *Pool) document.Object {
	d := document.Copied(p.Doc)
	d["status"], d["version"], d["etag"] = p.Status, p.Current, p.etag()
	d["selfLink"] = root + c.path() + "/nodePools/" + p.Name
	document.Place(d, "config.nodeImageConfig", document.Object{"image": imageName(p, p.Current), "imageProject": imageProject})
	put(d, "conditions", shownConditions(w.core, p.Conditions))
	if len(p.Conditions) > 0 && !w.core.Switches.On(OmitsDeprecated) {
		d["statusMessage"] = p.Conditions[0].Message
	}
	links := []string{}
	for _, g := range p.Groups {
		links = append(links, groupRoot+groupPath(c, g))
	}
	put(d, "instanceGroupUrls", core.Ordered(w.core.Environment, document.List(links)))
	if p.Roll != nil && p.Roll.Blue != nil {
		d["updateInfo"] = document.Object{"blueGreenInfo": w.blueGreen(c, p)}
	}
	return d
}

// etag is of what clients may set.
func (p *Pool) etag() string {
	h := sha256.Sum256([]byte(etag([]any{p.Doc, p.Current})))
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// blueGreen returns the state of a blue-green upgrade.
func (w *views) blueGreen(c *Cluster, p *Pool) document.Object {
	d := document.Object{"phase": p.Roll.Blue.Phase, "greenPoolVersion": p.Roll.Version}
	var blue, green []string
	for _, g := range p.Groups {
		if g.Green {
			green = append(green, groupRoot+groupPath(c, g))
		} else {
			blue = append(blue, groupRoot+groupPath(c, g))
		}
	}
	put(d, "blueInstanceGroupUrls", document.List(blue))
	put(d, "greenInstanceGroupUrls", document.List(green))
	if at := p.Roll.Blue.Deletion; !at.IsZero() {
		d["bluePoolDeletionStartTime"] = stamp(at)
	}
	return d
}

// podRanges is the number of nodes whose pod ranges fit into a cluster's range.
const podRanges = 1024

// utilization is the share of the range of pods that nodes use.
func utilization(nodes int) float64 { return math.Round(float64(nodes)/podRanges*1000) / 1000 }

// cluster is a cluster as a GET answers.
func (w *views) cluster(c *Cluster) document.Object {
	d := document.Copied(c.Doc)
	d["name"], d["location"], d["zone"], d["status"], d["id"] = c.Name, c.Location, c.Location, c.Status, c.ID
	d["selfLink"], d["createTime"] = root+c.path(), c.Created.UTC().Format(time.RFC3339)
	d["currentMasterVersion"], d["etag"], d["labelFingerprint"] = c.Master, etag(c.Version), labelFingerprint(c)
	put(d, "conditions", shownConditions(w.core, c.Conditions))
	if c.Status != provisioning {
		c.showEndpoints(d)
	}
	document.Place(d, "masterAuth.clientCertificateConfig", document.Object{})
	lowest, count := "", 0
	pools, links := []any{}, []any{}
	for _, p := range w.rows.poolsOf(c) {
		shown, before := w.pool(c, p), count
		pools = append(pools, shown)
		links = append(links, document.Items(shown, "instanceGroupUrls")...)
		for _, v := range w.versionsOf(c, p) {
			count++
			if v != "" && (lowest == "" || managed.CompareVersions(v, lowest) < 0) {
				lowest = v
			}
		}
		if p.Name == firstPool {
			d["nodeConfig"] = shown["config"]
		}
		if count > before {
			document.Place(shown, "networkConfig.podIpv4RangeUtilization", utilization(count-before))
		}
	}
	if lowest == "" {
		lowest = c.Master
	}
	d["currentNodeVersion"] = lowest
	put(d, "nodePools", core.Ordered(w.core.Environment, pools))
	put(d, "instanceGroupUrls", links)
	if count > 0 {
		d["currentNodeCount"] = float64(count)
		document.Place(d, "ipAllocationPolicy.defaultPodIpv4RangeUtilization", utilization(count))
	}
	return d
}

func labelFingerprint(c *Cluster) string {
	return etag(document.Pairs(c.Doc, "resourceLabels"))
}

// begun answers with an operation that has begun.
func (w *views) begun(op *operation) *project.Answer { return project.OK(w.operation(op)) }

// operation is an operation as it goes over the wire. It names the project by its number.
func (w *views) operation(op *operation) document.Object {
	at := placed(project.DefaultNumber, op.Location)
	target := root + at + "/clusters/" + named(op.Cluster, "")
	if op.Pool != "" {
		target += "/nodePools/" + op.Pool
	}
	status := op.Status
	if status == opRunning && w.core.Now.Before(op.Begins) {
		status = opPending
	}
	d := document.Object{
		"name": op.Name, "operationType": op.Type, "status": status, "startTime": stamp(op.Start), "zone": op.Location,
		"selfLink": root + at + "/operations/" + op.Name, "targetLink": target,
	}
	if !op.End.IsZero() {
		d["endTime"] = stamp(op.End)
	}
	put(d, "progress", op.progress())
	if len(op.Conditions) > 0 {
		d["error"] = document.Object{"code": op.Code, "message": op.Conditions[0].Message}
		w.deprecated(op, d)
	}
	return d
}

// deprecated adds the members that the API calls deprecated to a failed operation.
func (w *views) deprecated(op *operation, d document.Object) {
	if w.core.Switches.On(OmitsDeprecated) {
		return
	}
	d["statusMessage"] = op.Conditions[0].Message
	which := "clusterConditions"
	if op.Pool != "" {
		which = "nodepoolConditions"
	}
	d[which] = shownConditions(w.core, op.Conditions)
}

// progress returns the progress of an operation, nil if it reports none.
func (o *operation) progress() any {
	var metrics []any
	add := func(name string, n int) {
		metrics = append(metrics, document.Object{"name": name, "intValue": strconv.Itoa(n)})
	}
	switch {
	case o.Total > 0:
		add("NODES_TOTAL", o.Total)
		add("NODES_FAILED", 0)
		add("NODES_COMPLETE", o.Done)
		add("NODES_DONE", o.Done)
		add("NODE_PDB_DELAY_SECONDS", 0)
	case o.Type == "CREATE_CLUSTER" && o.Status == opDone:
		for _, of := range []struct {
			name        string
			done, total int
		}{{"CONFIGURING", 8, 8}, {"DEPLOYING", 10, 10}, {"HEALTHCHECKING", 1, 2}} {
			add("CLUSTER_"+of.name, of.done)
			add("CLUSTER_"+of.name+"_TOTAL", of.total)
		}
	default:
		return []any(nil)
	}
	return document.Object{"metrics": metrics}
}

// serverConfig is which versions and images a location offers.
func (w *Service) serverConfig(x *project.Call) (*project.Answer, error) {
	if region, _ := placeOf(x.Vars["location"]); region == "" {
		return nil, notFound(placed(x.Vars["project"], x.Vars["location"]))
	}
	var channels []any
	for _, c := range versions.Channels() {
		channels = append(channels, document.Object{"channel": c.Name, "defaultVersion": c.Default, "validVersions": document.List(c.Valid),
			"upgradeTargetVersion": c.Default})
	}
	return project.OK(document.Object{
		"defaultClusterVersion": versions.Default(), "validNodeVersions": document.List(versions.Nodes()),
		"validMasterVersions": document.List(versions.Masters()),
		"defaultImageType":    "COS_CONTAINERD", "validImageTypes": document.List(nodeconfig.Images), "channels": channels,
	}), nil
}
