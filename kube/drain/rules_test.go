package drain

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/pool"
)

// rule returns a MachineDrainRule for the pods with a label app.
func rule(name, app string, drain clusterv1.MachineDrainRuleDrainConfig) *clusterv1.MachineDrainRule {
	return &clusterv1.MachineDrainRule{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: clusterv1.MachineDrainRuleSpec{
		Drain: drain, Pods: []clusterv1.MachineDrainRulePodSelector{
			{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}}}}
}

func app(name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels = map[string]string{"app": name} }
}

// ended deletes an evicted pod, as its kubelet does.
func (w *world) ended(t *testing.T) []string {
	t.Helper()
	gone := w.evicted
	w.evicted = nil
	for _, name := range gone {
		if err := client.IgnoreNotFound(w.Remote.Delete(t.Context(), podOn(name), client.GracePeriodSeconds(0))); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(gone)
	return gone
}

// nextPass drops what a pass has read, as the next pass does, and moves the clock.
func (w *world) nextPass(after time.Duration) {
	was := w.Workload
	w.Workload = &Workload{Remote: was.Remote, Live: was.Live, Management: was.Management, Cluster: was.Cluster, Machine: was.Machine,
		Now: was.Now.Add(after)}
}

// round is one pass: the result of Find, and a round of evictions.
func (w *world) round(t *testing.T) pool.Node {
	t.Helper()
	w.nextPass(time.Second)
	found, err := w.Find(t.Context(), []string{key})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Start(t.Context(), pool.Step{Kind: pool.Drain, Targets: []pool.InstanceRef{target}}); err != nil {
		t.Fatal(err)
	}
	return found[key]
}

// TestRulesOrderADrain holds the effect of MachineDrainRules and the drain label: what is evicted when, what is waited for, and what is
// left.
func TestRulesOrderADrain(t *testing.T) {
	t.Parallel()
	order := func(n int32) clusterv1.MachineDrainRuleDrainConfig {
		return clusterv1.MachineDrainRuleDrainConfig{Behavior: clusterv1.MachineDrainRuleDrainBehaviorDrain, Order: new(n)}
	}
	for name, tc := range map[string]struct {
		reason string
		pods   []client.Object
		rules  []client.Object
		// evicted in each round, in which all evicted pods terminate; left after the last.
		evicted [][]string
		left    pool.Node
	}{
		"by order": {
			reason: "pods of a higher order stay until those of a lower one are gone: storage agents are evicted last",
			pods:   []client.Object{podOn("storage", app("storage")), podOn("web"), podOn("log", app("log"))},
			rules:  []client.Object{rule("a", "storage", order(10)), rule("b", "log", order(5))}, evicted: [][]string{{"web"}, {"log"}, {"storage"}},
		},
		"first rule counts": {
			reason: "of several rules for a pod the first by name decides",
			pods:   []client.Object{podOn("web")},
			rules: []client.Object{rule("a", "web", clusterv1.MachineDrainRuleDrainConfig{Behavior: clusterv1.MachineDrainRuleDrainBehaviorSkip}),
				rule("b", "web", order(1))},
			evicted: [][]string{nil},
		},
		"waited for by rule": {
			reason: "a rule may ask to wait for pods to complete: they are named, and never evicted",
			pods:   []client.Object{podOn("job", app("job")), podOn("web")},
			rules: []client.Object{rule("a", "job", clusterv1.MachineDrainRuleDrainConfig{
				Behavior: clusterv1.MachineDrainRuleDrainBehaviorWaitCompleted})},
			evicted: [][]string{{"web"}, nil},
			left: pool.Node{Remaining: 1, Blocked: []string{"default/job (runs until it completes, because of its drain label or a " +
				"MachineDrainRule)"}},
		},
		"label over rule": {
			reason:  "the labels of the pod take precedence over rules",
			pods:    []client.Object{podOn("web", labelled("skip"))},
			rules:   []client.Object{rule("a", "web", order(1))},
			evicted: [][]string{nil},
		},
		"later under a budget": {
			reason: "a budget is not reported before the pods of its order are evicted",
			pods:   []client.Object{podOn("web"), podOn("stuck", app("stuck"), terminating(0)), budget("web", 0)},
			rules:  []client.Object{rule("a", "web", order(7))}, evicted: [][]string{nil},
			left: pool.Node{Remaining: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, append(tc.pods, node(draining), namespace), tc.rules)
			for i, want := range tc.evicted {
				w.round(t)
				if got := w.ended(t); !slices.Equal(got, want) {
					t.Errorf("%s: round %d: want %v evicted, got %v", tc.reason, i+1, want, got)
				}
			}
			got := w.round(t)
			if got.Remaining != tc.left.Remaining || !slices.Equal(got.Blocked, tc.left.Blocked) {
				t.Errorf("%s: want %d left, kept by %v, got %d, %v", tc.reason, tc.left.Remaining, tc.left.Blocked, got.Remaining, got.Blocked)
			}
		})
	}
}

// TestExcludedFromDrain holds that the annotation which excludes machines from drains leaves their pods alone; the node is cordoned
// nevertheless, because it is about to be removed.
func TestExcludedFromDrain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{node(), namespace, podOn("a")}, nil)
	w.Machine.Annotations = map[string]string{clusterv1.ExcludeNodeDrainingAnnotation: "true"}
	w.round(t)
	got := w.round(t)
	if len(w.evicted) != 0 || !got.Cordoned || !got.Drained() {
		t.Errorf("want the node cordoned, no pod evicted, and the machine removable, got evicted %v, %+v", w.evicted, got)
	}
}

// TestRoundIsBounded holds that one round reads each object once, however many nodes drain.
func TestRoundIsBounded(t *testing.T) {
	t.Parallel()
	const fleet, each = 4, 6
	objects := []client.Object{namespace, daemonSet, budget("web", 0)}
	var keys []string
	step := pool.Step{Kind: pool.Drain}
	for i := range fleet {
		name, id := fmt.Sprintf("n%d", i), fmt.Sprintf("aws:///zone-a/i-%d", i)
		n := node(draining)
		n.Name, n.Spec.ProviderID = name, id
		objects = append(objects, n)
		keys = append(keys, fmt.Sprintf("aws://i-%d", i))
		step.Targets = append(step.Targets, pool.InstanceRef{ID: fmt.Sprintf("i-%d", i), ProviderID: id, Node: name})
		for k := range each {
			on := func(p *corev1.Pod) { p.Spec.NodeName = name }
			objects = append(objects, podOn(fmt.Sprintf("web-%d-%d", i, k), on), podOn(fmt.Sprintf("ds-%d-%d", i, k), on, ofDaemonSet))
		}
	}
	w := newWorld(t, objects, nil)
	calls := map[string]int{}
	count := func(o any) { calls[fmt.Sprintf("%T", o)]++ }
	counted := interceptor.NewClient(w.Remote.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			count(o)
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			count(l)
			return c.List(ctx, l, opts...)
		},
	})
	w.Remote, w.Live = counted, counted
	found, err := w.Find(t.Context(), keys)
	if err != nil || len(found) != fleet || found[keys[0]].Remaining != each {
		t.Fatalf("want %d nodes with %d pods to go, got %v, %v", fleet, each, found, err)
	}
	if err := w.Start(t.Context(), step); err != nil {
		t.Fatal(err)
	}
	if len(w.evicted) != fleet*each {
		t.Errorf("want %d evictions asked for, got %d", fleet*each, len(w.evicted))
	}
	// Nodes and namespaces are read from the cache of the cluster.
	delete(calls, "*v1.NodeList")
	delete(calls, "*v1.Node")
	delete(calls, "*v1.NamespaceList")
	want := map[string]int{"*v1.PodList": fleet, "*v1.DaemonSet": 1, fmt.Sprintf("%T", &policyv1.PodDisruptionBudgetList{}): 1}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("reads of one round, want -, got +\n%s", diff)
	}
}
