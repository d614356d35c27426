package containerengine

import (
	"strings"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
	"github.com/muster-project/muster/sim/oci/rest"
	published "github.com/muster-project/muster/sim/oci/shapes"
)

// types are those of the published bodies.
func types() map[string]map[string]string { return published.ContainerEngine().Types }

var clusterStates = map[managed.State]string{
	managed.Creating: "CREATING", managed.Updating: "UPDATING", managed.Scaling: "UPDATING", managed.Upgrading: "UPDATING",
	managed.Deleting: "DELETING", managed.Running: "ACTIVE", managed.Failed: "FAILED",
}

// ShowCluster returns a cluster as clients see it.
func (s *Service) ShowCluster(c *managed.Cluster) document.Object {
	out := document.Copied(c.Doc)
	upgrades := []any{}
	for _, v := range managed.Upgrades(s.options.Versions, c.Version, "") {
		upgrades = append(upgrades, "v"+v)
	}
	address := strings.TrimPrefix(c.Server, "https://")
	for name, v := range (document.Object{
		"id": c.Key, "name": c.Name, "kubernetesVersion": "v" + c.Version, "lifecycleState": clusterStates[c.State],
		"timeCreated":                 rest.Stamp(c.Created),
		"availableKubernetesUpgrades": upgrades, "endpoints": document.Object{"kubernetes": address, "publicEndpoint": address},
		"metadata": document.Object{"timeCreated": rest.Stamp(c.Created), "timeUpdated": rest.Stamp(c.Updated)},
		"options":  document.Object{"kubernetesNetworkConfig": document.Object{"podsCidr": "10.244.0.0/16", "servicesCidr": "10.96.0.0/16"}},
		"vcnId":    s.OCID("vcn", c.Key), "clusterPodNetworkOptions": []any{document.Object{"cniType": "OCI_VCN_IP_NATIVE"}},
	}) {
		out[name] = v
	}
	return out
}

func getCluster(s *Service, x *rest.Exchange) (rest.Reply, error) {
	c := s.Managed.Clusters.Get(x.Vars["clusterId"])
	if c == nil {
		return rest.Reply{}, rest.NotFound()
	}
	if oidc, err := x.Truth("shouldIncludeOidcConfigFile", false); err != nil || oidc {
		return rest.Reply{}, rest.Invalid("shouldIncludeOidcConfigFile: the cluster has no such file.")
	}
	return rest.Shown(rest.Only(types(), "Cluster", s.ShowCluster(c)), rest.Etag(c.Key, c.Revision)), nil
}

func listClusters(s *Service, x *rest.Exchange) (rest.Reply, error) {
	var all []document.Object
	for _, c := range s.Managed.Clusters.All() {
		all = append(all, s.ShowCluster(c))
	}
	return x.List(s.State, byName("ClusterSummary", "name", map[string]string{"name": "name", "lifecycleState": "lifecycleState"}), all)
}

// byName returns how lists of resources are shown that are in the order of their names.
func byName(typ, name string, filters map[string]string) rest.Listing {
	const size, most = 100, 1000
	return rest.Listing{Filters: filters, Order: "NAME", Descending: []string{"TIME_CREATED"}, Size: size, Most: most,
		Orders: map[string]string{"ID": "id", "NAME": name, "TIME_CREATED": "timeCreated"},
		Show:   func(d document.Object) document.Object { return rest.Only(types(), typ, d) }}
}
