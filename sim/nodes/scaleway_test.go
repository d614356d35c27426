package nodes_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/nodes"
	"github.com/muster-project/muster/sim/scaleway"
	"github.com/muster-project/muster/test/memapi/served"
)

// kapsule is a pool p of a cluster of Kapsule whose nodes join an API server.
type kapsule struct {
	*testing.T
	cloud  *scaleway.Cloud
	server *served.Server
}

// ask sends a request and returns the reply.
func (k *kapsule) ask(method, path string, body any) map[string]any {
	k.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		k.Fatal(err)
	}
	req, err := http.NewRequest(method, "http://scaleway/k8s/v1/regions/fr-par"+path, bytes.NewReader(text))
	if err != nil {
		k.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", scaleway.SecretKey)
	reply, err := sim.Transport{Handler: k.cloud}.RoundTrip(req)
	if err != nil {
		k.Fatal(err)
	}
	defer reply.Body.Close()
	out := map[string]any{}
	if err := json.NewDecoder(reply.Body).Decode(&out); err != nil || reply.StatusCode != http.StatusOK {
		k.Fatalf("%s %s: %d %v %v", method, path, reply.StatusCode, out, err)
	}
	return out
}

// settled waits until the pool is ready with so many nodes that stay, and returns the last of them.
func (k *kapsule) settled(count int) sim.Member {
	k.Helper()
	for ctx := deadline(k.T); ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		g := k.cloud.Snapshot().Group("p")
		if all := g.Staying(); !g.Busy && len(all) == count && len(g.Members) == count {
			return all[count-1]
		}
	}
	k.Fatalf("want the pool at rest with %d nodes, got %+v", count, k.cloud.Snapshot())
	return sim.Member{}
}

// node waits for a Node to be as ok says.
func (k *kapsule) node(m sim.Member, want string, ok func(*corev1.Node) bool) *corev1.Node {
	k.Helper()
	var node *corev1.Node
	if !k.server.Await(deadline(k.T), "nodes", "", m.Name, func(o apiruntime.Object) bool {
		node, _ = o.(*corev1.Node)
		return node != nil && ok(node)
	}) {
		k.Fatalf("want node %s %s, got %+v", m.Name, want, node)
	}
	return node
}

// TestNodesOfKapsule walks the nodes of a pool through what Kapsule does to them, and looks at their Nodes.
func TestNodesOfKapsule(t *testing.T) {
	t.Parallel()
	s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
	cloud, err := scaleway.New(scaleway.Options{MachineHost: f, Speed: cloudSpeed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Error(err)
		}
	})
	k := &kapsule{T: t, cloud: cloud, server: s}
	cluster, err := cloud.PutCluster(scaleway.Access{Name: "c", Version: "1.34.2", Server: "https://" + s.Endpoint(), CA: s.CA(),
		Token: served.Token})
	if err != nil {
		t.Fatal(err)
	}
	made := k.ask(http.MethodPost, "/clusters/"+cluster["id"].(string)+"/pools", map[string]any{"name": "p", "node_type": "COPARM1-2C-8G",
		"size": 1, "labels": map[string]any{"team": "blue"}, "taints": []any{map[string]any{"key": "dedicated", "value": "x"}}})
	pool := "/pools/" + made["id"].(string)
	first := k.settled(1)
	node := k.node(first, "Ready", func(n *corev1.Node) bool { return ready(n) })
	for key, want := range map[string]string{
		"team": "blue", "k8s.scaleway.com/pool-name": "p", "k8s.scaleway.com/node": first.ID, corev1.LabelTopologyZone: "fr-par-1",
		corev1.LabelTopologyRegion: "fr-par", corev1.LabelInstanceTypeStable: "COPARM1-2C-8G", corev1.LabelArchStable: "arm64",
	} {
		if got := node.Labels[key]; got != want {
			t.Errorf("label %s: want %q, got %q", key, want, got)
		}
	}
	if node.Spec.ProviderID != first.ProviderID || len(node.Spec.Taints) != 1 || node.Status.NodeInfo.KubeletVersion != "v1.34.2" {
		t.Errorf("want %s with a taint, got %+v, %s", first.ProviderID, node.Spec, node.Status.NodeInfo.KubeletVersion)
	}

	k.ask(http.MethodPut, pool+"/set-labels", map[string]any{"labels": map[string]any{"team": "red"}})
	k.ask(http.MethodPut, pool+"/set-taints", map[string]any{"taints": []any{}})
	k.node(first, "with the new label and without a taint", func(n *corev1.Node) bool {
		return n.Labels["team"] == "red" && len(n.Spec.Taints) == 0
	})
	k.ask(http.MethodPost, "/nodes/"+first.ID+"/reboot", map[string]any{})
	k.node(first, "cordoned for its reboot", func(n *corev1.Node) bool { return n.Spec.Unschedulable })
	k.node(first, "open after its reboot", func(n *corev1.Node) bool { return !n.Spec.Unschedulable && ready(n) })

	k.ask(http.MethodPost, "/clusters/"+cluster["id"].(string)+"/upgrade", map[string]any{"version": "1.34.6", "upgrade_pools": true})
	k.node(first, "cordoned before it goes", func(n *corev1.Node) bool { return n.Spec.Unschedulable })
	second := k.settled(1)
	if second.ID == first.ID {
		t.Fatalf("want %s replaced", first.Name)
	}
	k.node(second, "of the new version", func(n *corev1.Node) bool {
		return ready(n) && n.Status.NodeInfo.KubeletVersion == "v1.34.6"
	})
}
