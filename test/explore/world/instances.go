package world

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/test/explore/machinecontroller"
	"github.com/muster-project/muster/test/explore/oracle"
)

// machines are the objects that stand for single machines in the scenario; nil where there are none.
func (s Scenario) machines() *machinecontroller.Infra {
	if s.Kind.HaveMachines != nil && !s.Kind.HaveMachines(s) {
		return nil
	}
	return s.Kind.Machines
}

// uncached are the kinds for which no decision rests on a cache.
func (k *Kind) uncached() []client.Object {
	list := []client.Object{&clusterv1.Machine{}}
	if k.Machines != nil {
		list = append(list, k.Machines.New())
	}
	return list
}

// former reports whether what stands below a Machine names an instance that is gone, whichever has its provider ID now: the
// deletion of that Machine takes no instance along.
func (w *World) former(infra client.Object) bool {
	uid := infra.GetAnnotations()[machines.InstanceUIDAnnotation]
	return uid != "" && !slices.ContainsFunc(w.instances(), func(m Instance) bool { return m.UID == uid })
}

// causes wants a cause for the deletion of a Machine. It can't be taken back: whatever is wanted later, its instance goes.
func (p *process) causes(name string, before oracle.Cloud, providerID string) {
	w := p.world
	if w.account.recently() {
		w.condemnByHand(providerID)
		return
	}
	after := oracle.Cloud{Groups: slices.Clone(before.Groups)}
	before.Groups = slices.Clone(before.Groups)
	condemned := maps.Clone(w.condemned)
	w.condemnByHand(providerID)
	for k := range before.Groups {
		of := &before.Groups[k].Members
		*of = slices.DeleteFunc(slices.Clone(*of), func(m oracle.Member) bool { return condemned[m.ID] })
		after.Groups[k].Members = slices.DeleteFunc(slices.Clone(*of), func(m oracle.Member) bool { return w.condemned[m.ID] })
		if !p.wanted.External { // there another may be brought before it goes
			after.Groups[k].Size -= len(*of) - len(after.Groups[k].Members)
		}
	}
	w.blameAll("unwanted removal", oracle.Removal(oracle.Write{
		At: time.Now(), Call: "the deletion of Machine " + name, Shrinks: true, Before: before, After: after, Wanted: p.wanted,
		Unseen: 2 * unseen,
	}))
}

// ownsNow reports whether the pool as it is now owns an object. The deletion of one that it does not own, after a restore, asks for
// nothing.
func (w *World) ownsNow(o client.Object) bool {
	_, pool := w.Objects()
	return pool != nil && slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == pool.GetUID() })
}

// Condemn notes that a user wants the instance of the UID to go.
func (w *World) Condemn(uid string) { w.condemned[uid] = true }

// condemnByHand notes that a user wants the instance to go.
func (w *World) condemnByHand(providerID string) {
	for _, m := range w.instances() {
		if cloud.ProviderKey(m.ProviderID) == cloud.ProviderKey(providerID) {
			w.condemned[m.UID] = true
		}
	}
}

// instances are the machines of the pool's group.
func (w *World) instances() []Instance {
	if w.pool.Instances == nil {
		return nil
	}
	return w.pool.Instances()
}

// infraMachines are the objects that stand for single machines.
func (w *World) infraMachines() []client.Object {
	if w.Scenario.machines() == nil {
		return nil
	}
	list := w.Scenario.machines().List()
	w.Must(w.User.List(w.t.Context(), list, client.InNamespace(Namespace)), "list infrastructure machines")
	var all []client.Object
	w.Must(meta.EachListItem(list, func(o runtime.Object) error {
		all = append(all, o.(client.Object))
		return nil
	}), "list infrastructure machines")
	return all
}

// allCondemned are the instances that are to go by name.
func (w *World) allCondemned() map[string]bool {
	if w.Scenario.machines() != nil && w.Scenario.Kind.Places {
		w.condemnPlaces()
	}
	return maps.Clone(w.condemned)
}

// condemnPlaces notes the instances that are now in the place of those whose deletion was asked for: it can't be taken back.
func (w *World) condemnPlaces() {
	for _, o := range w.infraMachines() {
		if !o.GetDeletionTimestamp().IsZero() && w.ownsNow(o) {
			w.condemnByHand(w.Scenario.machines().ProviderID(o))
		}
	}
	list := &clusterv1.MachineList{}
	w.Must(w.User.List(w.t.Context(), list, client.InNamespace(Namespace)), "list Machines")
	for i := range list.Items {
		if m := &list.Items[i]; !m.DeletionTimestamp.IsZero() && m.Spec.ProviderID != "" {
			w.condemnByHand(m.Spec.ProviderID)
			w.keeper.Succeed(m)
		}
	}
}
