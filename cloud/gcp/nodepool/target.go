package nodepool

import (
	"fmt"
	"slices"
	"strings"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/template"
)

// Target is one pool as the driver gets it.
type Target = cloud.Target[*gcpv1.ManagedMachinePoolSource]

// target is Target with its parts at hand.
type target struct {
	Target
	cluster gcpv1.ManagedClusterView
	// name is the node pool's.
	name string
}

func targetOf(t Target) (target, error) {
	if t.Spec == nil || t.Spec.Pool == nil {
		return target{}, cloud.Invalidf("spec", "there is no specification to go by")
	}
	out := target{Target: t, cluster: t.Spec.Cluster, name: t.Spec.Name}
	if out.cluster.Name == "" || out.cluster.Location == "" {
		return target{}, cloud.Invalidf("spec", "the control plane names no GKE cluster and location yet")
	}
	return out, driverkit.CheckPlaces(t.GroupID,
		driverkit.Place{Object: "control plane", Kind: "project", Field: "spec.project", Name: out.cluster.View.Project},
		driverkit.Place{Object: "control plane", Kind: "location", Field: "spec.location", Name: out.cluster.Location},
		driverkit.Place{Object: "control plane", Kind: "GKE cluster", Field: "spec.clusterName", Name: out.cluster.Name})
}

// where is the place of a node pool.
type where struct{ project, location, cluster, pool string }

// splitGroupID returns the place of the node pool of an ID in spec.providerID, projects/P/locations/L/clusters/C/nodePools/N; zero for the
// ID of anything else.
func splitGroupID(id string) where {
	parts := strings.Split(id, "/")
	const length = 8
	if len(parts) != length || slices.Contains(parts, "") {
		return where{}
	}
	for i, collection := range []string{"projects", "locations", "clusters", "nodePools"} {
		if parts[2*i] != collection {
			return where{}
		}
	}
	return where{project: parts[1], location: parts[3], cluster: parts[5], pool: parts[7]}
}

// ownership returns what decides whether the node pool with the pool's name may be changed.
func (t target) ownership(read poolRead) driverkit.Ownership {
	o := driverkit.Ownership{
		Exists: read.pool != nil, Named: read.named, GroupID: t.GroupID, Kind: "node pool",
		Rename: "in spec.nodePoolName", Account: t.cluster.View.Project, Path: t.cluster.Name + "/" + t.name,
		Group: fmt.Sprintf("node pool %s of GKE cluster %s", t.name, t.cluster.Name),
	}
	if read.pool != nil {
		o.Claim = t.Claim(template.Spelling, template.In(read.labels()))
	}
	return o
}

// noCluster is why no node pool can exist without its cluster.
func (t target) noCluster() error {
	return &cloud.Error{Kind: cloud.Conflict, Code: "NoCluster", Message: fmt.Sprintf("GKE cluster %s does not exist in %s", t.cluster.Name,
		t.cluster.Location)}
}
