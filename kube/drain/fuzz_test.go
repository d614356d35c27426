package drain

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
)

// FuzzStarted holds that for any annotation of a Node its drain has begun after the first round, not in the future, because its timeout
// counts from there, and that undoing it leaves nothing.
func FuzzStarted(f *testing.F) {
	for _, text := range []string{
		"", "2030-01-02T03:04:05Z", "2030-01-02T03:03:05+01:00", "2029-12-31T23:59:59.999999999Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
		"yesterday", "1893553445", "true",
	} {
		f.Add(text, true, false)
		f.Add(text, false, true)
	}
	f.Fuzz(func(t *testing.T, text string, annotated, cordoned bool) {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Spec: corev1.NodeSpec{ProviderID: providerID, Unschedulable: cordoned}}
		if annotated {
			n.Annotations = map[string]string{nodes.DrainStartedAnnotation: text}
		}
		w := newWorld(t, []client.Object{n}, nil)
		key := "aws://i-1"
		targets := []pool.InstanceRef{{ID: "i-1", ProviderID: providerID, Node: "n1"}}
		if err := w.Start(t.Context(), pool.Step{Kind: pool.Drain, Targets: targets}); err != nil {
			t.Fatal(err)
		}
		found, err := w.Find(t.Context(), []string{key})
		if err != nil {
			t.Fatal(err)
		}
		got := found[key]
		if !got.Cordoned || got.DrainStarted.IsZero() || got.DrainStarted.After(now) {
			t.Fatalf("%q: want the node cordoned and its drain begun by %s, got %+v", text, now, got)
		}
		if at, err := time.Parse(time.RFC3339, text); annotated && cordoned && err == nil && !at.IsZero() && at.Before(now) &&
			!got.DrainStarted.Equal(at) {
			t.Errorf("%q: want a drain that has begun to keep its time, got %s", text, got.DrainStarted)
		}
		if err := w.Start(t.Context(), pool.Step{Kind: pool.Undrain, Targets: targets}); err != nil {
			t.Fatal(err)
		}
		if found, err = w.Find(t.Context(), []string{key}); err != nil || !found[key].DrainStarted.IsZero() {
			t.Errorf("%q: want no drain after it was taken back, got %+v, %v", text, found[key], err)
		}
	})
}
