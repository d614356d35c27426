package machinepool

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestRow40_NodesOfPoolsWithoutMachines holds what is written on a Node, in one write that also makes it schedulable, and that nothing is
// written if nothing differs.
func TestRow40_NodesOfPoolsWithoutMachines(t *testing.T) {
	t.Parallel()
	pool := aPool(1)
	pool.Spec.Template.Labels = map[string]string{"node.cluster.x-k8s.io/tier": "web", "team": "a"}
	pool.Spec.Template.Spec.Taints = []clusterv1.MachineTaint{{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule,
		Propagation: clusterv1.MachineTaintPropagationAlways}}
	w := newWorld(t, []client.Object{aCluster(), pool, aConfig(), anInfra(id1)})
	w.node("n1", id1, true)
	w.changeNode("n1", func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{clusterv1.NodeUninitializedTaint} })
	w.pass()
	writes := 0
	for _, write := range w.writes {
		if strings.HasPrefix(write, "workload: ") {
			writes++
		}
	}
	want(t, "writes of the node", writes, 1)
	get := func() *corev1.Node {
		n := &corev1.Node{}
		if err := w.wl.Get(t.Context(), client.ObjectKey{Name: "n1"}, n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	want(t, "label", get().Labels["node.cluster.x-k8s.io/tier"], "web")
	want(t, "label that is not propagated", get().Labels["team"], "")
	want(t, "taints", fmt.Sprint(get().Spec.Taints),
		fmt.Sprint([]corev1.Taint{{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}}))
	w.changeNode("n1", func(n *corev1.Node) { n.Labels, n.Spec.Taints = nil, nil })
	w.settled()
	want(t, "label that another client removed", get().Labels["node.cluster.x-k8s.io/tier"], "web")
	want(t, "taint that another client removed", len(get().Spec.Taints), 1)
	w.changePool(func(p *clusterv1.MachinePool) {
		p.Spec.Template.ObjectMeta, p.Spec.Template.Spec.Taints = clusterv1.ObjectMeta{}, nil
	})
	w.settled()
	want(t, "label that the template no longer has", get().Labels["node.cluster.x-k8s.io/tier"], "")
	want(t, "taint that the template no longer has", len(get().Spec.Taints), 0)
	if metav1.HasAnnotation(get().ObjectMeta, clusterv1.MachineAnnotation) {
		t.Error("want no Machine named in a pool without any")
	}
}
