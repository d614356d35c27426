package world

import (
	"slices"
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/test/explore/memapi"
	"github.com/muster-project/muster/test/explore/oracle"
)

// condemns watches the deletion of a Machine: that is how the drain of its Node begins, and it is judged as one where it is ours to
// choose.
func (p *process) condemns(workload bool, op memapi.Op) {
	w := p.world
	if workload || op.Kind != "Machine" || op.Verb != "delete" {
		return
	}
	m := &clusterv1.Machine{}
	if w.User.Get(w.t.Context(), op.Key, m) != nil || !m.DeletionTimestamp.IsZero() {
		return
	}
	infra := w.keeper.InfraOf(m)
	if infra == nil || w.former(infra) {
		return
	}
	a, now := w.account, time.Now()
	cloud, before := w.Snapshot(), w.Workload.Truth()
	a.look(cloud, before, nil)
	lost, risen := a.ledger.Lately(now, p.late())
	of := w.Scenario.machines().ProviderID(infra)
	p.causes(op.Key.Name, cloud, of)
	id := w.keeper.Condemn(of)
	if id == "" {
		return
	}
	a.look(cloud, w.Workload.Truth(), []string{id})
	a.judge(oracle.Write{
		At: now, Call: "the deletion of Machine " + op.Key.Name, Drains: true, Named: []string{id}, Before: cloud, After: cloud, Nodes: before,
		Wanted: p.wanted,
		Unseen: 2 * unseen, Moved: !a.moved.IsZero() && now.Sub(a.moved) < p.late(), Lost: lost, Risen: risen,
		Autoscaled: a.autoscaledLately(p.late()),
	})
}

// spares takes back what condemns has noted of a Machine whose deletion was refused.
func (p *process) spares(workload bool, op memapi.Op) {
	w := p.world
	m := &clusterv1.Machine{}
	if workload || op.Kind != "Machine" || op.Verb != "delete" || w.User.Get(w.t.Context(), op.Key, m) != nil ||
		!m.DeletionTimestamp.IsZero() {
		return
	}
	infra := w.keeper.InfraOf(m)
	if infra == nil || !infra.GetDeletionTimestamp().IsZero() {
		return
	}
	id := w.Scenario.machines().ProviderID(infra)
	w.keeper.Spare(id)
	for _, m := range w.instances() {
		if cloud.ProviderKey(m.ProviderID) == cloud.ProviderKey(id) {
			delete(w.condemned, m.UID)
		}
	}
}

// dropMachine has a user delete a Machine, or the object of the infrastructure below it.
func (w *World) dropMachine(e Event) {
	infras := w.infraMachines()
	list := &clusterv1.MachineList{}
	w.Must(w.User.List(w.t.Context(), list, client.InNamespace(Namespace)), "list Machines")
	going := map[string]bool{}
	for i := range list.Items {
		going[list.Items[i].Spec.InfrastructureRef.Name] = !list.Items[i].DeletionTimestamp.IsZero()
	}
	alone := w.standAlone(list, infras)
	living := slices.DeleteFunc(infras, func(o client.Object) bool {
		return !o.GetDeletionTimestamp().IsZero() || going[o.GetName()] &&
			e.What == DropMachine // the object of a Machine that is drained may be deleted too
	})
	switch {
	case e.What == DropMachine && len(alone) > 0:
		w.userDeletes(alone[e.N%len(alone)], alone[e.N%len(alone)].Spec.ProviderID)
		return
	case len(living) == 0:
		return
	}
	o := living[e.N%len(living)]
	providerID := w.Scenario.machines().ProviderID(o)
	if e.What == DropInfraMachine {
		if w.ownsNow(o) {
			w.condemnByHand(providerID)
		}
		w.Must(w.User.Delete(w.t.Context(), o), "delete infrastructure machine %s", o.GetName())
		return
	}
	for i := range list.Items {
		if m := &list.Items[i]; strings.EqualFold(m.Spec.InfrastructureRef.Name, o.GetName()) && m.DeletionTimestamp.IsZero() {
			w.userDeletes(m, providerID)
		}
	}
}

// userDeletes has a user delete the Machine of an instance.
func (w *World) userDeletes(m *clusterv1.Machine, providerID string) {
	w.keeper.Condemn(providerID)
	w.condemnByHand(providerID)
	w.Must(w.User.Delete(w.t.Context(), m), "delete Machine %s", m.Name)
}

// standAlone are the Machines without an infrastructure machine that a pass has seen since: the deletion of a younger one cannot be held.
func (w *World) standAlone(list *clusterv1.MachineList, infras []client.Object) []*clusterv1.Machine {
	var alone []*clusterv1.Machine
	for i := range list.Items {
		m := &list.Items[i]
		below := func(o client.Object) bool {
			return strings.EqualFold(o.GetName(), m.Spec.InfrastructureRef.Name)
		}
		if m.DeletionTimestamp.IsZero() && time.Since(m.CreationTimestamp.Time) > seenLater && !slices.ContainsFunc(infras, below) {
			alone = append(alone, m)
		}
	}
	return alone
}
