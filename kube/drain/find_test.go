package drain

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
)

// findCases are the cases of TestFind.
var findCases = map[string]struct {
	reason  string
	objects []client.Object
	rules   []client.Object
	// annotations of the pool's machines.
	annotations map[string]string
	want        pool.Node
	notFound    bool
}{
	"not joined": {reason: "a machine without node is no error", notFound: true},
	"serving": {
		reason:  "pods are counted only on draining nodes: it costs a list",
		objects: []client.Object{node(), podOn("a")}, want: base,
	},
	"cordoned by others": {
		reason:  "a cordon alone is not a drain by Muster",
		objects: []client.Object{node(cordoned), podOn("a")}, want: with(func(n *pool.Node) { n.Cordoned = true }),
	},
	"opened again": {
		reason: "pods are scheduled to a node that a user has uncordoned, so that its drain counts as not begun",
		objects: []client.Object{node(draining, func(n *corev1.Node) {
			n.Spec.Unschedulable = false
		}), podOn("a")}, want: base,
	},
	"time unreadable": {
		reason: "an annotation without a valid time is a drain to begin again, not one that began in year one",
		objects: []client.Object{node(cordoned, func(n *corev1.Node) {
			n.Annotations = map[string]string{nodes.DrainStartedAnnotation: "soon"}
		})}, want: with(func(n *pool.Node) { n.Cordoned = true }),
	},
	"drained": {
		reason: "daemon sets, static pods, skipped pods and other nodes' pods do not count",
		objects: []client.Object{node(draining), daemonSet, podOn("ds", ofDaemonSet), podOn("static", mirror),
			podOn("stays", labelled("skip")), podOn("other", elsewhere)},
		want: drained(0),
	},
	"left": {
		reason: "pods without controller, orphans of a daemon set, terminating pods and pods to wait for count",
		objects: []client.Object{node(draining), podOn("a"), podOn("alone", alone), podOn("orphan", ofDaemonSet),
			podOn("going", terminating(time.Minute)), podOn("job", labelled("wait-completed"))},
		want: drained(5, "default/going (terminating beyond its grace period: finalizers example.com/hold)",
			"default/job (runs until it completes, because of its drain label or a MachineDrainRule)"),
	},
	"terminating, in time": {
		reason:  "a pod within its grace period is terminating and blocks nothing",
		objects: []client.Object{node(draining), podOn("going", terminating(time.Second))},
		want:    drained(1),
	},
	"excluded": {
		reason:      "the annotation that excludes machines from drains keeps their pods from being waited for",
		objects:     []client.Object{node(draining), podOn("a"), budget("web", 0)},
		annotations: map[string]string{clusterv1.ExcludeNodeDrainingAnnotation: ""},
		want:        drained(0),
	},
	"unreachable": {
		reason:  "pods that are terminating on a node without kubelet never end: they are not waited for",
		objects: []client.Object{node(draining, unreachable), podOn("going", terminating(20*365*24*time.Hour)), podOn("a")},
		want: with(func(n *pool.Node) {
			n.Ready, n.Cordoned, n.DrainStarted, n.Remaining = false, true, now.Add(-30*time.Second), 1
		}),
	},
	"rule skips": {
		reason:  "a MachineDrainRule that selects the pool's machines is honoured",
		objects: []client.Object{node(draining), podOn("a")},
		rules: []client.Object{&clusterv1.MachineDrainRule{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "r"},
			Spec: clusterv1.MachineDrainRuleSpec{
				Drain:    clusterv1.MachineDrainRuleDrainConfig{Behavior: clusterv1.MachineDrainRuleDrainBehaviorSkip},
				Machines: []clusterv1.MachineDrainRuleMachineSelector{{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"pool": "p"}}}},
			},
		}},
		want: drained(0),
	},
	"blocked": {
		reason:  "pods that a budget keeps are named with it",
		objects: []client.Object{node(draining), podOn("b"), podOn("a"), budget("web", 0)},
		want:    drained(2, "default/a (PodDisruptionBudget web)", "default/b (PodDisruptionBudget web)"),
	},
	"allowed": {
		reason:  "a budget that allows disruptions blocks no pod",
		objects: []client.Object{node(draining), podOn("a"), budget("web", 1)},
		want:    drained(1),
	},
	"two budgets": {
		reason:  "the eviction API always rejects pods with two budgets, which is not obvious to users",
		objects: []client.Object{node(draining), podOn("a"), budget("x", 1), budget("y", 1)},
		want:    drained(1, "default/a (more than one PodDisruptionBudget, which eviction refuses: x, y)"),
	},
	"stale budget": {
		reason: "a budget whose change the controller has not observed yet rejects evictions",
		objects: []client.Object{node(draining), podOn("a"), budget("web", 1, func(b *policyv1.PodDisruptionBudget) {
			b.Generation, b.Status.ObservedGeneration = 2, 1
		})},
		want: drained(1, "default/a (PodDisruptionBudget web)"),
	},
	"unready under a healthy budget": {
		reason: "an unready pod may go while enough others are healthy",
		objects: []client.Object{node(draining), podOn("a", unready), budget("web", 0, func(b *policyv1.PodDisruptionBudget) {
			b.Status.CurrentHealthy = 2
		})},
		want: drained(1),
	},
	"unready, always allowed": {
		reason: "a budget may let unready pods go whatever the count",
		objects: []client.Object{node(draining), podOn("a", unready), budget("web", 0, func(b *policyv1.PodDisruptionBudget) {
			b.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow)
		})},
		want: drained(1),
	},
	"unready under an unhealthy budget": {
		reason:  "otherwise an unready pod is kept as well",
		objects: []client.Object{node(draining), podOn("a", unready), budget("web", 0)},
		want:    drained(1, "default/a (PodDisruptionBudget web)"),
	},
	"pending": {
		reason:  "budgets do not keep pods that have never run",
		objects: []client.Object{node(draining), podOn("a", pending), budget("web", 0)},
		want:    drained(1),
	},
}

var base = pool.Node{Name: "n1", Joined: now.Add(-time.Hour), Ready: true, ReadySince: now.Add(-time.Minute), KubeletVersion: "v1.36.3"}

var with = func(change func(*pool.Node)) pool.Node { n := base; change(&n); return n }

var drained = func(remaining int, blocked ...string) pool.Node {
	return with(func(n *pool.Node) {
		n.Cordoned, n.DrainStarted, n.Remaining, n.Blocked = true, now.Add(-30*time.Second), remaining, blocked
	})
}

func TestFind(t *testing.T) {
	t.Parallel()
	for name, tc := range findCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, append(tc.objects, namespace), tc.rules)
			w.Machine.Annotations = tc.annotations
			got, err := w.Find(t.Context(), []string{key, "aws://i-2"})
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			want := map[string]pool.Node{key: tc.want}
			if tc.notFound {
				want = map[string]pool.Node{}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: want -, got +\n%s", tc.reason, diff)
			}
			if len(w.writes)+len(w.evicted) != 0 {
				t.Errorf("looking wrote: %v, evicted %v", w.writes, w.evicted)
			}
		})
	}
}
