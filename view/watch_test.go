package view

import (
	"context"
	"errors"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestInfrastructureOfKubernetesItself holds that a pool which names a kind of Kubernetes as its infrastructure has no such kind watched.
func TestInfrastructureOfKubernetesItself(t *testing.T) {
	t.Parallel()
	for group, watched := range map[string]bool{"infrastructure.cluster.x-k8s.io": true, "infrastructure.example.com": true, "": false,
		"apps": false, "events.k8s.io": false, "discovery.k8s.io": false} {
		gvk := schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Some"}
		mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{gvk.GroupVersion()})
		mapper.Add(gvk, meta.RESTScopeNamespace)
		stop, asked := errors.New("stop"), false
		w := &PoolWatch{mapper: mapper, rows: newRows(), mayWatch: func(context.Context, schema.GroupVersionKind) error {
			asked = true
			return stop
		}}
		err := w.followInfrastructure(t.Context(), client.ObjectKey{Namespace: "n", Name: "p"},
			clusterv1.ContractVersionedObjectReference{APIGroup: group, Kind: gvk.Kind, Name: "s"})
		if asked != watched || errors.Is(err, stop) != watched {
			t.Errorf("group %q: want watched %t, got %t and %v", group, watched, asked, err)
		}
	}
}

// TestRows holds that rows are ordered by namespace and name, that only those are made again whose objects have changed, also after an
// error, and that one which is made again as it was stays the same.
func TestRows(t *testing.T) {
	t.Parallel()
	r := newRows()
	state := map[client.ObjectKey]string{}
	var made []string
	var fails error
	read := func() ([]*Pool, error) {
		made = nil
		return r.read(func() error { return nil }, func(key client.ObjectKey) (*Pool, error) {
			made = append(made, key.String())
			is, ok := state[key]
			if !ok {
				return nil, fails
			}
			return &Pool{Namespace: key.Namespace, Name: key.Name, State: is}, fails
		})
	}
	note := func(namespace, name string) {
		r.note(&clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}},
			clusterv1.GroupVersion.WithKind("MachinePool").GroupKind())
	}
	for _, key := range []client.ObjectKey{{Namespace: "b", Name: "a"}, {Namespace: "a-1", Name: "a"}, {Namespace: "a", Name: "c"},
		{Namespace: "a", Name: "b"}} {
		state[key] = "Running"
		note(key.Namespace, key.Name)
	}
	names := func(pools []*Pool) (list []string) {
		for _, p := range pools {
			list = append(list, p.Namespace+"/"+p.Name)
		}
		return list
	}
	first, err := read()
	if got := names(first); err != nil || !slices.Equal(got, []string{"a/b", "a/c", "a-1/a", "b/a"}) {
		t.Fatalf("want the rows in order, got %v, %v", got, err)
	}
	note("a", "c")
	again, err := read()
	if err != nil || !slices.Equal(again, first) || !slices.Equal(made, []string{"a/c"}) {
		t.Errorf("want a row that is as it was the same, and no other made, got %v, %v and %v", again, made, err)
	}
	state[client.ObjectKey{Namespace: "a", Name: "c"}] = "Failed"
	delete(state, client.ObjectKey{Namespace: "b", Name: "a"})
	note("a", "c")
	note("b", "a")
	fails = errors.New("no answer")
	if _, err := read(); !errors.Is(err, fails) {
		t.Errorf("want the error, got %v", err)
	}
	fails = nil
	last, err := read()
	if got := names(last); err != nil || !slices.Equal(got, []string{"a/b", "a/c", "a-1/a"}) || last[1].State != "Failed" ||
		last[0] != first[0] || len(made) != 2 {
		t.Errorf("want both rows made after the error, and the others the same, got %v, %v and %v", got, made, err)
	}
}
