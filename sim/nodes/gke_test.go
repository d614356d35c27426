package nodes_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/nodes"
	"github.com/muster-project/muster/test/memapi/served"
)

// nodePool is the node pool p of a cluster of GKE whose nodes join an API server.
type nodePool struct {
	*testing.T
	cloud  *gcp.Cloud
	server *served.Server
	fleet  *nodes.Fleet
}

// settled waits until the cluster rests with so many machines, and returns them.
func (p *nodePool) settled(count int) []container.InspectedMachine {
	p.Helper()
	var held container.Inspected
	for ctx := deadline(p.T); ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		held = p.cloud.State().Clusters[0]
		if !held.Busy && len(held.Pools) == 1 && held.Pools[0].Status == "RUNNING" && len(held.Pools[0].Machines) == count {
			return held.Pools[0].Machines
		}
	}
	p.Fatalf("want the cluster at rest with %d machines, got %+v", count, held)
	return nil
}

// node waits for the machine's Node to be as ok says.
func (p *nodePool) node(m container.InspectedMachine, want string, ok func(*corev1.Node) bool) *corev1.Node {
	p.Helper()
	var node *corev1.Node
	if !p.server.Await(deadline(p.T), "nodes", "", m.Name, func(o apiruntime.Object) bool {
		node, _ = o.(*corev1.Node)
		return node != nil && ok(node)
	}) {
		p.Fatalf("want node %s %s, got %+v; console:\n%s", m.Name, want, node, p.fleet.Console(m.UID))
	}
	return node
}

// TestNodesOfANodePool walks the machines of a node pool through what GKE does to them, and looks at their Nodes.
func TestNodesOfANodePool(t *testing.T) {
	t.Parallel()
	s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
	cloud, err := gcp.New(gcp.Options{MachineHost: f, Speed: cloudSpeed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Error(err)
		}
	})
	p := &nodePool{T: t, cloud: cloud, server: s, fleet: f}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = cloud.GKE.PutCluster(container.DesiredCluster{Project: "simulated-project", Location: "us-central1-b", Name: "c",
		Body: map[string]any{"initialClusterVersion": "1.34.3",
			"nodePools": []any{map[string]any{"name": "p", "initialNodeCount": 1.0, "version": "1.34.2",
				"config": map[string]any{"machineType": "n2-standard-2", "labels": map[string]any{"team": "blue"},
					"taints": []any{map[string]any{"key": "dedicated", "value": "x", "effect": "NO_SCHEDULE"}}}}}},
		Access: container.Access{Endpoint: "https://" + s.Endpoint(), CA: s.CA(), Token: served.Token}})
	must(err)
	first := p.settled(1)[0]
	node := p.node(first, "Ready", func(n *corev1.Node) bool { return ready(n) })
	for key, want := range map[string]string{
		"cloud.google.com/gke-nodepool": "p", "cloud.google.com/gke-os-distribution": "cos", "cloud.google.com/machine-family": "n2",
		"cloud.google.com/gke-provisioning": "standard", "topology.gke.io/zone": "us-central1-b", "team": "blue",
		corev1.LabelTopologyZone: "us-central1-b", corev1.LabelTopologyRegion: "us-central1", corev1.LabelInstanceTypeStable: "n2-standard-2",
	} {
		if got := node.Labels[key]; got != want {
			t.Errorf("label %s: want %q, got %q", key, want, got)
		}
	}
	if want := "gce://simulated-project/us-central1-b/" + first.Name; node.Spec.ProviderID != want ||
		node.Status.NodeInfo.KubeletVersion != "v1.34.2-gke.1234500" {
		t.Errorf("want %s with v1.34.2-gke.1234500, got %s with %s", want, node.Spec.ProviderID, node.Status.NodeInfo.KubeletVersion)
	}
	if !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == "dedicated" &&
			t.Effect == corev1.TaintEffectNoSchedule
	}) {
		t.Errorf("want the pool's taint, got %v", node.Spec.Taints)
	}

	must(cloud.GKE.UpdatePool("c/p", map[string]any{"labels": map[string]any{"labels": map[string]any{"team": "red"}},
		"taints": map[string]any{}}))
	p.settled(1)
	p.node(first, "with the new label and without a taint", func(n *corev1.Node) bool {
		return n.Labels["team"] == "red" &&
			len(n.Spec.Taints) == 0
	})

	must(cloud.GKE.UpgradePool("c/p", "1.34.3"))
	second := p.settled(1)[0]
	if second.Name == first.Name {
		t.Fatalf("want %s replaced", first.Name)
	}
	p.node(second, "of the new version", func(n *corev1.Node) bool {
		return ready(n) && n.Status.NodeInfo.KubeletVersion == "v1.34.3-gke.1334500"
	})
	p.node(first, "cordoned before it went", func(n *corev1.Node) bool { return n.Spec.Unschedulable })
}
