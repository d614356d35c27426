package scaleway

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

// nameOf matches the names of clusters and pools.
var nameOf = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,98}[a-z0-9])?$`)

// clusterText returns a member of what the service keeps of a cluster.
func clusterText(c *managed.Cluster, member string) string { return document.Text(c.Doc, member) }

// clusterBody is a request about a cluster.
type clusterBody struct {
	ProjectID      string     `json:"project_id"`
	OrganizationID string     `json:"organization_id"`
	Type           string     `json:"type"`
	Name           *string    `json:"name"`
	Version        string     `json:"version"`
	CNI            string     `json:"cni"`
	Pools          []poolBody `json:"pools"`
	UpgradePools   bool       `json:"upgrade_pools"`
	AutoUpgrade    struct {
		Enable *bool           `json:"enable"`
		Window document.Object `json:"maintenance_window"`
	} `json:"auto_upgrade"`
}

// keptOfClusters are the members of a request that the service keeps as they are.
var keptOfClusters = []string{"description", "tags", "feature_gates", "admission_plugins", "apiserver_cert_sans", "private_network_id"}

// merge brings what a request says of a cluster into what the service keeps of it.
func (x *exchange) merge(into document.Object, body clusterBody) error {
	var raw document.Object
	if err := x.decode(&raw); err != nil {
		return err
	}
	for _, member := range keptOfClusters {
		if raw[member] != nil {
			into[member] = raw[member]
		}
	}
	for _, member := range []string{"autoscaler_config", "open_id_connect_config"} {
		for name, value := range document.Under(raw, member) {
			if text, isText := value.(string); value != nil && (!isText || !strings.HasPrefix(text, "unknown_")) {
				document.Place(into, member+"."+name, value)
			}
		}
	}
	if body.AutoUpgrade.Enable != nil {
		document.Place(into, "auto_upgrade.enabled", *body.AutoUpgrade.Enable)
	}
	if body.AutoUpgrade.Window != nil {
		document.Place(into, "auto_upgrade.maintenance_window", body.AutoUpgrade.Window)
	}
	return nil
}

// clusterDefaults returns what the service keeps of a cluster of which the request says nothing.
func clusterDefaults() document.Object {
	return document.Object{
		"description": "", "tags": []any{}, "feature_gates": []any{}, "admission_plugins": []any{}, "apiserver_cert_sans": []any{},
		"private_network_id": nil,
		"autoscaler_config": document.Object{
			"scale_down_disabled": false, "scale_down_delay_after_add": "10m", "estimator": "binpacking", "expander": "random",
			"ignore_daemonsets_utilization": false, "balance_similar_node_groups": false, "expendable_pods_priority_cutoff": 0,
			"scale_down_unneeded_time": "10m", "scale_down_utilization_threshold": 0.5, "max_graceful_termination_sec": 600,
			"skip_nodes_with_local_storage": true, "log_level": 2,
		},
		"auto_upgrade": document.Object{"enabled": false, "maintenance_window": document.Object{"start_hour": 0, "day": "any"}},
		"open_id_connect_config": document.Object{"issuer_url": "", "client_id": "", "username_claim": "", "username_prefix": "",
			"groups_claim": []any{}, "groups_prefix": "", "required_claim": []any{}},
	}
}

func createCluster(x *exchange, w *region) (any, error) {
	body := clusterBody{}
	if err := x.decode(&body); err != nil {
		return nil, err
	}
	kind, name := cmp.Or(body.Type, "kapsule"), ""
	if body.Name != nil {
		name = *body.Name
	}
	switch {
	case !nameOf.MatchString(name):
		return nil, invalid("name", "constraint", "a DNS label of at most 100 characters is expected")
	case !slices.Contains(w.options.Versions, body.Version):
		return nil, invalid("version", "constraint", fmt.Sprintf("version %q is not offered", body.Version))
	case body.CNI == "":
		return nil, invalid("cni", "required", "")
	case maxNodes(kind) == 0:
		return nil, invalid("type", "constraint", fmt.Sprintf("there is no cluster type %q", kind))
	}
	c := &managed.Cluster{Key: w.Seed.UUID("cluster", w.NextNumber("cluster")), Name: name, Version: body.Version, Doc: clusterDefaults()}
	project := cmp.Or(body.ProjectID, body.OrganizationID, ProjectID)
	maps.Copy(c.Doc, document.Object{"region": x.region, "type": kind, "cni": body.CNI, "project_id": project, "organization_id": project})
	if err := x.merge(c.Doc, body); err != nil {
		return nil, err
	}
	c.Goal = c.Version
	for _, p := range body.Pools {
		if _, err := newSpec(w, c, p); err != nil {
			return nil, err
		}
	}
	w.service.CreateCluster(c)
	for _, p := range body.Pools {
		if err := addPool(w, c, p); err != nil {
			return nil, err
		}
	}
	return w.showCluster(c), nil
}

// lifeOf returns how long the control plane of a cluster takes for a change: hardly any time before it has its first pool.
func lifeOf(w *region, c *managed.Cluster, life time.Duration) time.Duration {
	if len(w.service.PoolsOf(c)) == 0 {
		return lifeEmpty
	}
	return life
}

// settled refuses a change of a cluster in a state that allows none.
func settled(w *region, c *managed.Cluster) error {
	switch status := w.clusterStatus(c); status {
	case "ready", "pool_required":
		return nil
	case "locked":
		return locked("cluster", c.Key)
	default:
		return transient("cluster", c.Key, status)
	}
}

func updateCluster(x *exchange, w *region, c *managed.Cluster) (any, error) {
	body := clusterBody{}
	if err := x.decode(&body); err != nil {
		return nil, err
	}
	if err := settled(w, c); err != nil {
		return nil, err
	}
	if body.Name != nil {
		if !nameOf.MatchString(*body.Name) {
			return nil, invalid("name", "constraint", "a DNS label of at most 100 characters is expected")
		}
		c.Name = *body.Name
	}
	if err := x.merge(c.Doc, body); err != nil {
		return nil, err
	}
	w.service.BeginCluster(c, managed.Updating, lifeOf(w, c, lifeChange))
	return w.showCluster(c), nil
}

func setClusterType(x *exchange, w *region, c *managed.Cluster) (any, error) {
	body := clusterBody{}
	if err := x.decode(&body); err != nil {
		return nil, err
	}
	if err := settled(w, c); err != nil {
		return nil, err
	}
	if maxNodes(body.Type) == 0 || maxNodes(body.Type) < w.size(c) {
		return nil, invalid("type", "constraint", fmt.Sprintf("type %q does not exist or is too small", body.Type))
	}
	c.Doc["type"] = body.Type
	w.service.BeginCluster(c, managed.Updating, lifeOf(w, c, lifeChange))
	return w.showCluster(c), nil
}

func upgradeCluster(x *exchange, w *region, c *managed.Cluster) (any, error) {
	body := clusterBody{}
	if err := x.decode(&body); err != nil {
		return nil, err
	}
	if err := settled(w, c); err != nil {
		return nil, err
	}
	if err := upgrade(w, c, body.Version, body.UpgradePools); err != nil {
		return nil, err
	}
	return w.showCluster(c), nil
}

// upgrade begins to upgrade a control plane, and its pools after it.
func upgrade(w *region, c *managed.Cluster, version string, pools bool) error {
	if !slices.Contains(managed.Upgrades(w.options.Versions, c.Version, ""), version) {
		return invalid("version", "constraint", fmt.Sprintf("a cluster of version %s can't be upgraded to %q", c.Version, version))
	}
	c.Goal = version
	w.service.BeginCluster(c, managed.Upgrading, lifeOf(w, c, lifeUpgrade))
	for _, p := range w.service.PoolsOf(c) {
		if pools && p.State != managed.Deleting {
			next := p.Spec
			next.Version = version
			w.service.ChangePool(c, p, next)
		}
	}
	return nil
}

func deleteCluster(x *exchange, w *region, c *managed.Cluster) (any, error) {
	if status := w.clusterStatus(c); status == "locked" {
		return nil, locked("cluster", c.Key)
	} else if status != "deleting" {
		w.service.DeleteCluster(c)
	}
	return w.showCluster(c), nil
}

func getCluster(x *exchange, w *region, c *managed.Cluster) (any, error) {
	return w.showCluster(c), nil
}

func listClusters(x *exchange, w *region) (any, error) {
	var all []document.Object
	for _, c := range w.service.Clusters.All() {
		if clusterText(c, "region") == x.region {
			all = append(all, w.showCluster(c))
		}
	}
	return x.listed(w, "clusters", all)
}

// size returns how many nodes the pools of a cluster are to have.
func (w *region) size(c *managed.Cluster) int {
	n := 0
	for _, p := range w.service.PoolsOf(c) {
		n += p.Count
	}
	return n
}

// clusterStatus returns the status of a cluster.
func (w *region) clusterStatus(c *managed.Cluster) string {
	switch {
	case document.Truth(c.Doc, "locked"):
		return "locked"
	case c.State == managed.Upgrading:
		return "updating"
	case c.State != managed.Running:
		return string(c.State)
	case len(w.service.PoolsOf(c)) == 0:
		return "pool_required"
	}
	return "ready"
}

// showCluster returns a cluster as clients see it.
func (w *region) showCluster(c *managed.Cluster) document.Object {
	out := document.Copied(c.Doc)
	delete(out, "locked")
	group := ""
	if c.State != managed.Creating {
		group = w.Seed.UUID("group", c.Key)
	}
	maps.Copy(out, document.Object{
		"id": c.Key, "name": c.Name, "status": w.clusterStatus(c), "version": c.Goal, "created_at": at(c.Created), "updated_at": at(c.Updated),
		"cluster_url":  cmp.Or(c.Server, fmt.Sprintf("https://%s.api.k8s.%s.scw.cloud:6443", c.Key, out["region"])),
		"dns_wildcard": fmt.Sprintf("*.%s.nodes.k8s.%s.scw.cloud", c.Key, out["region"]), "commitment_ends_at": at(c.Created),
		"upgrade_available": len(managed.Upgrades(w.options.Versions, c.Goal, "")) > 0, "acl_available": true, "iam_nodes_group_id": group,
		"pod_cidr": "100.64.0.0/15", "service_cidr": "10.32.0.0/20", "service_dns_ip": "10.32.0.10",
	})
	return out
}

// at returns a time as the service writes it.
func at(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// withoutDashes returns the digits of an ID.
func withoutDashes(id string) string { return strings.ReplaceAll(id, "-", "") }
