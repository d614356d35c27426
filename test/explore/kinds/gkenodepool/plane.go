package gkenodepool

import (
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/world"
)

const (
	// planeAgain is how often the provider of the control plane looks at GKE while the cluster is not as it should be.
	planeAgain = 5 * time.Second
	// patch is the patch of each minor version that control planes and pools run.
	patch = ".2"
	// otherPool is the node pool that the cluster has beside the pool.
	otherPool = "other"
)

// plane is the control plane of the pool, and what its own provider does for it.
type plane struct {
	pool *pool
	// minor is its Kubernetes version.
	minor int
	// ready is true once it has been ready.
	ready bool
}

// object is a control plane of GKE as a user applies it.
func (pl *plane) object() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gcpv1.GroupVersion.String(), "kind": gcpv1.ManagedControlPlaneKind,
		"metadata": map[string]any{"name": world.ClusterName, "namespace": world.Namespace},
		"spec": map[string]any{
			"project": gcp.Project, "location": gcp.Region, "clusterName": world.ClusterName, "version": "v" + world.Minor(pl.minor) + patch,
		},
	}}
}

// managedCluster is the infrastructure cluster beside it.
func managedCluster() *unstructured.Unstructured {
	c := gcp.Cluster()
	c.SetKind(gcpv1.ManagedClusterKind)
	return c
}

// provide does for the control plane what its own provider does: it creates the cluster, brings it to the wanted version, and says when it
// is ready.
func (pl *plane) provide() {
	p := pl.pool
	goal := pl.minor // GKE takes one minor version at a time
	if c := p.cluster(); c != nil {
		goal = min(goal, minorOf(c.Version)+1)
	}
	is, err := p.Cloud.GKE.PutCluster(container.Wanted{
		Project: gcp.Project, Location: gcp.Region, Name: world.ClusterName, Body: clusterBody(goal),
		Access: container.Access{Endpoint: "https://gke.example", CA: []byte("CA"), Token: p.World.Workload.Tokens.Last()},
	})
	version := world.Minor(pl.minor) + patch
	pl.otherFollows(goal)
	if err != nil || is.Status != "RUNNING" && is.Status != "RECONCILING" || !strings.HasPrefix(is.Version, version+"-") ||
		!p.hands.foreignFirst() {
		p.World.At(time.Now().Add(planeAgain), pl.provide)
		return
	}
	plane := pl.object()
	p.World.Must(p.World.Objects.User.Get(p.World.Context(), world.ClusterKey, plane), "read the control plane")
	p.World.Must(unstructured.SetNestedMap(plane.Object, map[string]any{"ready": true, "version": "v" + is.Version}, "status"),
		"set the status")
	p.World.Must(p.World.Objects.User.Update(p.World.Context(), plane), "tell that the control plane is ready")
}

// skew is how many minor versions nodes may be behind their control plane.
const skew = 2

// otherFollows has the other node pool brought to the version of the control plane where it keeps that from its next one.
func (pl *plane) otherFollows(goal int) {
	if n := pl.pool.named(otherPool); n != nil && goal-minorOf(n.Version) > skew {
		_ = pl.pool.Cloud.GKE.UpgradePool(onOther, "") // it is tried again while GKE is at work
	}
}

// minorOf returns the minor number of a version.
func minorOf(version string) int {
	n, _ := strconv.Atoi(strings.Split(version+"..", ".")[1])
	return n
}

// clusterBody is what GKE is asked for.
func clusterBody(goal int) document.Object {
	return document.Object{
		"initialClusterVersion": world.Minor(goal) + patch, "releaseChannel": document.Object{"channel": "UNSPECIFIED"},
		"nodePools": []any{document.Object{
			"name": otherPool, "initialNodeCount": float64(1), "locations": []any{gcp.Zones[0]},
			"config": document.Object{"machineType": gcp.MachineType},
		}},
	}
}

// upgrade has the control plane brought to the next minor version, and the pool after it, or the pool alone to that of its control plane.
func (pl *plane) upgrade(e world.Event) {
	p := pl.pool
	if pl.minor < world.LastMinor && e.N%3 > 0 {
		pl.minor++
		is := pl.object()
		p.World.Must(p.World.Objects.User.Get(p.World.Context(), world.ClusterKey, is), "read the control plane")
		is.Object["spec"] = pl.object().Object["spec"]
		p.World.Must(p.World.Objects.User.Update(p.World.Context(), is), "upgrade the control plane")
		pl.provide()
	}
	if e.M%3 > 0 {
		p.World.Objects.EditPool(func(mp *clusterv1.MachinePool) { mp.Spec.Template.Spec.Version = "v" + world.Minor(pl.minor) + patch })
	}
}

// furnish has the cluster made once its objects are there.
func (pl *plane) furnish() { pl.pool.World.At(time.Now().Add(time.Second), pl.provide) }
