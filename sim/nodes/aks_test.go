package nodes_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/sim/nodes"
	"github.com/muster-project/muster/test/memapi/served"
)

// agentPool is the pool system of a managed cluster whose nodes join an API server.
type agentPool struct {
	*testing.T
	cloud  *azure.Cloud
	server *served.Server
	fleet  *nodes.Fleet
}

// held returns the pool as the simulated AKS stores it.
func (p *agentPool) held() containerservice.InspectedPool {
	return p.cloud.State().Clusters[0].Pools[0]
}

// settled waits until the pool rests with so many machines that run.
func (p *agentPool) settled(count int) []containerservice.InspectedMachine {
	p.Helper()
	for ctx := deadline(p.T); ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		held := p.held()
		var running []containerservice.InspectedMachine
		for _, m := range held.Machines {
			if !m.Deleting && !m.Deallocated {
				running = append(running, m)
			}
		}
		if !held.Busy && held.State == "Succeeded" && p.cloud.State().Clusters[0].State == "Succeeded" && len(running) == count {
			return running
		}
	}
	p.Fatalf("want the pool at rest with %d machines, got %+v", count, p.held())
	return nil
}

// node waits for the machine's Node to be as ok says.
func (p *agentPool) node(m containerservice.InspectedMachine, want string, ok func(*corev1.Node) bool) *corev1.Node {
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

// TestNodesOfAnAgentPool walks the machines of an agent pool through what AKS does to them, and looks at their Nodes.
func TestNodesOfAnAgentPool(t *testing.T) {
	if testing.Short() {
		t.Skip("a pool whose machines go through an upgrade at their pace")
	}
	t.Parallel()
	s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
	cloud, err := azure.New(azure.Options{MachineHost: f, Speed: cloudSpeed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Error(err)
		}
	})
	p := &agentPool{T: t, cloud: cloud, server: s, fleet: f}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = cloud.AKS.PutCluster(containerservice.DesiredCluster{SubscriptionID: azure.SubscriptionID, Group: "g", Name: "c",
		Body: map[string]any{"location": "westus2", "properties": map[string]any{"kubernetesVersion": "1.34.2",
			"agentPoolProfiles": []any{map[string]any{
				"name": "system", "mode": "System", "count": 1.0, "vmSize": azure.VMSize, "availabilityZones": []any{"2"},
				"scaleDownMode": "Deallocate",
				"nodeLabels":    map[string]any{"team": "blue"}, "nodeTaints": []any{"dedicated=x:NoSchedule"},
			}}}},
		Access: containerservice.Access{Endpoint: "https://" + s.Endpoint(), CA: s.CA(), Token: served.Token}})
	must(err)
	first := p.settled(1)[0]
	node := p.node(first, "Ready", func(n *corev1.Node) bool { return ready(n) })
	for key, want := range map[string]string{
		"agentpool": "system", "kubernetes.azure.com/agentpool": "system", "kubernetes.azure.com/cluster": "MC_g_c_westus2",
		"kubernetes.azure.com/mode":               "system",
		"kubernetes.azure.com/node-image-version": "AKSUbuntu-2204gen2containerd-202609.03.0", "team": "blue",
		corev1.LabelTopologyZone: "westus2-2", corev1.LabelTopologyRegion: "westus2", corev1.LabelInstanceTypeStable: azure.VMSize,
	} {
		if got := node.Labels[key]; got != want {
			t.Errorf("label %s: want %q, got %q", key, want, got)
		}
	}
	set := p.held().ScaleSet
	wantID := "azure:///subscriptions/" + azure.SubscriptionID +
		"/resourceGroups/mc_g_c_westus2/providers/Microsoft.Compute/virtualMachineScaleSets/" + set + "/virtualMachines/0"
	if node.Name != set+"000000" || node.Spec.ProviderID != wantID || node.Status.NodeInfo.KubeletVersion != "v1.34.2" ||
		len(node.Spec.Taints) != 1 {
		t.Errorf("want %s000000 with %s, v1.34.2 and a taint, got %s with %s, %s and %v", set, wantID, node.Name, node.Spec.ProviderID,
			node.Status.NodeInfo.KubeletVersion, node.Spec.Taints)
	}

	must(cloud.AKS.ScalePool("c/system", 2))
	second := p.settled(2)[1]
	must(cloud.AKS.ScalePool("c/system", 1))
	p.settled(1)
	p.node(second, "closed once it is deallocated", func(n *corev1.Node) bool { return n.Spec.Unschedulable })
	must(cloud.AKS.ScalePool("c/system", 2))
	if again := p.settled(2)[1]; again.UID != second.UID {
		t.Errorf("want the deallocated machine started again, got %+v after %+v", again, second)
	}
	p.node(second, "open once its machine runs again", func(n *corev1.Node) bool { return !n.Spec.Unschedulable && ready(n) })

	must(cloud.AKS.ReleaseImage("202610.01.0"))
	must(cloud.AKS.UpgradeNodeImage("c/system"))
	for _, m := range p.settled(2) {
		node := p.node(m, "of the new image", func(n *corev1.Node) bool { return ready(n) })
		if got := node.Labels["kubernetes.azure.com/node-image-version"]; !strings.HasSuffix(got, "-202610.01.0") {
			t.Errorf("node %s: want the new image, got %s", node.Name, got)
		}
	}
}
