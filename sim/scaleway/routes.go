package scaleway

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

const (
	atRegion   = "/k8s/v1/regions/{region}"
	atClusters = atRegion + "/clusters"
	atCluster  = atClusters + "/{cluster_id}"
	atPool     = atRegion + "/pools/{pool_id}"
	atNode     = atRegion + "/nodes/{node_id}"
)

type route = core.Route[*region, *exchange, any]

// routes are all operations that are served.
var routes = []route{
	reads("ListClusterTypes", atRegion+"/cluster-types", listClusterTypes),
	reads("ListVersions", atRegion+"/versions", listVersions),
	reads("GetVersion", atRegion+"/versions/{version_name}", getVersion),
	reads("ListClusters", atClusters, listClusters),
	reads("GetCluster", atCluster, onCluster(getCluster)),
	reads("ListClusterAvailableVersions", atCluster+"/available-versions", onCluster(listAvailableVersions)),
	reads("ListClusterAvailableTypes", atCluster+"/available-types", onCluster(listAvailableTypes)),
	reads("ListPools", atCluster+"/pools", onCluster(listPools)),
	reads("ListNodes", atCluster+"/nodes", onCluster(listNodes)),
	reads("GetPool", atPool, onPool(getPool)),
	reads("GetNode", atNode, onNode(getNode)),
	catalogue("ListServersTypes", "/instance/v1/zones/{zone}/products/servers", (*exchange).listServersTypes),

	writes("CreateCluster", http.MethodPost, atClusters, createCluster),
	writes("UpdateCluster", http.MethodPatch, atCluster, onCluster(updateCluster)),
	writes("DeleteCluster", http.MethodDelete, atCluster, onCluster(deleteCluster)),
	writes("UpgradeCluster", http.MethodPost, atCluster+"/upgrade", onCluster(upgradeCluster)),
	writes("SetClusterType", http.MethodPost, atCluster+"/set-type", onCluster(setClusterType)),
	writes("CreatePool", http.MethodPost, atCluster+"/pools", onCluster(createPool)),
	writes("UpdatePool", http.MethodPatch, atPool, onPool(updatePool)),
	writes("DeletePool", http.MethodDelete, atPool, onPool(deletePool)),
	writes("UpgradePool", http.MethodPost, atPool+"/upgrade", onPool(upgradePool)),
	writes("SetPoolLabels", http.MethodPut, atPool+"/set-labels", onPool(setLabels)),
	writes("SetPoolTaints", http.MethodPut, atPool+"/set-taints", onPool(setTaints)),
	writes("SetPoolStartupTaints", http.MethodPut, atPool+"/set-startup-taints", onPool(setStartupTaints)),
	registers("CreateExternalNode", atPool+"/external-nodes", onPool(createExternalNode)),
	writes("DeleteNode", http.MethodDelete, atNode, onNode(deleteNode)),
	writes("RebootNode", http.MethodPost, atNode+"/reboot", onNode(rebootNode)),
}

func reads(name, pattern string, run func(*exchange, *region) (any, error)) route {
	return route{Method: http.MethodGet, Pattern: pattern, Service: Service, Name: name, Permissions: []string{ReadOnly, FullAccess},
		Run: func(w *region, x *exchange) (any, error) {
			w.reads++
			return run(x, w)
		}}
}

func writes(name, method, pattern string, run func(*exchange, *region) (any, error)) route {
	return route{Method: method, Pattern: pattern, Service: Service, Name: name, Permissions: []string{FullAccess}, Mutating: true,
		Run: func(w *region, x *exchange) (any, error) { return run(x, w) }}
}

// catalogue is a read of the service that describes types of Instances.
func catalogue(name, pattern string, run func(*exchange, *region) (any, error)) route {
	out := reads(name, pattern, run)
	out.Service, out.Permissions = ServiceInstance, []string{ReadInstances}
	return out
}

func registers(name, pattern string, run func(*exchange, *region) (any, error)) route {
	out := writes(name, http.MethodPost, pattern, run)
	out.Permissions = []string{RegisterNode, FullAccess}
	return out
}

// onCluster finds the cluster of a request.
func onCluster(run func(*exchange, *region, *managed.Cluster) (any, error)) func(*exchange, *region) (any, error) {
	return func(x *exchange, w *region) (any, error) {
		c := w.service.Clusters.Get(x.Vars["cluster_id"])
		if c == nil || clusterText(c, "region") != x.region {
			return nil, missing("cluster", x.Vars["cluster_id"])
		}
		return run(x, w, c)
	}
}

// onPool finds the pool of a request.
func onPool(run func(*exchange, *region, *managed.Cluster, *managed.Pool) (any, error)) func(*exchange, *region) (any, error) {
	return func(x *exchange, w *region) (any, error) {
		for _, p := range w.service.Pools.All() {
			c := w.service.Clusters.Get(p.Cluster)
			if idOf(p) == x.Vars["pool_id"] && c != nil && clusterText(c, "region") == x.region {
				return run(x, w, c, p)
			}
		}
		return nil, missing("pool", x.Vars["pool_id"])
	}
}

// onNode finds the node of a request.
func onNode(run func(*exchange, *region, *managed.Pool, *node) (any, error)) func(*exchange, *region) (any, error) {
	return func(x *exchange, w *region) (any, error) {
		for _, p := range w.service.Pools.All() {
			c := w.service.Clusters.Get(p.Cluster)
			if c == nil || clusterText(c, "region") != x.region {
				continue
			}
			for _, n := range w.nodesOf(p) {
				if n.ID == x.Vars["node_id"] {
					return run(x, w, p, &n)
				}
			}
		}
		return nil, missing("node", x.Vars["node_id"])
	}
}

// Sizes of pages: the default and the largest, and both of small pages.
const pageDefault, maxPage, pageSmall = 50, 100, 20

// page returns the page of a list that a request asks for, with the number of all items.
func (x *exchange) page(w *region, name string, all []document.Object) (any, error) {
	size, limit, number := pageDefault, maxPage, 1
	if w.Switches.On(SmallPages) {
		size, limit = pageSmall, pageSmall
	}
	for argument, into := range map[string]*int{"page_size": &size, "page": &number} {
		if v := x.Query.Get(argument); v != "" {
			n, err := strconv.Atoi(v)
			if err != nil || n < 1 {
				return nil, invalid(argument, "constraint", "a number above 0 is expected")
			}
			*into = n
		}
	}
	if size = min(size, limit); w.PageLimit > 0 {
		size = min(size, w.PageLimit)
	}
	from := min((number-1)*size, len(all))
	items := append([]document.Object{}, all[from:min(from+size, len(all))]...)
	return document.Object{name: items, "total_count": len(all)}, nil
}

// listed returns the page of the items that the filters of a request leave, in the order that it asks for.
func (x *exchange) listed(w *region, name string, all []document.Object) (any, error) {
	all = slices.DeleteFunc(all, func(d document.Object) bool {
		status := x.Query.Get("status")
		return !strings.Contains(document.Text(d, "name"), x.Query.Get("name")) ||
			status != "" && status != "unknown" && status != document.Text(d, "status") ||
			slices.ContainsFunc([]string{"project_id", "organization_id", "private_network_id", "type", "pool_id"}, func(member string) bool {
				return x.Query.Get(member) != "" && x.Query.Get(member) != document.Text(d, member)
			})
	})
	order := cmp.Or(x.Query.Get("order_by"), "created_at_asc")
	member, descending := strings.CutSuffix(order, "_desc")
	member = strings.TrimSuffix(member, "_asc")
	if !slices.Contains([]string{"created_at", "updated_at", "name", "status", "version"}, member) {
		return nil, invalid("order_by", "constraint", order+" is no order")
	}
	slices.SortStableFunc(all, func(a, b document.Object) int {
		n := cmp.Compare(document.Text(a, member), document.Text(b, member))
		if descending {
			return -n
		}
		return n
	})
	return x.page(w, name, all)
}
