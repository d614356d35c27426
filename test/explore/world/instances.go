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

// Instances tracks the machines of the pool's group, and their objects.
type Instances struct {
	world *World
	// deletionRequested holds the instances whose deletion was requested by name.
	deletionRequested map[string]bool
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
		w.Instances.requestDeletionOf(providerID)
		return
	}
	after := oracle.Cloud{Groups: slices.Clone(before.Groups)}
	before.Groups = slices.Clone(before.Groups)
	requestedBefore := maps.Clone(w.Instances.deletionRequested)
	w.Instances.requestDeletionOf(providerID)
	for k := range before.Groups {
		of := &before.Groups[k].Members
		*of = slices.DeleteFunc(slices.Clone(*of), func(m oracle.Member) bool { return requestedBefore[m.ID] })
		after.Groups[k].Members = slices.DeleteFunc(slices.Clone(*of), func(m oracle.Member) bool { return w.Instances.deletionRequested[m.ID] })
		if !p.desired.External { // there another may be brought before it goes
			after.Groups[k].Size -= len(*of) - len(after.Groups[k].Members)
		}
	}
	w.blameAll("unwanted removal", oracle.Removal(oracle.Write{
		At: time.Now(), Call: "the deletion of Machine " + name, Shrinks: true, Before: before, After: after, Desired: p.desired,
		Unseen: 2 * script.Unseen,
	}))
}

// ownsNow reports whether the pool as it is now owns an object. The deletion of one that it does not own, after a restore, asks for
// nothing.
func (ins *Instances) ownsNow(o client.Object) bool {
	_, pool := ins.world.Objects.Both()
	return pool != nil && slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == pool.GetUID() })
}

// RequestDeletion notes that a user wants the instance of the UID to go.
func (ins *Instances) RequestDeletion(uid string) { ins.deletionRequested[uid] = true }

// requestDeletionOf notes that a user wants the instance to go.
func (ins *Instances) requestDeletionOf(providerID string) {
	for _, m := range ins.list() {
		if cloud.ProviderKey(m.ProviderID) == cloud.ProviderKey(providerID) {
			ins.deletionRequested[cmp.Or(m.ID, m.Name)] = true
		}
	}
}

// list returns the machines of the pool's group if they have objects, also while the group has another owner.
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

// objects returns the objects of single machines.
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

// allDeletionRequested returns the instances that are to go by name.
func (ins *Instances) allDeletionRequested() map[string]bool {
	if ins.world.Scenario.Machines() != nil && ins.world.Scenario.Kind.Places {
		ins.recordPlaces()
	}
	return maps.Clone(ins.deletionRequested)
}

// recordPlaces records the instances that now have the place of those whose deletion was requested: the request can't be reverted.
func (ins *Instances) recordPlaces() {
	w := ins.world
	for _, o := range ins.objects() {
		if !o.GetDeletionTimestamp().IsZero() && ins.ownsNow(o) {
			ins.requestDeletionOf(w.Scenario.Machines().ProviderID(o))
		}
	}
	list := &clusterv1.MachineList{}
	w.Must(w.Objects.User.List(w.t.Context(), list, client.InNamespace(Namespace)), "list Machines")
	for i := range list.Items {
		if m := &list.Items[i]; !m.DeletionTimestamp.IsZero() && m.Spec.ProviderID != "" {
			ins.requestDeletionOf(m.Spec.ProviderID)
			w.keeper.Succeed(m)
		}
	}
}

// recordDeletion watches the deletion of Machines. It begins the drain of a Node, which the oracles check like a removal that Muster has
// chosen.
func (p *process) recordDeletion(workload bool, op memapi.Op) {
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
	id := w.keeper.RequestDeletion(of)
	if id == "" {
		return
	}
	a.look(cloud, w.Workload.Truth(), []string{id})
	if w.Instances.sick[op.Key.Name] {
		return
	}
	a.judge(p, oracle.Write{
		At: now, Call: "the deletion of Machine " + op.Key.Name, Drains: true, Named: []string{id}, Before: cloud, After: cloud, Nodes: before,
		Desired: p.desired,
		Unseen:  2 * script.Unseen, Moved: !a.world.Notes.moved.IsZero() && now.Sub(a.world.Notes.moved) < p.late(), Lost: lost, Risen: risen,
		Autoscaled: a.world.Notes.autoscaledLately(p.late()),
	})
}

// revertDeletion reverts the record of condemns for a Machine whose deletion was rejected, unless others had requested it before.
func (p *process) revertDeletion(workload bool, op memapi.Op) {
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
	w.keeper.RevertDeletion(id)
	if w.Instances.sick[op.Key.Name] {
		return // the MachineHealthCheck still asks for it
	}
	for _, m := range w.Instances.list() {
		if cloud.ProviderKey(m.ProviderID) == cloud.ProviderKey(id) {
			delete(w.Instances.deletionRequested, cmp.Or(m.ID, m.Name))
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
			ins.requestDeletionOf(providerID)
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
	w.keeper.RequestDeletion(providerID)
	ins.requestDeletionOf(providerID)
	w.Must(w.Objects.User.Delete(w.t.Context(), m), "delete Machine %s", m.Name)
}

// standAlone returns the Machines without an infrastructure machine that a pass has seen since: the deletion of a younger one cannot be
// held.
func (ins *Instances) standAlone(list *clusterv1.MachineList, infras []client.Object) []*clusterv1.Machine {
	var alone []*clusterv1.Machine
	for i := range list.Items {
		m := &list.Items[i]
		below := func(o client.Object) bool {
			return strings.EqualFold(o.GetName(), m.Spec.InfrastructureRef.Name)
		}
		ofPool := !ins.world.several() || poolNameOf(m) == ins.world.poolKey.Name
		if ofPool && m.DeletionTimestamp.IsZero() && time.Since(m.CreationTimestamp.Time) > seenLater && !slices.ContainsFunc(infras, below) {
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
