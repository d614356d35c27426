package world

import (
	"cmp"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/test/explore/script"
)

// applyClaiming has a user apply the objects of a pool, which may name the group of the first one.
func (f *setup) applyClaiming(c script.Claim) {
	w := f.world
	name, id := "", ""
	w.as(w.members[0], func() {
		if g := w.Group.Owned(); g != nil {
			name = g.Name
		}
		if _, o := w.Objects.Both(); o != nil {
			if is, ok := o.(infrapool.WrittenFields); ok {
				id = is.GetProviderID()
			}
		}
	})
	w.setup.apply(func(o client.Object) {
		is, ok := o.(infrapool.WrittenFields)
		if !ok || name == "" || id == "" {
			return
		}
		if c == script.ClaimByID || c == script.ClaimByBoth {
			is.SetProviderID(id)
		}
		if c == script.ClaimByAdoption || c == script.ClaimByBoth {
			annotate(o, pool.AdoptAnnotation, name)
		}
		w.claimed = c != script.NoClaim
	})
}

// disclaim has a user take back what names the group of the first pool.
func (f *setup) disclaim() {
	w := f.world
	if !w.claimed {
		return
	}
	own := cmp.Or(w.Group.Owned() != nil, w.Group.Now() != nil && w.Group.Ours(w.Group.Now()))
	w.Objects.Annotate(0, pool.AdoptAnnotation, "")
	w.Objects.EditObject(func(o client.Object) {
		if is, ok := o.(infrapool.WrittenFields); ok && !own {
			is.SetProviderID("")
		}
	})
}

// concernsPool reports whether an object that the pool that is looked at works on is its own.
func (sv *servers) concernsPool(kind string, key client.ObjectKey) bool {
	w := sv.world
	switch kind {
	case w.Objects.kind:
		return key.Name == w.key.Name
	case "MachinePool":
		return key.Name == w.poolKey.Name
	}
	return true
}

// OfPool returns the options that list the objects of single machines of the pool that is looked at.
func (w *World) OfPool() []client.ListOption {
	list := []client.ListOption{client.InNamespace(Namespace)}
	if w.several() {
		list = append(list, client.MatchingLabels{clusterv1.MachinePoolNameLabel: w.poolKey.Name})
	}
	return list
}

// poolNameOf returns the name of the MachinePool that an object of a single machine belongs to.
func poolNameOf(o client.Object) string { return o.GetLabels()[clusterv1.MachinePoolNameLabel] }
