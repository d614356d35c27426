package container

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"time"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/container/nodeconfig"
	"github.com/muster-project/muster/sim/gcp/container/versions"
	"github.com/muster-project/muster/sim/gcp/project"
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
func shownConditions(all []Condition) []any {
	var out []any
	for _, c := range all {
		d := document.Object{"message": c.Message}
		if c.Code != "" {
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
	put(d, "conditions", shownConditions(p.Conditions))
	if len(p.Conditions) > 0 {
		d["statusMessage"] = p.Conditions[0].Message
	}
	nodes, links := 0, []string{}
	for _, g := range p.Groups {
		links = append(links, groupRoot+groupPath(c, g))
		nodes += w.groups.Size(groupPath(c, g))
	}
	put(d, "instanceGroupUrls", document.List(links))
	if used := float64(nodes) / 1024; used > 0 {
		document.Place(d, "networkConfig.podIpv4RangeUtilization", used)
	}
	if p.Roll != nil && p.Roll.Blue != nil {
		d["updateInfo"] = document.Object{"blueGreenInfo": w.blueGreen(c, p)}
	}
	return d
}

// etag is of what clients may set.
func (p *Pool) etag() string { return etag([]any{p.Doc, p.Current}) }

// blueGreen is how far a blue-green upgrade is.
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

// cluster is a cluster as a GET answers.
func (w *views) cluster(c *Cluster) document.Object {
	d := document.Copied(c.Doc)
	d["name"], d["location"], d["zone"], d["status"], d["id"] = c.Name, c.Location, c.Location, c.Status, c.ID
	d["selfLink"], d["createTime"] = root+c.path(), c.Created.UTC().Format(time.RFC3339)
	d["currentMasterVersion"], d["etag"], d["labelFingerprint"] = c.Master, etag(c.Version), labelFingerprint(c)
	put(d, "conditions", shownConditions(c.Conditions))
	if host := hostOf(c.Access.Endpoint); host != "" && c.Status != provisioning {
		d["endpoint"] = host
		document.Place(d, "masterAuth.clusterCaCertificate", base64.StdEncoding.EncodeToString(c.Access.CA))
	}
	document.Place(d, "masterAuth.clientCertificateConfig", document.Object{})
	lowest, count := "", 0
	pools, links := []any{}, []any{}
	for _, p := range w.poolsOf(c) {
		shown := w.pool(c, p)
		pools = append(pools, shown)
		links = append(links, document.Items(shown, "instanceGroupUrls")...)
		for _, n := range w.nodes.of(c, p) {
			count++
			if v := p.Templates[n.Template].Version; v != "" && (lowest == "" || versions.Compare(v, lowest) < 0) {
				lowest = v
			}
		}
		if p.Name == firstPool {
			d["nodeConfig"] = shown["config"]
		}
	}
	if lowest == "" {
		lowest = c.Master
	}
	d["currentNodeVersion"] = lowest
	put(d, "nodePools", pools)
	put(d, "instanceGroupUrls", links)
	if count > 0 {
		d["currentNodeCount"] = float64(count)
	}
	return d
}

func labelFingerprint(c *Cluster) string {
	return etag(document.Pairs(c.Doc, "resourceLabels"))
}

// hostOf is the host and port of a URL.
func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	return u.Host
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
	d := document.Object{
		"name": op.Name, "operationType": op.Type, "status": op.Status, "startTime": stamp(op.Start), "zone": op.Location,
		"location": op.Location,
		"selfLink": root + at + "/operations/" + op.Name, "targetLink": target,
	}
	if !op.End.IsZero() {
		d["endTime"] = stamp(op.End)
	}
	if op.Total > 0 {
		d["progress"] = document.Object{"metrics": []any{
			document.Object{"name": "NODES_TOTAL", "intValue": strconv.Itoa(op.Total)},
			document.Object{"name": "NODES_DONE", "intValue": strconv.Itoa(op.Done)},
		}}
	}
	if len(op.Conditions) > 0 {
		d["error"] = document.Object{"code": op.Code, "message": op.Conditions[0].Message}
		d["statusMessage"] = op.Conditions[0].Message
		which := "clusterConditions"
		if op.Pool != "" {
			which = "nodepoolConditions"
		}
		d[which] = shownConditions(op.Conditions)
	}
	return d
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
