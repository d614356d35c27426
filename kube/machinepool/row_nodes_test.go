package machinepool

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/nodes"
)

// TestRow07_NodeWakesItsPool holds that a Node is mapped to its pool by its provider ID and its cluster: another cluster may have a Node of
// the same name and provider ID.
func TestRow07_NodeWakesItsPool(t *testing.T) {
	t.Parallel()
	mine, twin, other := aPool(1), aPool(1), aPool(1)
	mine.Spec.ProviderIDList, twin.Spec.ProviderIDList, other.Spec.ProviderIDList = []string{id1}, []string{id1}, []string{id2}
	twin.Name, twin.Spec.ClusterName = "twin", "c2"
	other.Name = "other"
	w := newWorld(t, []client.Object{mine, twin, other})
	node := w.node("n1", "aws:////i-1", true)
	for cluster, pools := range map[string]string{"c1": "[default/pool]", "c2": "[default/twin]", "c3": "[]"} {
		woken := nodes.Mapper(w.mgmt, client.ObjectKey{Namespace: "default", Name: cluster}, nil)(t.Context(), node)
		want(t, "woken by the node of "+cluster, fmt.Sprint(woken), pools)
	}
}

// TestRow35_ProviderIDsAreComparedByInstance holds that a Node is found if its cloud provider spells its ID differently from the
// infrastructure provider, and that the ID of another instance is not.
func TestRow35_ProviderIDsAreComparedByInstance(t *testing.T) {
	t.Parallel()
	const vmss = "azure:///subscriptions/S/resourceGroups/%s/providers/Microsoft.Compute/virtualMachineScaleSets/%s/virtualMachines/%d"
	for name, tc := range map[string]struct {
		listed, node string
		same         bool
	}{
		"aws, the zone is left out": {"aws:///eu-west-1a/i-0a1", "aws:////i-0a1", true},
		"aws, another instance":     {"aws:///eu-west-1a/i-0a1", "aws:///eu-west-1a/i-0a2", false},
		"azure, letter case": {fmt.Sprintf(vmss, "Group", "Set", 3),
			strings.ToLower(fmt.Sprintf(vmss, "Group", "Set", 3)), true},
		"azure, the same number in another set": {fmt.Sprintf(vmss, "g", "a", 0), fmt.Sprintf(vmss, "g", "b", 0), false},
		"gce":                                   {"gce://project/zone-a/vm-1", "gce://project/zone-a/vm-1", true},
		"gce, one name in two zones":            {"gce://project/zone-a/vm-1", "gce://project/zone-b/vm-1", false},
		"oci, with its scheme and without":      {"oci://ocid1.instance.oc1.x.abc", "ocid1.instance.oc1.x.abc", true},
		"scaleway": {"scaleway://instance/fr-par-1/11111111-2222",
			"scaleway://instance/fr-par-1/11111111-2222", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), anInfra(tc.listed)})
			w.node("n1", tc.node, true)
			w.settled()
			want(t, "ready", w.counts()[0], map[bool]int32{true: 1, false: 0}[tc.same])
			want(t, "phase", w.pool().Status.Phase, map[bool]string{true: "Running", false: "ScalingUp"}[tc.same])
		})
	}
}

// TestRow36_NodeRefsInListOrder holds what a reference contains, and that it refers to the existing Node: one that registered again under
// its name is another.
func TestRow36_NodeRefsInListOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(2), aConfig(), anInfra(id2, id1)})
	first := w.node("n1", id1, true)
	w.node("n2", id2, true)
	w.settled()
	ref := func(name, uid string) string {
		return fmt.Sprint(corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: name, UID: "x"}) + uid
	}
	refs := func() []string {
		var all []string
		for _, r := range w.pool().Status.NodeRefs {
			uid := string(r.UID)
			r.UID = "x"
			all = append(all, fmt.Sprint(r)+uid)
		}
		return all
	}
	wantAll(t, "references", refs(), []string{ref("n2", "n2-uid"), ref("n1", "n1-uid")})
	if err := w.wl.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	again := first.DeepCopy()
	again.ResourceVersion, again.UID = "", "n1-again"
	if err := w.wl.Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	w.settled()
	wantAll(t, "references after a node registered again", refs(), []string{ref("n2", "n2-uid"), ref("n1", "n1-again")})
	want(t, "ready", w.counts()[0], 2)
}

// TestRow38_OrphanedNodesAreDeleted holds which Nodes of the pool are deleted when their instances have left the list: those that are not
// Ready and those that Muster has drained, and not those of other owners.
func TestRow38_OrphanedNodesAreDeleted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		make   func(w *world)
		stays  bool
	}{
		"not ready": {"its machine is gone", func(w *world) { w.changeNode("n2", func(n *corev1.Node) { setReady(n, false, w.clock) }) }, false},
		"drained":   {"its machine is being removed", func(w *world) { w.drains("n2") }, false},
		"cordoned": {"its machine may run: others have cordoned it",
			func(w *world) { w.changeNode("n2", func(n *corev1.Node) { n.Spec.Unschedulable = true }) }, true},
		"taken over": {"a machine with the name of the drained one has taken it over", func(w *world) {
			w.drains("n2")
			w.changeNode("n2", func(n *corev1.Node) { setReady(n, true, w.clock.Add(time.Minute)) })
		}, true},
		"without provider ID": {"the pool has claimed it before", func(w *world) {
			w.changeNode("n2", func(n *corev1.Node) { n.Spec.ProviderID = ""; setReady(n, false, w.clock) })
		}, false},
		"of another pool": {"another pool has claimed it", func(w *world) {
			w.changeNode("n2", func(n *corev1.Node) {
				n.Annotations[clusterv1.OwnerNameAnnotation] = "other"
				setReady(n, false, w.clock)
			})
		}, true},
		"unclaimed": {"a node that no pool has claimed may belong to another owner", func(w *world) {
			w.changeNode("n2", func(n *corev1.Node) { n.Annotations = nil; setReady(n, false, w.clock) })
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			w.changeInfra(func(o map[string]any) {
				_ = unstructured.SetNestedStringSlice(o, []string{id1}, "spec", "providerIDList")
				_ = unstructured.SetNestedField(o, int64(1), "status", "replicas")
			})
			tc.make(w)
			w.settled()
			left := []string{"n1"}
			if tc.stays {
				left = append(left, "n2")
			}
			wantAll(t, tc.reason, w.nodeNames(), left)
			wantAll(t, "references", w.refs(), []string{"n1"})
		})
	}
}

// TestRow41_MissingNodesAreReported holds that a pool reports how many machines have not joined, and is woken by Nodes, not by time.
func TestRow41_MissingNodesAreReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(2), aConfig(), anInfra(id1, id2)})
	w.node("n1", id1, true)
	res := w.settled()
	want(t, "next pass", res.RequeueAfter, 0)
	var got string
	for _, c := range w.pool().GetV1Beta1Conditions() {
		if c.Type == clusterv1.ReplicasReadyV1Beta1Condition {
			got = fmt.Sprintf("%s %s %s: %s", c.Status, c.Reason, c.Severity, c.Message)
		}
	}
	want(t, "ReplicasReady", got, "False WaitingForReplicasReady Info: 1 of 2 replicas are ready: no node yet for "+id2)
	w.node("n2", id2, true)
	w.settled()
	want(t, "ReplicasReady", w.older(clusterv1.ReplicasReadyV1Beta1Condition), "True")
}

// eventSize is the limit of the API for the note of an event, in bytes.
const eventSize = 1024

// TestRow42_MessagesOfLargePoolsAreShort holds that events and conditions of a large pool name a few Nodes and count the rest.
func TestRow42_MessagesOfLargePoolsAreShort(t *testing.T) {
	t.Parallel()
	const count = 60
	var ids []string
	for i := range count {
		ids = append(ids, fmt.Sprintf("aws:///zone-a/i-%03d", i))
	}
	w := newWorld(t, []client.Object{aCluster(), aPool(count), aConfig(), anInfra(ids...)})
	for i, id := range ids {
		w.node(fmt.Sprintf("n%03d", i), id, i%2 == 0)
	}
	for w.pass().RequeueAfter > 0 {
	}
	events := w.events()
	want(t, "last event", events[len(events)-1], "Normal SuccessfulSetNodeRefs n000, n001, n002, n003, n004 and 55 more joined; nodes now: 60")
	for _, c := range w.pool().Status.Conditions {
		if len(c.Message) > eventSize {
			t.Errorf("%s: want a short message, got %d bytes", c.Type, len(c.Message))
		}
	}
	for _, e := range events {
		if len(e) > eventSize {
			t.Errorf("want a short event, got %d bytes: %.80s", len(e), e)
		}
	}
}

// reads counts lists of the workload cluster and the Nodes that they return.
func (w *world) reads() (lists, returned *int) {
	lists, returned = new(int), new(int)
	w.wl = interceptor.NewClient(w.wl, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList,
		opts ...client.ListOption) error {
		if (&client.ListOptions{}).ApplyOptions(opts).FieldSelector == nil {
			w.t.Errorf("want every list by an index, got one of all nodes")
		}
		err := c.List(ctx, list, opts...)
		*lists++
		if nodes, ok := list.(*corev1.NodeList); ok {
			*returned += len(nodes.Items)
		}
		return err
	}})
	w.connect()
	return lists, returned
}

// TestRow43_NodesAreReadByIndex holds that a pass reads only its own Nodes, each once.
func TestRow43_NodesAreReadByIndex(t *testing.T) {
	t.Parallel()
	w := running(t)
	for i := range 20 {
		w.node(fmt.Sprintf("other-%d", i), fmt.Sprintf("aws:///zone-a/i-other-%d", i), true)
	}
	lists, returned := w.reads()
	w.pass()
	want(t, "lists: one for each instance, one for what the pool has claimed", *lists, 3)
	want(t, "nodes given", *returned, 4)
}

// TestDefectPerf_CostDependsOnThePoolOnly holds that a pass reads as much in a small cluster as in a large one.
func TestDefectPerf_CostDependsOnThePoolOnly(t *testing.T) {
	t.Parallel()
	cost := map[int]string{}
	for _, others := range []int{1, 100} {
		w := running(t)
		for i := range others {
			w.node(fmt.Sprintf("other-%d", i), fmt.Sprintf("aws:///zone-a/i-other-%d", i), true)
		}
		lists, returned := w.reads()
		w.pass()
		cost[others] = fmt.Sprintf("%d lists of %d nodes", *lists, *returned)
	}
	want(t, "cost among 100 nodes", cost[100], cost[1])
}

// TestRow44_CountsWithoutMachines holds that ready and available are counted by Nodes, that the infrastructure object reports the count of
// up-to-date machines, and that versions are those of kubelets.
func TestRow44_CountsWithoutMachines(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(5), aConfig(), anInfra(id1, id2, id3)})
	w.changeInfra(func(o map[string]any) { _ = unstructured.SetNestedField(o, int64(1), "status", "upToDateReplicas") })
	w.node("n1", id1, true)
	w.node("n2", id2, false)
	w.settled()
	want(t, "ready, available, up to date", w.counts(), [3]int32{1, 1, 1})
	want(t, "replicas", *w.pool().Status.Replicas, 3)
	d := w.pool().Status.Deprecated.V1Beta1
	want(t, "the same for clients of v1beta1", [3]int32{d.ReadyReplicas, d.AvailableReplicas, d.UnavailableReplicas}, [3]int32{1, 1, 4})
}

// TestRow48_VersionsOfKubelets holds that versions are those of Nodes, each once, sorted.
func TestRow48_VersionsOfKubelets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(4), aConfig(), anInfra(id1, id2, id3, "aws:///zone-a/i-4")})
	for n, version := range map[string]string{"1": "v1.36.0", "2": "v1.35.4", "3": "v1.36.0", "4": ""} {
		w.node("n"+n, "aws:///zone-a/i-"+n, true)
		w.changeNode("n"+n, func(o *corev1.Node) { o.Status.NodeInfo.KubeletVersion = version })
	}
	w.settled()
	want(t, "versions", fmt.Sprint(w.pool().Status.Versions),
		fmt.Sprint([]clusterv1.StatusVersion{{Version: "v1.35.4", Replicas: 1}, {Version: "v1.36.0", Replicas: 2}}))
}
