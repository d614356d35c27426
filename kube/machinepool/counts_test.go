package machinepool_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/machinepool/status"
	"github.com/muster-project/muster/kube/nodes"
)

const countsID = "aws:///zone-a/i-1"

var (
	now     = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	deleted = metav1.NewTime(now)
)

// aNode returns a Node that was created two hours ago, and whose Ready condition has its status for a duration.
func aNode(ready corev1.ConditionStatus, since time.Duration) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "u", CreationTimestamp: metav1.NewTime(now.Add(-2 * time.Hour))}}
	n.Status.NodeInfo.KubeletVersion = "v1.36.0"
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, Reason: "Because",
		LastTransitionTime: metav1.NewTime(now.Add(-since))}}
	return n
}

func with(n *corev1.Node, change func(*corev1.Node)) *corev1.Node {
	change(n)
	return n
}

// aMachine returns a Machine whose conditions Ready and Available are true, except for the given conditions.
func aMachine(changes ...metav1.Condition) *clusterv1.Machine {
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "m"}}
	m.Status.Conditions = append(changes, metav1.Condition{Type: clusterv1.MachineReadyCondition, Status: metav1.ConditionTrue, Reason: "R"},
		metav1.Condition{Type: clusterv1.MachineAvailableCondition, Status: metav1.ConditionTrue, Reason: "A"})
	return m
}

func is(t string, s metav1.ConditionStatus, reason string) metav1.Condition {
	return metav1.Condition{Type: t, Status: s, Reason: reason}
}

func TestNodes(t *testing.T) {
	t.Parallel()
	notReady := []metav1.Condition{is(clusterv1.MachineReadyCondition, metav1.ConditionFalse, "NotReady")}
	for why, tc := range map[string]struct {
		node     *corev1.Node
		machine  *clusterv1.Machine
		expected bool
		settle   int32
		want     status.Nodes
		next     time.Duration
	}{
		"an instance without a Node is missing":             {want: status.Nodes{Missing: []string{countsID}}},
		"a Ready Node without minReadySeconds is available": {node: aNode("True", time.Second), want: status.Nodes{Ready: 1, Available: 1}},
		"a Node becomes available when minReadySeconds are over": {node: aNode("True", 20*time.Second), settle: 60, next: 40 * time.Second,
			want: status.Nodes{Ready: 1, Settling: []string{"n"}}},
		"exactly at minReadySeconds it is available": {node: aNode("True", time.Minute), settle: 60, want: status.Nodes{Ready: 1, Available: 1}},
		"a Node that has not been Ready since it registered is a new machine": {node: aNode("False", 2*time.Hour-time.Second),
			want: status.Nodes{NotReady: []string{"n (Because)"}, Starting: 1}},
		"a Node without a Ready condition is a new machine": {node: with(aNode("True", 0), func(n *corev1.Node) { n.Status.Conditions = nil }),
			want: status.Nodes{NotReady: []string{"n"}, Starting: 1}},
		"a Node whose condition changed later was Ready once": {node: aNode("False", time.Hour),
			want: status.Nodes{NotReady: []string{"n (Because)"}}},
		"a Node that the node controller has marked as unreachable was Ready once": {node: aNode("Unknown", 2*time.Hour-time.Second),
			want: status.Nodes{NotReady: []string{"n (Because)"}}},
		"a draining Node is Ready and not available": {node: with(aNode("True", time.Hour), func(n *corev1.Node) {
			n.Spec.Unschedulable = true
			n.Annotations = map[string]string{nodes.DrainStartedAnnotation: "2026-01-02T03:04:05Z"}
		}), want: status.Nodes{Ready: 1, Leaving: []string{"n"}}},
		"a Node that is open again drains no more": {node: with(aNode("True", time.Hour), func(n *corev1.Node) {
			n.Annotations = map[string]string{nodes.DrainStartedAnnotation: "2026-01-02T03:04:05Z"}
		}), want: status.Nodes{Ready: 1, Available: 1}},
		"a deleting Node is Ready and not available": {node: with(aNode("True", time.Hour),
			func(n *corev1.Node) { n.DeletionTimestamp = &deleted }),
			want: status.Nodes{Ready: 1, Leaving: []string{"n"}}},
		"the cordon of a user does not count": {node: with(aNode("True", time.Hour), func(n *corev1.Node) { n.Spec.Unschedulable = true }),
			want: status.Nodes{Ready: 1, Available: 1}},
		"a Node without its Machine is not ready": {node: aNode("True", time.Hour), expected: true,
			want: status.Nodes{NotReady: []string{"n (no Machine yet)"}}},
		"a Machine has readiness gates of its own": {node: aNode("True", time.Hour), expected: true, machine: aMachine(notReady...),
			want: status.Nodes{NotReady: []string{"m (NotReady)"}}},
		"the most specific reason of a Machine is shown": {node: aNode("True", time.Hour), expected: true,
			machine: aMachine(append(notReady, is(clusterv1.MachineHealthCheckSucceededCondition, metav1.ConditionFalse, "UnhealthyNode"))...),
			want:    status.Nodes{NotReady: []string{"m (UnhealthyNode)"}}},
		"the deletion of a Machine is the most specific reason": {node: aNode("True", time.Hour), expected: true,
			machine: aMachine(append(notReady, is(clusterv1.MachineDeletingCondition, metav1.ConditionTrue, "DrainingNode"))...),
			want:    status.Nodes{NotReady: []string{"m (DrainingNode)"}}},
		"the Machine controller decides when a Machine is available, and wakes the pool": {node: aNode("True", time.Second), expected: true,
			settle:  60,
			machine: aMachine(is(clusterv1.MachineAvailableCondition, metav1.ConditionFalse, "Waiting")),
			want:    status.Nodes{Ready: 1, Settling: []string{"n"}}},
		"an available Machine is available whatever minReadySeconds is": {node: aNode("True", time.Second), expected: true, settle: 60,
			machine: aMachine(),
			want:    status.Nodes{Ready: 1, Available: 1}},
	} {
		pool := &clusterv1.MachinePool{}
		pool.CreationTimestamp = metav1.NewTime(now.Add(-time.Hour))
		pool.Spec.ProviderIDList = []string{countsID, "aws:////i-1"}
		pool.Spec.Template.Spec.MinReadySeconds = &tc.settle
		found := map[string]*corev1.Node{}
		machines := members.MachinesByInstance{Expected: tc.expected, ByInstance: map[string]*clusterv1.Machine{}}
		tc.want.BeforePool = map[string]bool{}
		if tc.node != nil {
			found[members.InstanceKey(countsID)] = tc.node
			tc.want.Refs = []corev1.ObjectReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "u"}}
			tc.want.Versions = []clusterv1.StatusVersion{{Version: "v1.36.0", Replicas: 1}}
			tc.want.BeforePool["n"] = true
		}
		if tc.machine != nil {
			machines.ByInstance[members.InstanceKey(countsID)] = tc.machine
		}
		got, next := members.CountNodes(pool, found, machines, now)
		if diff := cmp.Diff(tc.want, got); diff != "" || next != tc.next {
			t.Errorf("%s: want the next change after %s, got %s, counts (-want +got):\n%s", why, tc.next, next, diff)
		}
	}
}
