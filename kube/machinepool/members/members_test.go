package members

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/muster-project/muster/kube/machinepool/objects"
)

func aMachine(name, pool, owner string) *clusterv1.Machine {
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	if pool != "" {
		m.Labels = map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.MachinePoolNameLabel: pool}
	}
	if owner != "" {
		yes := true
		m.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: owner, Controller: &yes}}
	}
	return m
}

// TestMachinesAreReadByIndex holds that the Machines of one pool are read by an index: a cache without it scans the whole namespace.
func TestMachinesAreReadByIndex(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := clusterv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	all := []client.Object{aMachine("labelled", "pool", ""), aMachine("controlled", "pool", "pool"), aMachine("taken", "pool", "other"),
		aMachine("other", "other", "other"), aMachine("unlabelled", "", "")}
	pool := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pool"}, Spec: clusterv1.MachinePoolSpec{ClusterName: "c1"}}
	indexed := fake.NewClientBuilder().WithScheme(scheme).WithIndex(&clusterv1.Machine{}, poolField, poolOf).WithObjects(all...).Build()
	plain := fake.NewClientBuilder().WithScheme(scheme).WithObjects(all...).Build()
	for reason, r := range map[string]Reader{
		"by the index":            {Objects: objects.Reader{Cached: indexed}, Index: NewIndex(nil)},
		"by labels, without it":   {Objects: objects.Reader{Cached: plain}},
		"by labels, on any cache": {Objects: objects.Reader{Cached: indexed}},
	} {
		found, err := r.Machines(t.Context(), pool)
		var names []string
		for _, m := range found {
			names = append(names, m.Name)
		}
		if want := []string{"controlled", "labelled"}; err != nil || !slices.Equal(names, want) {
			t.Errorf("%s: want the Machines %v, got %v, %v", reason, want, names, err)
		}
	}
	// Without the index the fake client rejects a list by the index. That is how the test knows that it was used.
	if _, err := (Reader{Objects: objects.Reader{Cached: plain}, Index: NewIndex(nil)}).Machines(t.Context(), pool); err == nil {
		t.Error("want Machines read by the index, got them without one")
	}
}

// countingIndexer counts the indexes that are added.
type countingIndexer struct{ added []string }

func (c *countingIndexer) IndexField(_ context.Context, _ client.Object, field string, _ client.IndexerFunc) error {
	c.added = append(c.added, field)
	return nil
}

func TestAddIndexesAKindOnce(t *testing.T) {
	t.Parallel()
	c := &countingIndexer{}
	index := NewIndex(c)
	for range 3 {
		if err := index.Add(t.Context(), clusterv1.GroupVersion.WithKind("Machine"), &clusterv1.Machine{}); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(c.added, []string{poolField}) {
		t.Errorf("want one index, got %v", c.added)
	}
}
