package machinepool

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/machinepool/nodesync"
)

// shown returns a Node's labels, annotations and taints as one text, without the owner annotations.
func shown(n *corev1.Node) string {
	short := strings.NewReplacer("cluster.x-k8s.io/", "")
	show := func(m map[string]string) (all []string) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if strings.HasPrefix(key, "cluster.x-k8s.io/owner-") || strings.HasPrefix(key, "cluster.x-k8s.io/cluster-") {
				continue
			}
			all = append(all, key+"="+m[key])
		}
		return all
	}
	var taints []string
	for _, t := range n.Spec.Taints {
		taints = append(taints, fmt.Sprintf("%s=%s:%s", t.Key, t.Value, t.Effect))
	}
	return short.Replace(fmt.Sprintf("%v %v %v", show(n.Labels), show(n.Annotations), taints))
}

// always returns a taint that Nodes have for as long as the template has it.
func always(key string, effect corev1.TaintEffect) clusterv1.MachineTaint {
	return clusterv1.MachineTaint{Key: key, Effect: effect, Propagation: clusterv1.MachineTaintPropagationAlways}
}

// TestNodesFollowTheTemplate holds that each Node is written once, that changes by other clients are reverted, and that what the template
// no longer has is removed.
func TestNodesFollowTheTemplate(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.changePool(func(p *clusterv1.MachinePool) {
		p.Spec.Template.Labels = map[string]string{"node-role.kubernetes.io/db": "", "team": "x"}
		p.Spec.Template.Spec.Taints = []clusterv1.MachineTaint{always("db", corev1.TaintEffectNoSchedule)}
	})
	w.pass()
	wantAll(t, "writes", onNodes(w.writes), []string{"workload: patch *v1.Node n1", "workload: patch *v1.Node n2"})
	w.settled()
	const dressed = "[node-role.kubernetes.io/db=] [labels-from-machine=node-role.kubernetes.io/db taints-from-machine=db:NoSchedule] " +
		"[db=:NoSchedule]"
	want(t, "n1", shown(w.readNode("n1")), dressed)
	w.changeNode("n1", func(n *corev1.Node) { n.Labels, n.Spec.Taints = nil, nil })
	w.settled()
	want(t, "n1 after it was changed", shown(w.readNode("n1")), dressed)
	want(t, "n2", shown(w.readNode("n2")), dressed)
	w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Template.Labels, p.Spec.Template.Spec.Taints = nil, nil })
	w.settled()
	want(t, "n2 without what the template no longer has", shown(w.readNode("n2")), "[] [taints-from-machine=] []")
}

// TestNodesOfMachinesStayWithoutInfrastructure holds that the Machine controller manages a Node with a Machine even while the
// infrastructure object is missing: otherwise both controllers would overwrite each other.
func TestNodesOfMachinesStayWithoutInfrastructure(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.changeNode("n1", func(n *corev1.Node) {
		n.Labels = map[string]string{"node-role.kubernetes.io/db": ""}
		n.Annotations = map[string]string{clusterv1.LabelsFromMachineAnnotation: "node-role.kubernetes.io/db", clusterv1.MachineAnnotation: "m1",
			clusterv1.TaintsFromMachineAnnotation: ""}
	})
	if err := w.mgmt.Delete(t.Context(), w.get(infraGVK, "infra")); err != nil {
		t.Fatal(err)
	}
	w.settled()
	want(t, "n1 of m1", shown(w.readNode("n1")),
		"[node-role.kubernetes.io/db=] [labels-from-machine=node-role.kubernetes.io/db machine=m1 taints-from-machine=] []")
}

// TestNewNodeGetsTaintsInOneWrite holds that no pod is scheduled to a new Node between the removal of the uninitialized taint and the
// addition of the taints of the template.
func TestNewNodeGetsTaintsInOneWrite(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.changePool(func(p *clusterv1.MachinePool) {
		p.Spec.Template.Spec.Taints = []clusterv1.MachineTaint{always("db", corev1.TaintEffectNoSchedule),
			{Key: "startup", Effect: corev1.TaintEffectNoExecute, Propagation: clusterv1.MachineTaintPropagationOnInitialization}}
	})
	w.settled()
	w.changeInfra(func(o map[string]any) { setInstances(o, id1, id2, "aws:///eu-west-1a/i-3") })
	w.node("n3", "aws:///eu-west-1a/i-3", true)
	w.changeNode("n3", func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{clusterv1.NodeUninitializedTaint} })
	w.pass()
	wantAll(t, "writes", onNodes(w.writes), []string{"workload: patch *v1.Node n3"})
	want(t, "n3", shown(w.readNode("n3")), "[] [taints-from-machine=db:NoSchedule] [db=:NoSchedule startup=:NoExecute]")
	want(t, "n1: initialized before", shown(w.readNode("n1")), "[] [taints-from-machine=db:NoSchedule] [db=:NoSchedule]")
}

// TestOrphanedNodeIsCordonedFirst holds that an orphaned Node is cordoned before it is deleted, also if a finalizer blocks it, and is not
// written again.
func TestOrphanedNodeIsCordonedFirst(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.changeNode("n1", func(n *corev1.Node) { n.Finalizers = []string{"test/keep"} })
	for _, name := range []string{"n1", "n2"} {
		w.changeNode(name, func(n *corev1.Node) { setReady(n, false, w.clock) })
	}
	w.changeInfra(func(o map[string]any) { setInstances(o) })
	w.pass()
	wantAll(t, "writes", onNodes(w.writes), []string{"workload: patch *v1.Node n1", "workload: delete *v1.Node n1",
		"workload: patch *v1.Node n2", "workload: delete *v1.Node n2"})
	wantAll(t, "nodes", w.nodeNames(), []string{"n1"})
	want(t, "n1 is cordoned", w.readNode("n1").Spec.Unschedulable, true)
	wantAll(t, "events", w.events()[:1], []string{"Normal SuccessfulDeleteNode Deleted nodes of terminated instances: n1, n2"})
	w.pass()
	wantAll(t, "writes", onNodes(w.writes), []string{})
}

// TestOwnCordonIsNoReasonToDelete holds that a Node which turns Ready between its cordon and its deletion stays and is schedulable again:
// Muster's own cordon is no reason to delete it.
func TestOwnCordonIsNoReasonToDelete(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.changeNode("n2", func(n *corev1.Node) { setReady(n, false, w.clock) })
	once := true
	w.r.ClusterCache = clustercache.NewFakeClusterCache(interceptor.NewClient(w.wl, interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if once {
				once = false
				w.changeNode("n2", func(n *corev1.Node) { setReady(n, true, w.clock) })
			}
			return c.Delete(ctx, o, opts...)
		},
	}), clusterKey, nodesync.WatchName)
	w.changeInfra(func(o map[string]any) { setInstances(o, id1) })
	w.settled()
	wantAll(t, "nodes", w.nodeNames(), []string{"n1", "n2"})
	want(t, "n2 is cordoned", w.readNode("n2").Spec.Unschedulable, false)
	want(t, "deletion requested", !once, true)
}

func (w *world) readNode(name string) *corev1.Node {
	w.t.Helper()
	n := &corev1.Node{}
	if err := w.wl.Get(w.t.Context(), client.ObjectKey{Name: name}, n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// onNodes returns the writes to Nodes.
func onNodes(writes []string) []string {
	all := []string{}
	for _, text := range writes {
		if strings.HasPrefix(text, "workload: ") {
			all = append(all, text)
		}
	}
	return all
}

// setInstances makes the infrastructure object list instances.
func setInstances(o map[string]any, ids ...string) {
	list := []any{}
	for _, id := range ids {
		list = append(list, id)
	}
	o["spec"].(map[string]any)["providerIDList"] = list
	o["status"].(map[string]any)["replicas"] = int64(len(ids))
	o["status"].(map[string]any)["upToDateReplicas"] = int64(len(ids))
}
