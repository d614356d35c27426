package drain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

const providerID = "aws:///zone-a/i-1"

// world is a workload cluster and a management cluster in memory, with the writes to the former.
type world struct {
	*Workload
	writes  []string
	evicted []string
	refuse  map[string]error
	// conflicts counts, by node name, the upcoming writes that fail with a conflict.
	conflicts map[string]int
}

func newWorld(t testing.TB, workload, management []client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{refuse: map[string]error{}}
	byNode := func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }
	remote := fake.NewClientBuilder().WithScheme(scheme).WithObjects(copies(workload)...).
		WithIndex(&corev1.Pod{}, "spec.nodeName", byNode).
		WithIndex(nodes.ProviderKeyIndex.Object, nodes.ProviderKeyIndex.Field, nodes.ProviderKeyIndex.ExtractValue).
		WithInterceptorFuncs(interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				if w.conflicts[o.GetName()] > 0 {
					w.conflicts[o.GetName()]--
					return apierrors.NewConflict(corev1.Resource("nodes"), o.GetName(), errors.New("modified"))
				}
				w.writes = append(w.writes, "patch "+o.GetName())
				return c.Patch(ctx, o, p, opts...)
			},
			SubResourceCreate: func(ctx context.Context, c client.Client, sub string, o, s client.Object,
				opts ...client.SubResourceCreateOption) error {
				if err := w.refuse[o.GetName()]; err != nil {
					return err
				}
				w.evicted = append(w.evicted, o.GetName())
				return c.SubResource(sub).Create(ctx, o, s, opts...)
			},
		}).Build()
	w.Workload = &Workload{
		Remote:     remote,
		Live:       remote,
		Management: fake.NewClientBuilder().WithScheme(scheme).WithObjects(management...).Build(),
		Cluster:    &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"}},
		Machine:    &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", Labels: map[string]string{"pool": "p"}}},
		Now:        now,
	}
	return w
}

func node(change ...func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1", CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))},
		Spec:       corev1.NodeSpec{ProviderID: providerID},
		Status: corev1.NodeStatus{
			NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.36.3"},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue,
				LastTransitionTime: metav1.NewTime(now.Add(-time.Minute))}},
		},
	}
	for _, f := range change {
		f(n)
	}
	return n
}

func draining(n *corev1.Node) {
	n.Spec.Unschedulable = true
	n.Annotations = map[string]string{nodes.DrainStartedAnnotation: now.Add(-30 * time.Second).Format(time.RFC3339)}
}

func cordoned(n *corev1.Node) { n.Spec.Unschedulable = true }

func unreachable(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }

func podOn(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "1", Controller: new(true)}}},
		Spec: corev1.PodSpec{NodeName: "n1"},
		Status: corev1.PodStatus{Phase: corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
	for _, f := range change {
		f(p)
	}
	return p
}

func ofDaemonSet(p *corev1.Pod) {
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "ds", UID: "2", Controller: new(true)}}
}
func mirror(p *corev1.Pod)    { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }
func alone(p *corev1.Pod)     { p.OwnerReferences = nil }
func elsewhere(p *corev1.Pod) { p.Spec.NodeName = "n2" }
func unready(p *corev1.Pod)   { p.Status.Conditions[0].Status = corev1.ConditionFalse }
func pending(p *corev1.Pod)   { p.Status.Phase = corev1.PodPending }
func labelled(value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels[clusterv1.PodDrainLabel] = value }
}
func terminating(ago time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.DeletionTimestamp = new(metav1.NewTime(now.Add(-ago)))
		p.Finalizers = []string{"example.com/hold"}
	}
}

func budget(name string, allowed int32, change ...func(*policyv1.PodDisruptionBudget)) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed, CurrentHealthy: 1, DesiredHealthy: 2},
	}
	for _, f := range change {
		f(b)
	}
	return b
}

var (
	namespace = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	daemonSet = &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "ds"}}
	target    = pool.InstanceRef{ID: "i-1", ProviderID: providerID, Node: "n1"}
	key       = cloud.ProviderKey(providerID)
)

func tooMany() error {
	return apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
}

// drainCases are the cases of TestDrain.
var drainCases = map[string]struct {
	reason      string
	objects     []client.Object
	target      pool.InstanceRef
	refuse      map[string]error
	annotations map[string]string
	open        bool
	evicted     []string
	writes      int
	err         string
}{
	"first round": {
		reason: "cordon and time are one write, and evictions begin in the same pass",
		objects: []client.Object{node(), podOn("a"), podOn("b"), podOn("ds", ofDaemonSet), podOn("static", mirror),
			podOn("stays", labelled("skip"))},
		annotations: begun, evicted: []string{"a", "b"}, writes: 1,
	},
	"next round": {
		reason:      "a drain keeps the time at which it began and does not write the node again",
		objects:     []client.Object{node(draining), podOn("a")},
		annotations: map[string]string{nodes.DrainStartedAnnotation: now.Add(-30 * time.Second).Format(time.RFC3339)}, evicted: []string{"a"},
	},
	"cordoned by others": {
		reason:      "the cordon of another client is recorded, so that undoing the drain keeps it",
		objects:     []client.Object{node(cordoned)},
		annotations: map[string]string{nodes.DrainStartedAnnotation: now.Format(time.RFC3339), CordonedBeforeAnnotation: "true"}, writes: 1,
	},
	"opened again": {
		reason: "a node that was uncordoned is closed again, and the timeout is not pushed away",
		objects: []client.Object{node(draining, func(n *corev1.Node) {
			n.Spec.Unschedulable = false
		})},
		annotations: map[string]string{nodes.DrainStartedAnnotation: now.Add(-30 * time.Second).Format(time.RFC3339)}, writes: 1,
	},
	"opened again by whom it was closed": {
		reason: "a client that takes its cordon back during the drain leaves the cordon to Muster, so that undoing the drain opens the node",
		objects: []client.Object{node(draining, func(n *corev1.Node) {
			n.Spec.Unschedulable = false
			n.Annotations[CordonedBeforeAnnotation] = "true"
		})},
		annotations: map[string]string{nodes.DrainStartedAnnotation: now.Add(-30 * time.Second).Format(time.RFC3339)}, writes: 1,
	},
	"opened again, and another machine": {
		reason: "a machine that took over the Node of a drained one has the whole timeout",
		objects: []client.Object{node(draining, func(n *corev1.Node) {
			n.Spec.Unschedulable = false
			n.Annotations[CordonedBeforeAnnotation], n.Annotations[DetachStartedAnnotation] = "true", now.Add(-20*time.Second).Format(time.RFC3339)
			n.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-10 * time.Second))
		})},
		annotations: begun, writes: 1,
	},
	"budget": {
		reason:  "what a budget keeps is for the next pass: no error, and the other pods go",
		objects: []client.Object{node(), podOn("a"), podOn("b")}, refuse: map[string]error{"a": tooMany()},
		annotations: begun, evicted: []string{"b"}, writes: 1,
	},
	"API server fails": {
		reason:  "an eviction with an unknown outcome is reported and retried",
		objects: []client.Object{node(), podOn("a")}, refuse: map[string]error{"a": apierrors.NewInternalError(errors.New("x"))},
		annotations: begun, writes: 1, err: "evict pod default/a",
	},
	"refused otherwise": {
		reason:  "a forbidden eviction is reported: a retry alone does not help",
		objects: []client.Object{node(), podOn("a"), podOn("b")}, refuse: map[string]error{
			"a": apierrors.NewForbidden(policyv1.Resource("evictions"), "a", errors.New("no")),
		},
		annotations: begun, evicted: []string{"b"}, writes: 1, err: "evict pod default/a (and 0 more like it)",
	},
	"gone meanwhile": {
		reason:  "a pod that is gone is evicted",
		objects: []client.Object{node(), podOn("a")}, refuse: map[string]error{"a": apierrors.NewNotFound(corev1.Resource("pods"), "a")},
		annotations: begun, writes: 1,
	},
	"other machine": {
		reason:  "a node whose name belongs to another machine by now is left alone",
		objects: []client.Object{node(), podOn("a")}, target: pool.InstanceRef{ID: "i-2", ProviderID: "aws:///zone-a/i-2", Node: "n1"},
		open: true,
	},
	"no node": {reason: "a machine that never joined needs no drain", objects: []client.Object{node()},
		target: pool.InstanceRef{ID: "i-1", ProviderID: providerID}, open: true},
	"node gone": {
		reason:  "a node that is gone needs no drain",
		objects: []client.Object{node()}, target: pool.InstanceRef{ID: "i-1", ProviderID: providerID, Node: "n9"}, open: true,
	},
}

var begun = map[string]string{nodes.DrainStartedAnnotation: now.Format(time.RFC3339)}

func TestDrain(t *testing.T) {
	t.Parallel()
	for name, tc := range drainCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, append(tc.objects, namespace, daemonSet), nil)
			w.refuse = tc.refuse
			if tc.target.ID == "" {
				tc.target = target
			}
			err := w.Start(t.Context(), pool.Step{Kind: pool.Drain, Targets: []pool.InstanceRef{tc.target}})
			if got := fmt.Sprint(err); (err == nil) != (tc.err == "") || !strings.Contains(got, tc.err) {
				t.Errorf("%s: want error with %q, got %v", tc.reason, tc.err, err)
			}
			got := &corev1.Node{}
			if err := w.Remote.Get(t.Context(), client.ObjectKey{Name: "n1"}, got); err != nil {
				t.Fatal(err)
			}
			if got.Spec.Unschedulable == tc.open {
				t.Errorf("%s: want unschedulable %v, got %v", tc.reason, !tc.open, got.Spec.Unschedulable)
			}
			if diff := cmp.Diff(tc.annotations, got.Annotations); diff != "" {
				t.Errorf("%s: annotations, want -, got +\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.evicted, w.evicted); diff != "" {
				t.Errorf("%s: evicted, want -, got +\n%s", tc.reason, diff)
			}
			if len(w.writes) != tc.writes {
				t.Errorf("%s: want %d node writes, got %v", tc.reason, tc.writes, w.writes)
			}
		})
	}
}

// TestDrainAfterConflicts holds that a conflict with a kubelet, which writes its Node every few seconds, is retried and does not prevent
// the drain of another node.
func TestDrainAfterConflicts(t *testing.T) {
	t.Parallel()
	other := node(func(n *corev1.Node) { n.Name, n.Spec.ProviderID = "n2", "aws:///zone-a/i-2" })
	targets := []pool.InstanceRef{target, {ID: "i-2", ProviderID: "aws:///zone-a/i-2", Node: "n2"}}
	for name, tc := range map[string]struct {
		reason    string
		conflicts int
		failed    map[string]bool
		evicted   []string
	}{
		"one": {reason: "an ordinary conflict is no failure", conflicts: 1, evicted: []string{"a"}},
		"many": {reason: "conflicts that continue are left to the next pass, and the other node is drained", conflicts: 99,
			failed: map[string]bool{"i-1": true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, []client.Object{node(), other, podOn("a"), namespace, daemonSet}, nil)
			w.conflicts = map[string]int{"n1": tc.conflicts}
			err := w.Start(t.Context(), pool.Step{Kind: pool.Drain, Targets: targets})
			var partial *engine.PartialError
			if errors.As(err, &partial); (partial == nil) != (tc.failed == nil) || partial != nil && !maps.Equal(partial.Failed, tc.failed) {
				t.Errorf("%s: want %v not begun, got %v", tc.reason, tc.failed, err)
			}
			if err != nil && !apierrors.IsConflict(err) {
				t.Errorf("%s: want a conflict, got %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.evicted, w.evicted); diff != "" {
				t.Errorf("%s: evicted, want -, got +\n%s", tc.reason, diff)
			}
			got := &corev1.Node{}
			if err := w.Remote.Get(t.Context(), client.ObjectKey{Name: "n2"}, got); err != nil || !got.Spec.Unschedulable {
				t.Errorf("%s: want the other node cordoned, got %v, %v", tc.reason, got.Spec, err)
			}
		})
	}
}

func TestUndrain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		node     *corev1.Node
		cordoned bool
		writes   int
	}{
		"ours":   {"Muster's own cordon is undone and its time removed", node(draining), false, 1},
		"others": {"a cordon that is not ours stays", node(cordoned), true, 0},
		"both": {"a cordon that was there before us stays, our time goes", node(draining, func(n *corev1.Node) {
			n.Annotations[CordonedBeforeAnnotation] = "true"
		}), true, 1},
		"open": {"nothing to take back, nothing to write", node(), false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, []client.Object{tc.node, namespace, podOn("a")}, nil)
			if err := w.Start(t.Context(), pool.Step{Kind: pool.Undrain, Targets: []pool.InstanceRef{target}}); err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			got := &corev1.Node{}
			if err := w.Remote.Get(t.Context(), client.ObjectKey{Name: "n1"}, got); err != nil {
				t.Fatal(err)
			}
			if got.Spec.Unschedulable != tc.cordoned || len(got.Annotations) != 0 || len(w.writes) != tc.writes {
				t.Errorf("%s: want cordoned %v, no annotations, %d writes; got %v, %v, %v", tc.reason, tc.cordoned, tc.writes,
					got.Spec.Unschedulable, got.Annotations, w.writes)
			}
			if len(w.evicted) != 0 {
				t.Errorf("taking a drain back evicted %v", w.evicted)
			}
		})
	}
}

// TestFindUncached holds that the API server is read, because a cache may be stale.
func TestFindUncached(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{node(func(n *corev1.Node) {
		n.Spec.Unschedulable = true
		n.Annotations = map[string]string{nodes.DrainStartedAnnotation: now.Format(time.RFC3339)}
	}), namespace, podOn("a")}, nil)
	behind := newWorld(t, nil, nil)
	behind.Live, w.Remote = w.Live, behind.Remote
	for reason, c := range map[string]struct {
		ask  []string
		want int
	}{
		"one found":  {[]string{key, "aws://i-2"}, 1},
		"none found": {[]string{"aws://i-2"}, 0},
		"no keys":    {nil, 0},
	} {
		got, err := behind.FindUncached(t.Context(), c.ask)
		if err != nil || len(got) != c.want {
			t.Errorf("%s: want %d nodes, got %v, %v", reason, c.want, got, err)
		}
		if n, ok := got[key]; ok && (n.Name != "n1" || !n.DrainStarted.Equal(now)) {
			t.Errorf("%s: want the drain of n1 since %v, got %+v", reason, now, n)
		}
	}
}

func TestDrainRunsToItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{node(), namespace, podOn("a"), podOn("b")}, nil)
	w.refuse["b"] = tooMany()
	for round, want := range []int{1, 0, 0} {
		if err := w.Start(t.Context(), pool.Step{Kind: pool.Drain, Targets: []pool.InstanceRef{target}}); err != nil {
			t.Fatal(err)
		}
		w.refuse = nil
		got, err := w.Find(t.Context(), []string{key})
		if err != nil {
			t.Fatal(err)
		}
		n := got[key]
		if n.Remaining != want || n.Drained() != (want == 0) || !n.DrainStarted.Equal(now) {
			t.Errorf("round %d: want %d left since %v, got %+v", round, want, now, n)
		}
	}
	if len(w.writes) != 1 {
		t.Errorf("want one write of the node over all rounds, got %v", w.writes)
	}
}

func TestStartRefusesOtherSteps(t *testing.T) {
	t.Parallel()
	err := newWorld(t, nil, nil).Start(t.Context(), pool.Step{Kind: pool.Resize, Targets: []pool.InstanceRef{target}})
	if err == nil || !strings.Contains(err.Error(), "Resize") {
		t.Errorf("want an error that names the step, got %v", err)
	}
}

func TestUnexpected(t *testing.T) {
	t.Parallel()
	pods := []*corev1.Pod{podOn("a"), podOn("b")}
	for message, want := range map[string]string{
		"Cannot evict pod as it would violate the pod's disruption budget. The disruption budget web needs 2": "",
		"Cannot evict pod from terminating namespace: unable to create eviction":                              "",
		"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.":    "",
		"eviction timeout of 10s reached, eviction will be retried":                                           "",
		`admission webhook "x" denied the request: not on my watch`:                                           `evict pod default/a (and 1 more like it): admission webhook "x" denied the request: not on my watch`,
	} {
		got := ""
		if err := unexpected(map[string][]*corev1.Pod{message: pods}); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: want %q, got %q", message, want, got)
		}
	}
}

// copies returns a test's own copies of objects: the client writes into the objects that it gets.
func copies(list []client.Object) []client.Object {
	own := make([]client.Object, len(list))
	for k, o := range list {
		own[k], _ = o.DeepCopyObject().(client.Object)
	}
	return own
}
