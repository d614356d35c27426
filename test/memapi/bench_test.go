package memapi_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
)

func BenchmarkMemAPIGet(b *testing.B) {
	w := newWorld(b)
	w.make(aPool())
	c := w.NewCache().Client(nil)
	o := &awsv1.AWSMachinePool{}
	b.ReportAllocs()
	for b.Loop() {
		w.must(c.Get(b.Context(), client.ObjectKey{Namespace: "ns", Name: "p"}, o))
	}
}

func BenchmarkMemAPIListOneOfHundred(b *testing.B) {
	w := newWorld(b)
	for i := range 100 {
		w.make(aNode(fmt.Sprintf("n%d", i), fmt.Sprintf("z%d", i)))
	}
	c := w.NewCache().Client(nil)
	list := &corev1.NodeList{}
	b.ReportAllocs()
	for b.Loop() {
		w.must(c.List(b.Context(), list, client.MatchingFields{"zones": "z50"}))
		if len(list.Items) != 1 {
			b.Fatalf("want 1 node, got %d", len(list.Items))
		}
	}
}

// BenchmarkMemAPIStatusPatch has the making of the patch in it, which is the client's work and most of the time.
func BenchmarkMemAPIStatusPatch(b *testing.B) {
	w := newWorld(b)
	o := aPool()
	w.make(o)
	b.ReportAllocs()
	for b.Loop() {
		before := o.DeepCopy()
		o.Status.Replicas = new(ptr.Deref(o.Status.Replicas, 0) + 1)
		w.must(w.Status().Patch(b.Context(), o, client.MergeFrom(before)))
	}
}
