package gkenodepool

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/world"
)

const (
	// planeAgain is the pause before another try of a request that GKE refuses while it is at work.
	planeAgain = 5 * time.Second
	// patch is the patch of each minor version that control planes and pools run.
	patch = ".2"
	// otherPool is the name of the cluster's other node pool.
	otherPool = "other"
)

// plane is the control plane of the pool.
type plane struct {
	world.Plane
	pool *pool
	// ready is true once it has been ready.
	ready bool
}

func newPlane(p *pool) *plane {
	pl := &plane{pool: p, Plane: world.Plane{World: p.World, Minor: world.FirstMinor, Patch: patch}}
	pl.Object, pl.Put = pl.object, pl.put
	return pl
}

// object returns a control plane of GKE as a user applies it.
func (pl *plane) object() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gcpv1.GroupVersion.String(), "kind": gcpv1.ManagedControlPlaneKind,
		"metadata": map[string]any{"name": world.ClusterName, "namespace": world.Namespace},
		"spec": map[string]any{
			"project": gcp.Project, "location": gcp.Region, "clusterName": world.ClusterName, "version": "v" + pl.Version(),
		},
	}}
}

// managedCluster returns the infrastructure cluster of the control plane.
func managedCluster() *unstructured.Unstructured {
	c := gcp.Cluster()
	c.SetKind(gcpv1.ManagedClusterKind)
	return c
}

// put creates the cluster, or brings it towards its version.
func (pl *plane) put() (version string, done bool) {
	p, goal := pl.pool, pl.Minor
	if c := p.cluster(); c != nil {
		goal = pl.Next(c.Version)
	}
	is, err := p.Cloud.GKE.PutCluster(container.DesiredCluster{
		Project: gcp.Project, Location: gcp.Region, Name: world.ClusterName, Body: clusterBody(goal),
		Access: container.Access{Endpoint: "https://gke.example", CA: []byte("CA"), Token: p.World.Workload.Tokens.Last()},
	})
	pl.otherFollows(goal)
	return is.Version, err == nil && (is.Status == "RUNNING" || is.Status == "RECONCILING") &&
		strings.HasPrefix(is.Version, pl.Version()+"-") && p.outOfBand.createForeign()
}

// skew bounds how many minor versions nodes may lag behind their control plane.
const skew = 2

// otherFollows upgrades the other node pool to the version of the control plane if its version would block the next upgrade of that.
func (pl *plane) otherFollows(goal int) {
	if n := pl.pool.named(otherPool); n != nil && goal-world.MinorOf(n.Version) > skew {
		_ = pl.pool.Cloud.GKE.UpgradePool(onOther, "") // it is tried again while GKE is at work
	}
}

// clusterBody returns the body of the request that creates the cluster.
func clusterBody(goal int) document.Object {
	return document.Object{
		"initialClusterVersion": world.Minor(goal) + patch, "releaseChannel": document.Object{"channel": "UNSPECIFIED"},
		"nodePools": []any{document.Object{
			"name": otherPool, "initialNodeCount": float64(1), "locations": []any{gcp.Zones[0]},
			"config": document.Object{"machineType": gcp.MachineType},
		}},
	}
}
