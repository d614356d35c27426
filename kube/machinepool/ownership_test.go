package machinepool_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/machinepool/reference"
)

func ref(kind, name, uid string, controller bool) metav1.OwnerReference {
	r := metav1.OwnerReference{APIVersion: "cluster.x-k8s.io/v1beta1", Kind: kind, Name: name, UID: types.UID(uid)}
	if controller {
		r.Controller = &controller
	}
	return r
}

func TestOwnership(t *testing.T) {
	t.Parallel()
	pool := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool", UID: "new"}}
	yes := true
	own := metav1.OwnerReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: "pool", UID: "new", Controller: &yes,
		BlockOwnerDeletion: &yes}
	foreign := ref("MachinePool", "pool", "old", true)
	foreign.APIVersion = "example.com/v1"
	for _, tc := range []struct {
		why         string
		refs        []metav1.OwnerReference
		controls    bool
		mayControl  bool
		controllers []metav1.OwnerReference
	}{
		{"an object without owners", nil, false, true, []metav1.OwnerReference{own}},
		{"the pool is the controller", []metav1.OwnerReference{ref("MachinePool", "pool", "new", true)}, true, true,
			[]metav1.OwnerReference{ref("MachinePool", "pool", "new", true)}},
		{"the pool before a restore is the same pool", []metav1.OwnerReference{ref("MachinePool", "pool", "old", true)}, true, true,
			[]metav1.OwnerReference{own}},
		{"the pool is an owner, but not the controller", []metav1.OwnerReference{ref("MachinePool", "pool", "new", false)}, false, true,
			[]metav1.OwnerReference{own}},
		{"another owner that is no controller stays", []metav1.OwnerReference{ref("Cluster", "c", "c", false)}, false, true,
			[]metav1.OwnerReference{ref("Cluster", "c", "c", false), own}},
		{"another pool", []metav1.OwnerReference{ref("MachinePool", "other", "other", true)}, false, false, nil},
		{"another kind", []metav1.OwnerReference{ref("MachineSet", "pool", "set", true)}, false, false, nil},
		{"a kind of that name of another group", []metav1.OwnerReference{foreign}, false, false, nil},
	} {
		m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{OwnerReferences: tc.refs}}
		if got := reference.Controls(pool, m); got != tc.controls {
			t.Errorf("%s: want it controlled %t, got %t", tc.why, tc.controls, got)
		}
		got, other := reference.MayControl(pool, m), reference.OtherController(pool, m)
		if got != tc.mayControl || (other == nil) != tc.mayControl {
			t.Errorf("%s: want no other controller %t, got %t, %v", tc.why, tc.mayControl, got, other)
		}
		if !tc.mayControl {
			continue
		}
		before := m.DeepCopy()
		if diff := cmp.Diff(tc.controllers, reference.WithController(m.OwnerReferences, pool)); diff != "" {
			t.Errorf("%s: owners with the pool as controller (-want +got):\n%s", tc.why, diff)
		}
		for _, r := range reference.WithoutOwner(m.OwnerReferences, pool) {
			if reference.NamesPool(&r, pool) {
				t.Errorf("%s: want no reference to the pool, got %v", tc.why, r)
			}
		}
		if diff := cmp.Diff(before, m); diff != "" {
			t.Errorf("%s: want the object unchanged, got (-before +after):\n%s", tc.why, diff)
		}
	}
}
