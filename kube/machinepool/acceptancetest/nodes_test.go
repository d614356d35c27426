package acceptancetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func countsAndPhase(p *clusterv1.MachinePool) string { return counts(p) + " " + phase(p) }

// TestRow37_ReadyAndAvailableFollowNodes holds that a Node that is no longer Ready is counted, and that one that is Ready becomes available
// by time alone, without another event.
func TestRow37_ReadyAndAvailableFollowNodes(t *testing.T) {
	w := newWorld(t)
	w.running(2, func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.MinReadySeconds = new(int32(3)) })
	w.ready(1, corev1.ConditionFalse, time.Now().Add(time.Hour))
	w.ready(2, corev1.ConditionUnknown, time.Now())
	eventuallyIs(w, "nodes that are no longer Ready", "[2 0 0 2] Provisioned", countsAndPhase)
	for n := range 2 {
		w.ready(n+1, corev1.ConditionTrue, time.Now().Add(time.Hour))
	}
	eventuallyIs(w, "nodes that are Ready, but not for long enough", "[2 2 0 2] ScalingUp", countsAndPhase)
	eventuallyIs(w, "Available", fmt.Sprintf("False NotAvailable: 0 of 2 replicas are available: Ready for less than minReadySeconds: %s, %s",
		w.nodeName(1), w.nodeName(2)),
		condition(clusterv1.AvailableCondition))
	for n := range 2 {
		w.ready(n+1, corev1.ConditionTrue, time.Now())
	}
	w.runs(2)
}

// TestRow39_NodeRefsFollowDeletedNodes holds that references name existing Nodes: deleted Nodes are not counted, and after the replacement
// of a whole list no old one is left.
func TestRow39_NodeRefsFollowDeletedNodes(t *testing.T) {
	w := newWorld(t)
	w.running(2, nil)
	refs := func(p *clusterv1.MachinePool) string {
		var names []string
		for _, r := range p.Status.NodeRefs {
			names = append(names, r.Name)
		}
		return fmt.Sprint(names)
	}
	for n := range 2 {
		if err := admin.Delete(t.Context(), w.getNode(n+1)); err != nil {
			t.Fatal(err)
		}
	}
	eventuallyIs(w, "deleted nodes", "[2 0 0 2] ScalingUp[]", func(p *clusterv1.MachinePool) string { return countsAndPhase(p) + refs(p) })
	w.node(1)
	w.node(2)
	w.runs(2)
	w.change(poolGVK, "infra", func(o map[string]any) { o["spec"] = map[string]any{"providerIDList": []any{w.id(3), w.id(4)}} })
	eventuallyIs(w, "a replaced list", "[2 0 0 2] ScalingUp[]", func(p *clusterv1.MachinePool) string { return countsAndPhase(p) + refs(p) })
	w.node(3)
	w.node(4)
	w.runs(2)
	eventuallyIs(w, "references", fmt.Sprint([]string{w.nodeName(3), w.nodeName(4)}), refs)
}

// TestDefectL_NodeMetadataIsRestored holds that the owner annotations of a real Node are restored in a running pool, and that the
// uninitialized taint is removed.
func TestDefectL_NodeMetadataIsRestored(t *testing.T) {
	w := newWorld(t)
	w.running(1, nil)
	whose := func(what string) {
		t.Helper()
		w.eventually(what, func(context.Context) error {
			n := w.getNode(1)
			got := fmt.Sprint(n.Annotations[clusterv1.OwnerKindAnnotation], n.Annotations[clusterv1.OwnerNameAnnotation],
				n.Annotations[clusterv1.ClusterNameAnnotation],
				n.Annotations[clusterv1.ClusterNamespaceAnnotation])
			if slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&clusterv1.NodeUninitializedTaint) }) {
				got += " and is not known yet"
			}
			if wanted := "MachinePoolpoolc1" + w.ns; got != wanted {
				return fmt.Errorf("want %s, got %s", wanted, got)
			}
			return nil
		})
	}
	whose("a node that joins")
	w.changeNode(1, func(n *corev1.Node) {
		n.Annotations, n.Spec.Taints = nil, []corev1.Taint{clusterv1.NodeUninitializedTaint}
	})
	whose("a node without owner annotations")
}

// TestRow40_NodesFollowTheTemplate holds that a real Node gets what the template sets, that it is restored when another client removes it,
// and that what the template no longer has is removed, next to what other clients have added.
func TestRow40_NodesFollowTheTemplate(t *testing.T) {
	w := newWorld(t)
	w.running(1, func(p *clusterv1.MachinePool) {
		p.Spec.Template.Labels = map[string]string{"node.cluster.x-k8s.io/tier": "web", "team": "a"}
		p.Spec.Template.Spec.Taints = []clusterv1.MachineTaint{{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule,
			Propagation: clusterv1.MachineTaintPropagationAlways}}
	})
	has := func(what, wanted string) {
		t.Helper()
		w.eventually(what, func(context.Context) error {
			n := w.getNode(1)
			got := fmt.Sprintf("%q %q", n.Labels["node.cluster.x-k8s.io/tier"], n.Labels["team"])
			for _, t := range n.Spec.Taints {
				if t.Key == "gpu" || t.Key == "mine" {
					got += " " + t.ToString()
				}
			}
			if got != wanted {
				return fmt.Errorf("want %s, got %s", wanted, got)
			}
			return nil
		})
	}
	has("a node that joined", `"web" "" gpu=yes:NoSchedule`)
	w.changeNode(1, func(n *corev1.Node) {
		delete(n.Labels, "node.cluster.x-k8s.io/tier")
		n.Spec.Taints = []corev1.Taint{{Key: "mine", Effect: corev1.TaintEffectNoSchedule}}
	})
	has("a node that another client changed", `"web" "" mine:NoSchedule gpu=yes:NoSchedule`)
	w.changePool(func(p *clusterv1.MachinePool) {
		p.Spec.Template.Labels, p.Spec.Template.Spec.Taints = nil, nil
	})
	has("a template without labels and taints", `"" "" mine:NoSchedule`)
}

// TestRow47_ScaleToZeroAndBack holds that the scale subresource sizes a pool, and that a pool without machines is Running.
func TestRow47_ScaleToZeroAndBack(t *testing.T) {
	w := newWorld(t)
	w.running(1, nil)
	scale := func(to int32) {
		t.Helper()
		s := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: to}}
		if err := admin.SubResource("scale").Update(t.Context(), w.pool(), client.WithSubResourceBody(s)); err != nil {
			t.Fatal(err)
		}
	}
	scale(0)
	eventuallyIs(w, "one too many", "[1 1 1 1] ScalingDown", countsAndPhase)
	if err := admin.Delete(t.Context(), w.getNode(1)); err != nil {
		t.Fatal(err)
	}
	w.instances(0)
	w.runs(0)
	eventuallyIs(w, "Available with none", "True Available", condition(clusterv1.AvailableCondition))
	scale(2)
	eventuallyIs(w, "two too few", "[0 0 0 0] ScalingUp", countsAndPhase)
	w.node(1)
	w.node(2)
	w.instances(2)
	w.runs(2)
	s := &autoscalingv1.Scale{}
	if err := admin.SubResource("scale").Get(t.Context(), w.pool(), s); err != nil {
		t.Fatal(err)
	}
	want(t, "replicas of the subresource", s.Status.Replicas, int32(2))
}
