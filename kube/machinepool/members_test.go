package machinepool_test

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/machinepool/reference"
)

func aMember(name, pool, owner string) *clusterv1.Machine {
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	if pool != "" {
		m.Labels = map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.MachinePoolNameLabel: pool}
	}
	if owner != "" {
		yes := true
		m.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: owner,
			Controller: &yes}}
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
	all := []client.Object{aMember("labelled", "pool", ""), aMember("controlled", "pool", "pool"), aMember("taken", "pool", "other"),
		aMember("other", "other", "other"), aMember("unlabelled", "", "")}
	pool := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pool"},
		Spec: clusterv1.MachinePoolSpec{ClusterName: "c1"}}
	index := &recordingIndexer{}
	if err := members.NewIndex(index).Add(t.Context(), clusterv1.GroupVersion.WithKind("Machine"), &clusterv1.Machine{}); err != nil {
		t.Fatal(err)
	}
	indexed := fake.NewClientBuilder().WithScheme(scheme).WithIndex(&clusterv1.Machine{}, index.added[0],
		index.values).WithObjects(all...).Build()
	plain := fake.NewClientBuilder().WithScheme(scheme).WithObjects(all...).Build()
	for reason, r := range map[string]members.Reader{
		"by the index":            {Objects: reference.ObjectReader{Cached: indexed}, Index: members.NewIndex(nil)},
		"by labels, without it":   {Objects: reference.ObjectReader{Cached: plain}},
		"by labels, on any cache": {Objects: reference.ObjectReader{Cached: indexed}},
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
	// The fake client rejects a list by an index that it lacks, which proves that the reader uses the index.
	if _, err := (members.Reader{Objects: reference.ObjectReader{Cached: plain}, Index: members.NewIndex(nil)}).Machines(t.Context(),
		pool); err == nil {
		t.Error("want Machines read by the index, got them without one")
	}
}

// recordingIndexer records the indexes that are added, and how the last takes its values from an object.
type recordingIndexer struct {
	added  []string
	values client.IndexerFunc
}

func (r *recordingIndexer) IndexField(_ context.Context, _ client.Object, field string, values client.IndexerFunc) error {
	r.added, r.values = append(r.added, field), values
	return nil
}

func TestAddIndexesAKindOnce(t *testing.T) {
	t.Parallel()
	r := &recordingIndexer{}
	index := members.NewIndex(r)
	for range 3 {
		if err := index.Add(t.Context(), clusterv1.GroupVersion.WithKind("Machine"), &clusterv1.Machine{}); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(r.added, []string{"muster.dev/memberOfPool"}) {
		t.Errorf("want one index, got %v", r.added)
	}
}
