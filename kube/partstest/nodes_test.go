package partstest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/muster-project/muster/kube/nodes"
)

func builder(t *testing.T) *fake.ClientBuilder {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithIndex(&clusterv1.MachinePool{}, nodes.PoolField, nodes.PoolKeys)
	for _, i := range nodes.Indexes() {
		b = b.WithIndex(i.Object, i.Field, i.ExtractValue)
	}
	return b
}

func node(name, id string, age time.Duration) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(time.Unix(1_000_000, 0).Add(-age))},
		Spec:       corev1.NodeSpec{ProviderID: id},
	}
}

func owned(n *corev1.Node, namespace, kind, name string) *corev1.Node {
	n.Annotations = map[string]string{
		clusterv1.ClusterNamespaceAnnotation: namespace, clusterv1.ClusterNameAnnotation: "c1",
		clusterv1.OwnerKindAnnotation: kind, clusterv1.OwnerNameAnnotation: name,
	}
	return n
}

func TestByProviderKeys(t *testing.T) {
	t.Parallel()
	c := builder(t).WithObjects(
		node("a", "aws:///zone-a/i-1", 0),
		node("b", "aws:////i-2", 0),
		node("old", "aws:///zone-a/i-3", time.Hour),
		node("young", "aws:///zone-a/i-3", time.Minute),
		node("none", "", 0),
		node("odd", "no scheme", 0),
	).Build()
	got, err := nodes.ByProviderKeys(t.Context(), c, append(nodes.Keys([]string{
		"aws:///i-1", "aws:///zone-b/i-2", "aws:///i-3", "aws:///i-4", "no scheme", "", "aws:///zone-a/i-1"}), ""))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"aws://i-1": "a", "aws://i-2": "b", "aws://i-3": "young"}
	if len(got) != len(want) {
		t.Errorf("want %d nodes, got %d: %v", len(want), len(got), got)
	}
	for key, name := range want {
		if got[key] == nil || got[key].Name != name {
			t.Errorf("%s: want node %s, got %v", key, name, got[key])
		}
	}
}

// What is asked of the API server is picked as what is asked of the index: page by page, of several the youngest, and of
// twins both ways the same.
func TestLiveByProviderKeysPicksAsTheIndexDoes(t *testing.T) {
	t.Parallel()
	objects := []client.Object{
		node("young", "aws:///zone-a/i-1", time.Minute), node("old", "aws:////i-1", time.Hour),
		node("twin-a", "aws:///zone-a/i-2", 0), node("twin-b", "aws:///zone-a/i-2", 0),
		node("other", "aws:///zone-a/i-9", 0), node("none", "", 0),
	}
	c := builder(t).WithObjects(objects...).Build()
	keys := nodes.Keys([]string{"aws:///i-1", "aws:///i-2", "aws:///i-3"})
	live, err := nodes.LiveByProviderKeys(t.Context(), c, append(keys, ""))
	if err != nil {
		t.Fatal(err)
	}
	indexed, err := nodes.ByProviderKeys(t.Context(), c, keys)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"aws://i-1": "young", "aws://i-2": "twin-b"} {
		if live[key] == nil || live[key].Name != want || indexed[key] == nil || indexed[key].Name != want {
			t.Errorf("%s: want %s both ways, got %v and %v", key, want, live[key], indexed[key])
		}
	}
	if len(live) != 2 || len(indexed) != 2 {
		t.Errorf("want two nodes both ways, got %d and %d", len(live), len(indexed))
	}
}

// nodesPerPage is the size of a page of a list of Nodes.
const nodesPerPage = 500

// Pages of a list are all read.
func TestLiveByProviderKeysReadsEveryPage(t *testing.T) {
	t.Parallel()
	pages := map[string]corev1.NodeList{
		"":  {ListMeta: metav1.ListMeta{Continue: "2"}, Items: []corev1.Node{*node("a", "aws:///i-1", 0)}},
		"2": {ListMeta: metav1.ListMeta{Continue: "3"}},
		"3": {Items: []corev1.Node{*node("b", "aws:///i-2", 0)}},
	}
	requests := 0
	c := interceptor.NewClient(builder(t).Build(),
		interceptor.Funcs{List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			o := (&client.ListOptions{}).ApplyOptions(opts)
			if o.Limit != nodesPerPage {
				t.Errorf("want pages of %d, got %d", nodesPerPage, o.Limit)
			}
			requests++
			*list.(*corev1.NodeList) = pages[o.Continue]
			return nil
		}})
	got, err := nodes.LiveByProviderKeys(t.Context(), c, []string{"aws://i-1", "aws://i-2"})
	if err != nil || len(got) != 2 || requests != 3 {
		t.Errorf("want two nodes of three pages, got %v of %d, %v", got, requests, err)
	}
}

func TestClaimedBy(t *testing.T) {
	t.Parallel()
	c := builder(t).WithObjects(
		owned(node("mine", "aws:///i-1", 0), "ns", "MachinePool", "pool"),
		owned(node("another namespace's", "aws:///i-2", 0), "other", "MachinePool", "pool"),
		owned(node("a machine's", "aws:///i-3", 0), "ns", "MachineSet", "pool"),
		node("unowned", "aws:///i-4", 0),
	).Build()
	got, err := nodes.ClaimedBy(t.Context(), c, client.ObjectKey{Namespace: "ns", Name: "pool"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Name != "mine" {
		t.Errorf("want the node mine alone, got %v", got)
	}
}

func TestMapper(t *testing.T) {
	t.Parallel()
	pool := func(namespace, cluster, name string, ids ...string) *clusterv1.MachinePool {
		return &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec: clusterv1.MachinePoolSpec{ClusterName: cluster, ProviderIDList: ids}}
	}
	c := builder(t).WithObjects(
		pool("ns", "c1", "one", "aws:///zone-a/i-1"),
		pool("ns", "c2", "two", "aws:///zone-a/i-1"),
		pool("other", "c1", "one", "aws:///zone-a/i-1"),
		pool("ns", "c1", "empty"),
	).Build()
	for name, tc := range map[string]struct {
		reason  string
		cluster string
		node    *corev1.Node
		want    []string
	}{
		"by instance": {"clusters may hold equal provider IDs: only the own cluster's pool is woken", "c1", node("n", "aws:////i-1", 0),
			[]string{"ns/one"}},
		"by claim": {"a node whose instance has left the list still wakes the pool that claimed it", "c1",
			owned(node("n", "aws:///i-9", 0), "ns", "MachinePool", "empty"), []string{"ns/empty"}},
		"by both": {"a pool that is found twice is woken once", "c1",
			owned(node("n", "aws:///i-1", 0), "ns", "MachinePool", "one"), []string{"ns/one"}},
		"claim and instance differ": {"both pools want to know of a node that both may think theirs", "c1",
			owned(node("n", "aws:///i-1", 0), "ns", "MachinePool", "empty"), []string{"ns/one", "ns/empty"}},
		"claim of another cluster": {"annotations are anybody's to write, so they reach the own cluster's pools alone", "c1",
			owned(node("n", "aws:///i-9", 0), "ns", "MachinePool", "two"), nil},
		"claim of another namespace": {"the same goes for namespaces", "c1",
			owned(node("n", "aws:///i-9", 0), "other", "MachinePool", "one"), nil},
		"no instance": {"a control plane node concerns no pool", "c1", node("n", "", 0), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, r := range nodes.Mapper(c, client.ObjectKey{Namespace: "ns", Name: tc.cluster}, nil)(t.Context(), tc.node) {
				got = append(got, r.String())
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s: want %v, got %v", tc.reason, tc.want, got)
			}
		})
	}
}

func TestChanged(t *testing.T) {
	t.Parallel()
	base := func() *corev1.Node {
		n := owned(node("n", "aws:///i-1", 0), "ns", "MachinePool", "one")
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		n.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
		return n
	}
	for name, tc := range map[string]struct {
		change func(n *corev1.Node)
		want   bool
	}{
		"heartbeat":     {func(n *corev1.Node) { n.Status.Conditions[0].LastHeartbeatTime = metav1.Now() }, false},
		"images":        {func(n *corev1.Node) { n.Status.Images = []corev1.ContainerImage{{SizeBytes: 1}} }, false},
		"version":       {func(n *corev1.Node) { n.ResourceVersion = "2" }, false},
		"not ready":     {func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }, true},
		"ready anew":    {func(n *corev1.Node) { n.Status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Unix(5, 0)) }, true},
		"provider ID":   {func(n *corev1.Node) { n.Spec.ProviderID = "aws:///i-2" }, true},
		"annotation":    {func(n *corev1.Node) { n.Annotations = nil }, true},
		"taint":         {func(n *corev1.Node) { n.Spec.Taints = nil }, true},
		"cordon":        {func(n *corev1.Node) { n.Spec.Unschedulable = true }, true},
		"kubelet":       {func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "v1.37.0" }, true},
		"another":       {func(n *corev1.Node) { n.UID = "other" }, true},
		"being deleted": {func(n *corev1.Node) { n.DeletionTimestamp = &metav1.Time{Time: time.Unix(5, 0)} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := base(), base()
			tc.change(after)
			got := nodes.Changed().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
			if got != tc.want {
				t.Errorf("want %t, got %t", tc.want, got)
			}
		})
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	n := node("n", "", 0)
	if ready, since := nodes.Ready(n); ready || !since.Equal(n.CreationTimestamp.Time) {
		t.Errorf("node without a condition: want not ready since it was made, got %t since %v", ready, since)
	}
	at := metav1.NewTime(time.Unix(7, 0))
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: at}}
	if ready, since := nodes.Ready(n); ready || !since.Equal(at.Time) {
		t.Errorf("silent node: want not ready since the transition, got %t since %v", ready, since)
	}
}

func TestKeysKeepTheOrder(t *testing.T) {
	t.Parallel()
	got := fmt.Sprint(nodes.Keys([]string{"aws:///b/i-2", "aws:///a/i-1", "aws:////i-2", "x"}))
	if want := "[aws://i-2 aws://i-1]"; got != want {
		t.Errorf("want %s, got %s", want, got)
	}
}
