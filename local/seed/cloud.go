package seed

import (
	"path"
	"slices"

	"github.com/muster-project/muster/kube/skew"
)

// builtinPrefix begins the names of the built-in manifests, in messages and in a Record.
const builtinPrefix = "built-in "

// Cloud holds the built-in objects of worlds on one cloud.
type Cloud struct {
	// Name is the name of the cloud.
	Name string
	// Variables holds the identifiers of the simulated account, under the variable names of the manifests of the cloud's provider.
	Variables map[string]string
	// Pools lists the built-in pools in the order of seeding.
	Pools []Pool
	// Clusters lists the clusters that can be created for pools without one. The first that suits an object is used.
	Clusters []Cluster
}

// Pool is a built-in pool.
type Pool struct {
	// Name of the MachinePool.
	Name string
	// About describes the pool; it completes "capa-mp-0 is ...".
	About string
	// Manifest is the text of the pool's manifest, and File its name.
	Manifest, File string
}

// Cluster is a cluster that can be made around pools.
type Cluster struct {
	// Kinds lists the kinds of infrastructure for whose objects Manifest creates a cluster, as patterns of path.Match. The empty pattern
	// matches objects that name no infrastructure.
	Kinds []string
	// Manifest has the variables CLUSTER_NAME, NAMESPACE and KUBERNETES_VERSION in addition to those of the cloud.
	Manifest string
	// Oldest is the Kubernetes version of a cluster whose pools ask for nothing newer.
	Oldest string
	// OldestSupported is true if no control plane can be older than Oldest. Otherwise one is as old as its pools need it.
	OldestSupported bool
}

// Accounts selects the clouds that manifests may use.
type Accounts struct {
	// Known lists all clouds, Simulated the names of those in the world.
	Known     []Cloud
	Simulated []string
}

// BuiltinPools returns the built-in pools of the simulated clouds.
func (a Accounts) BuiltinPools() []Pool {
	var all []Pool
	for _, c := range a.simulated() {
		all = append(all, c.Pools...)
	}
	return all
}

// Variables returns the variables of all clouds. Those of a cloud that is not simulated have no content.
func (a Accounts) Variables() map[string]string {
	all := map[string]string{}
	for _, c := range a.Known {
		there := slices.Contains(a.Simulated, c.Name)
		for name, value := range c.Variables {
			if !there {
				value = ""
			}
			all[name] = value
		}
	}
	return all
}

func (a Accounts) simulated() []Cloud {
	return slices.DeleteFunc(slices.Clone(a.Known), func(c Cloud) bool { return !slices.Contains(a.Simulated, c.Name) })
}

// clusterFor returns the cluster that is made for the objects which name a wanted one: on the simulated cloud of the first of them, the
// first cluster that is for any of them. It is false where none is.
func (a Accounts) clusterFor(w *wantedCluster) (Cluster, bool) {
	for _, cloud := range a.simulated() {
		if !slices.ContainsFunc(cloud.Clusters, func(c Cluster) bool { return c.serves(w.kinds[0]) }) {
			continue
		}
		k := slices.IndexFunc(cloud.Clusters, func(c Cluster) bool { return slices.ContainsFunc(w.kinds, c.serves) })
		return cloud.Clusters[k], true
	}
	return Cluster{}, false
}

// serves reports whether the cluster is for objects with a kind of infrastructure.
func (c Cluster) serves(kind string) bool {
	return slices.ContainsFunc(c.Kinds, func(pattern string) bool {
		ok, err := path.Match(pattern, kind)
		return err == nil && ok
	})
}

// version returns the version of a control plane for pools: that of the newest pool, but at least the oldest version in the world, unless a
// control plane of the latter version could not serve the pool, which admission would reject.
func (c Cluster) version(newest string) string {
	oldest := c.Oldest
	if !c.OldestSupported && skew.Between(newest, skew.ControlPlane{Version: oldest}) != nil {
		oldest = newest
	}
	return newer(oldest, newest)
}
