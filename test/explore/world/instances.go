package world

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/memapi"
)

// uncached are the kinds for which no decision rests on a cache.
func uncached(k *script.Kind) []client.Object {
	list := []client.Object{&clusterv1.Machine{}}
	if k.Machines != nil {
		list = append(list, k.Machines.New())
	}
	return list
}

// Instances are the machines of the pool's group, and the objects that stand for them.
type Instances struct {
	world *World
	// condemned are those whose deletion was asked for by name.
	condemned map[string]bool
	// sick are the Machines that a MachineHealthCheck has found unhealthy: it bounds how many go at once, whatever serves.
	sick map[string]bool
}

// former reports whether what stands below a Machine names an instance that is gone, whichever has its provider ID now: the
// deletion of that Machine takes no instance along.
func (ins *Instances) former(infra client.Object) bool {
	uid := infra.GetAnnotations()[machines.InstanceUIDAnnotation]
	return uid != "" && !slices.ContainsFunc(ins.list(), func(m sim.Member) bool { return cmp.Or(m.ID, m.Name) == uid })
}

// causes wants a cause for the deletion of a Machine. It can't be taken back: whatever is wanted later, its instance goes.
func (p *process) causes(name string, before oracle.Cloud, providerID string) {
	w := p.world
	if w.Notes.recently() {
		w.Instances.condemnByHand(providerID)
		return
	}
	after := oracle.Cloud{Groups: slices.Clone(before.Groups)}
	before.Groups = slices.Clone(before.Groups)
	condemned := maps.Clone(w.Instances.condemned)
	w.Instances.condemnByHand(providerID)
	for k := range before.Groups {
		of := &before.Groups[k].Members
		*of = slices.DeleteFunc(slices.Clone(*of), func(m oracle.Member) bool { return condemned[m.ID] })
		after.Groups[k].Members = slices.DeleteFunc(slices.Clone(*of), func(m oracle.Member) bool { return w.Instances.condemned[m.ID] })
		if !p.wanted.External { // there another may be brought before it goes
			after.Groups[k].Size -= len(*of) - len(after.Groups[k].Members)
		}
	}
	w.blameAll("unwanted removal", oracle.Removal(oracle.Write{
		At: time.Now(), Call: "the deletion of Machine " + name, Shrinks: true, Before: before, After: after, Wanted: p.wanted,
		Unseen: 2 * script.Unseen,
	}))
}

// ownsNow reports whether the pool as it is now owns an object. The deletion of one that it does not own, after a restore, asks for
// nothing.
func (ins *Instances) ownsNow(o client.Object) bool {
	_, pool := ins.world.Objects.Both()
	return pool != nil && slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == pool.GetUID() })
}

// Condemn notes that a user wants the instance of the UID to go.
func (ins *Instances) Condemn(uid string) { ins.condemned[uid] = true }

// condemnByHand notes that a user wants the instance to go.
func (ins *Instances) condemnByHand(providerID string) {
	for _, m := range ins.list() {
		if cloud.ProviderKey(m.ProviderID) == cloud.ProviderKey(providerID) {
			ins.condemned[cmp.Or(m.ID, m.Name)] = true
		}
	}
}

// list are the machines of the pool's group where objects stand for them, also while the group has another owner.
func (ins *Instances) list() []sim.Member {
	w := ins.world
	if w.Scenario.Kind.Machines == nil {
		return nil
	}
	if g := w.Group.Now(); g != nil {
		return g.Members
	}
	return nil
}

// objects are the objects that stand for single machines.
func (ins *Instances) objects() []client.Object {
	w := ins.world
	if w.Scenario.Machines() == nil {
		return nil
	}
	list := w.Scenario.Machines().List()
	w.Must(w.Objects.User.List(w.t.Context(), list, client.InNamespace(Namespace)), "list infrastructure machines")
	var all []client.Object
	w.Must(meta.EachListItem(list, func(o runtime.Object) error {
		if is := o.(client.Object); !w.several() || poolNameOf(is) == w.poolKey.Name {
			all = append(all, is)
		}
		return nil
	}), "list infrastructure machines")
	return all
}

// allCondemned are the instances that are to go by name.
func (ins *Instances) allCondemned() map[string]bool {
	if ins.world.Scenario.Machines() != nil && ins.world.Scenario.Kind.Places {
		ins.condemnPlaces()
	}
	return maps.Clone(ins.condemned)
}

// condemnPlaces notes the instances that are now in the place of those whose deletion was asked for: it can't be taken back.
func (ins *Instances) condemnPlaces() {
	w := ins.world
	for _, o := range ins.objects() {
		if !o.GetDeletionTimestamp().IsZero() && ins.ownsNow(o) {
			ins.condemnByHand(w.Scenario.Machines().ProviderID(o))
		}
	}
	list := &clusterv1.MachineList{}
	w.Must(w.Objects.User.List(w.t.Context(), list, client.InNamespace(Namespace)), "list Machines")
	for i := range list.Items {
		if m := &list.Items[i]; !m.DeletionTimestamp.IsZero() && m.Spec.ProviderID != "" {
			ins.condemnByHand(m.Spec.ProviderID)
			w.keeper.Succeed(m)
		}
	}
}

// condemns watches the deletion of a Machine: that is how the drain of its Node begins, and it is judged as one where it is ours to
// choose.
func (p *process) condemns(workload bool, op memapi.Op) {
	w := p.world
	if workload || op.Kind != "Machine" || op.Verb != "delete" {
		return
	}
	m := &clusterv1.Machine{}
	if w.Objects.User.Get(w.t.Context(), op.Key, m) != nil || !m.DeletionTimestamp.IsZero() {
		return
	}
	infra := w.keeper.InfraOf(m)
	if infra == nil || w.Instances.former(infra) {
		return
	}
	a, now := w.account, time.Now()
	cloud, before := w.Snapshot(), w.Workload.Truth()
	a.look(cloud, before, nil)
	lost, risen := a.ledger.Lately(now, p.late())
	of := w.Scenario.Machines().ProviderID(infra)
	p.causes(op.Key.Name, cloud, of)
	id := w.keeper.Condemn(of)
	if id == "" {
		return
	}
	a.look(cloud, w.Workload.Truth(), []string{id})
	if w.Instances.sick[op.Key.Name] {
		return
	}
	a.judge(oracle.Write{
		At: now, Call: "the deletion of Machine " + op.Key.Name, Drains: true, Named: []string{id}, Before: cloud, After: cloud, Nodes: before,
		Wanted: p.wanted,
		Unseen: 2 * script.Unseen, Moved: !a.world.Notes.moved.IsZero() && now.Sub(a.world.Notes.moved) < p.late(), Lost: lost, Risen: risen,
		Autoscaled: a.world.Notes.autoscaledLately(p.late()),
	})
}

// spares takes back what condemns has noted of a Machine whose deletion was refused, unless others had asked for it before.
func (p *process) spares(workload bool, op memapi.Op) {
	w := p.world
	m := &clusterv1.Machine{}
	if workload || op.Kind != "Machine" || op.Verb != "delete" || w.Objects.User.Get(w.t.Context(), op.Key, m) != nil ||
		!m.DeletionTimestamp.IsZero() {
		return
	}
	infra := w.keeper.InfraOf(m)
	if infra == nil || !infra.GetDeletionTimestamp().IsZero() {
		return
	}
	id := w.Scenario.Machines().ProviderID(infra)
	w.keeper.Spare(id)
	if w.Instances.sick[op.Key.Name] {
		return // the MachineHealthCheck still asks for it
	}
	for _, m := range w.Instances.list() {
		if cloud.ProviderKey(m.ProviderID) == cloud.ProviderKey(id) {
			delete(w.Instances.condemned, cmp.Or(m.ID, m.Name))
		}
	}
}

// dropMachine has a user delete a Machine, or the object of the infrastructure below it.
func (ins *Instances) dropMachine(e script.Event) {
	w := ins.world
	infras := ins.objects()
	list := &clusterv1.MachineList{}
	w.Must(w.Objects.User.List(w.t.Context(), list, client.InNamespace(Namespace)), "list Machines")
	going := map[string]bool{}
	for i := range list.Items {
		going[list.Items[i].Spec.InfrastructureRef.Name] = !list.Items[i].DeletionTimestamp.IsZero()
	}
	alone := ins.standAlone(list, infras)
	living := slices.DeleteFunc(infras, func(o client.Object) bool {
		return !o.GetDeletionTimestamp().IsZero() || going[o.GetName()] &&
			e.What == script.DropMachine // the object of a Machine that is drained may be deleted too
	})
	switch {
	case e.What == script.DropMachine && len(alone) > 0:
		ins.userDeletes(alone[e.N%len(alone)], alone[e.N%len(alone)].Spec.ProviderID)
		return
	case len(living) == 0:
		return
	}
	o := living[e.N%len(living)]
	providerID := w.Scenario.Machines().ProviderID(o)
	if e.What == script.DropInfraMachine {
		if ins.ownsNow(o) {
			ins.condemnByHand(providerID)
		}
		w.Must(w.Objects.User.Delete(w.t.Context(), o), "delete infrastructure machine %s", o.GetName())
		return
	}
	for i := range list.Items {
		if m := &list.Items[i]; strings.EqualFold(m.Spec.InfrastructureRef.Name, o.GetName()) && m.DeletionTimestamp.IsZero() {
			ins.userDeletes(m, providerID)
		}
	}
}

// userDeletes has a user delete the Machine of an instance.
func (ins *Instances) userDeletes(m *clusterv1.Machine, providerID string) {
	w := ins.world
	w.keeper.Condemn(providerID)
	ins.condemnByHand(providerID)
	w.Must(w.Objects.User.Delete(w.t.Context(), m), "delete Machine %s", m.Name)
}

// standAlone are the Machines without an infrastructure machine that a pass has seen since: the deletion of a younger one cannot be held.
func (ins *Instances) standAlone(list *clusterv1.MachineList, infras []client.Object) []*clusterv1.Machine {
	var alone []*clusterv1.Machine
	for i := range list.Items {
		m := &list.Items[i]
		below := func(o client.Object) bool {
			return strings.EqualFold(o.GetName(), m.Spec.InfrastructureRef.Name)
		}
		mine := !ins.world.several() || poolNameOf(m) == ins.world.poolKey.Name
		if mine && m.DeletionTimestamp.IsZero() && time.Since(m.CreationTimestamp.Time) > seenLater && !slices.ContainsFunc(infras, below) {
			alone = append(alone, m)
		}
	}
	return alone
}

// loseOwner drops the owner references of the n-th infrastructure machine.
func (ins *Instances) loseOwner(n int) {
	w := ins.world
	living := slices.DeleteFunc(ins.objects(), func(o client.Object) bool { return !o.GetDeletionTimestamp().IsZero() })
	if len(living) > 0 {
		o := living[n%len(living)]
		o.SetOwnerReferences(nil)
		w.Must(w.Objects.User.Update(w.t.Context(), o), "drop the owner of %s", o.GetName())
	}
}
