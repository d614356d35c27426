package machinepool_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/muster-project/muster/kube/machinepool/nodesync"
)

// TestDeleteSkipsChangedNodes holds that a Node which changes before its deletion, and may be Ready again, is evaluated again first.
func TestDeleteSkipsChangedNodes(t *testing.T) {
	t.Parallel()
	stale := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "n-uid"}, Spec: corev1.NodeSpec{Unschedulable: true}}
	c := fake.NewClientBuilder().WithObjects(stale).Build()
	current := &corev1.Node{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "n"}, current); err != nil {
		t.Fatal(err)
	}
	stale = current.DeepCopy()
	current.Spec.Unschedulable = false
	if err := c.Update(t.Context(), current); err != nil {
		t.Fatal(err)
	}
	events, res := nodesync.Delete(t.Context(), c, []*corev1.Node{stale})
	if res.Err != nil || res.After != nodesync.AfterLimit || len(events) != 0 {
		t.Errorf("want another pass after %s and no event, got %v after %s, %v", nodesync.AfterLimit, res.Err, res.After, events)
	}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "n"}, current); err != nil || !current.DeletionTimestamp.IsZero() {
		t.Errorf("want the Node kept, got %v, %v", current, err)
	}
	events, res = nodesync.Delete(t.Context(), c, []*corev1.Node{current})
	if res.Err != nil || res.After != 0 || len(events) != 1 || events[0].Related.Name != "n" {
		t.Errorf("want the Node as it is now deleted, with an event, got %v after %s, %v", res.Err, res.After, events)
	}
}
