package seed

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
)

// Builtin returns the objects of a world that is given no manifests: pools of two machines each, by name, with their clusters.
func Builtin(a Accounts, pools []string) ([]Object, error) {
	var objects []Object
	for _, c := range a.Known {
		for _, p := range c.Pools {
			if !slices.Contains(pools, p.Name) {
				continue
			}
			found, err := Parse([]Source{{Name: builtinPrefix + p.File, Text: p.Manifest}}, FromMap(a.Variables()))
			if err != nil {
				return nil, err
			}
			objects = append(objects, found...)
		}
	}
	return AddClusters(a, objects, func(string, string) (bool, error) { return false, nil })
}

// wantedCluster is a cluster that some object names.
type wantedCluster struct {
	namespace, name string
	// by is an object that names it, and newest the highest Kubernetes version of all such objects.
	by     Object
	newest string
	// kinds are those of the infrastructure of all such objects.
	kinds []string
}

// objects returns the objects of the cluster: the Cluster, its infrastructure and its control plane.
func (w *wantedCluster) objects(a Accounts, c Cluster) ([]Object, error) {
	vars := a.Variables()
	vars["CLUSTER_NAME"], vars["NAMESPACE"], vars["KUBERNETES_VERSION"] = w.name, w.namespace, c.version(w.newest)
	return Parse([]Source{{Name: builtinPrefix + "cluster", Text: c.Manifest}}, FromMap(vars))
}

// AddClusters adds the clusters that the objects name and that neither they nor the world have, in front of them. exists reports whether
// the world already has a Cluster of that name. Only clusters of simulated clouds can be created.
func AddClusters(a Accounts, objects []Object, exists func(namespace, name string) (bool, error)) ([]Object, error) {
	var made []Object
	for _, w := range wantedClusters(objects) {
		found, err := exists(w.namespace, w.name)
		if err != nil {
			return nil, fmt.Errorf("cluster %s/%s: %w", w.namespace, w.name, err)
		}
		if found {
			continue
		}
		c, ok := a.clusterFor(w)
		if !ok {
			return nil, fmt.Errorf("%s: no manifest brings the cluster %q, and for a %s none can be made", w.by.Where(), w.name,
				infrastructureKind(w.by))
		}
		added, err := w.objects(a, c)
		if err != nil {
			return nil, err
		}
		made = append(made, added...)
	}
	return append(made, objects...), nil
}

// Clusters lists the namespace and name of every cluster that objects bring or name, in the order of their first mention.
func Clusters(objects []Object) [][2]string {
	var all [][2]string
	for _, o := range objects {
		name := o.GetName()
		if gk := o.GroupVersionKind().GroupKind(); gk.Group != coreGroup {
			continue
		} else if gk.Kind != "Cluster" {
			name = clusterName(o)
		}
		if id := [2]string{o.Namespaced(), name}; name != "" && !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// TopologyPools returns the number of machine pools in the topology of a Cluster; 0 for any other object.
func TopologyPools(o Object) int {
	if gk := o.GroupVersionKind().GroupKind(); gk.Group != coreGroup || gk.Kind != "Cluster" {
		return 0
	}
	pools, _, _ := unstructured.NestedSlice(o.Object, "spec", "topology", "workers", "machinePools")
	return len(pools)
}

// clusterName returns the cluster that an object belongs to; empty for one that belongs to none.
func clusterName(o Object) string {
	name, _, _ := unstructured.NestedString(o.Object, "spec", "clusterName")
	return name
}

// wantedClusters lists the clusters that objects name and do not bring, in the order of their first mention.
func wantedClusters(objects []Object) []*wantedCluster {
	brought := map[string]bool{}
	for _, o := range objects {
		if gk := o.GroupVersionKind().GroupKind(); gk.Group == coreGroup && gk.Kind == "Cluster" {
			brought[o.Namespaced()+"/"+o.GetName()] = true
		}
	}
	var order []*wantedCluster
	byName := map[string]*wantedCluster{}
	for _, o := range objects {
		name := clusterName(o)
		id := o.Namespaced() + "/" + name
		if o.GroupVersionKind().Group != coreGroup || name == "" || brought[id] {
			continue
		}
		w := byName[id]
		if w == nil {
			w = &wantedCluster{namespace: o.Namespaced(), name: name, by: o}
			byName[id] = w
			order = append(order, w)
		}
		w.newest = newer(w.newest, machineVersion(o))
		w.kinds = append(w.kinds, infrastructureKind(o))
	}
	return order
}

// coreGroup is the API group of Cluster and of everything that names one.
const coreGroup = "cluster.x-k8s.io"

// machineVersion returns the Kubernetes version of the machines that an object makes; empty for an object that makes none.
func machineVersion(o Object) string { return machineField(o, "version") }

// infrastructureKind returns the kind of infrastructure that an object makes its machines from.
func infrastructureKind(o Object) string { return machineField(o, "infrastructureRef", "kind") }

// machineField reads a field of the machine that an object is, or has a template of.
func machineField(o Object, path ...string) string {
	for _, at := range [][]string{{"spec", "template", "spec"}, {"spec"}} {
		if v, ok, _ := unstructured.NestedString(o.Object, append(at, path...)...); ok {
			return v
		}
	}
	return ""
}

// newer returns the higher of two versions. An invalid version loses; the API server will report it.
func newer(a, b string) string {
	vb, err := version.ParseSemantic(b)
	if err != nil {
		return a
	}
	if va, err := version.ParseSemantic(a); err == nil && !va.LessThan(vb) {
		return a
	}
	return "v" + vb.String()
}
