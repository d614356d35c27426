package world

import (
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/test/explore/memapi"
	"github.com/muster-project/muster/test/explore/oracle"
)

// condemn notes that a Machine, or what stands below it, is to go, and gives its instance: of those that ever had the provider ID the
// one that runs.
func (k *keeper) condemn(providerID string) string {
	for _, m := range k.world.workload.running() {
		if cloud.ProviderKey(m.ProviderID) != cloud.ProviderKey(providerID) {
			continue
		}
		if k.drains[m.ID].IsZero() {
			k.drains[m.ID] = time.Now()
		}
		return m.ID
	}
	return ""
}

// condemns watches the deletion of a Machine: that is how the drain of its Node begins, and it is judged as one where it is ours to
// choose.
func (p *process) condemns(workload bool, op memapi.Op) {
	w := p.world
	if workload || op.Kind != "Machine" || op.Verb != "delete" {
		return
	}
	m := &clusterv1.Machine{}
	if w.user.Get(w.t.Context(), op.Key, m) != nil || !m.DeletionTimestamp.IsZero() {
		return
	}
	infra := w.keeper.infraOf(m)
	if infra == nil || w.former(infra) {
		return
	}
	a, now := w.account, time.Now()
	cloud, before := a.snapshot(), w.workload.truth()
	a.look(cloud, before, nil)
	lost, risen := a.ledger.lately(now, p.late())
	p.causes(op.Key.Name, cloud, infra.Spec.ProviderID)
	id := w.keeper.condemn(infra.Spec.ProviderID)
	if id == "" {
		return
	}
	a.look(cloud, w.workload.truth(), []string{id})
	a.judge(oracle.Write{
		At: now, Call: "the deletion of Machine " + op.Key.Name, Drains: true, Named: []string{id}, Before: cloud, After: cloud, Nodes: before, Wanted: p.wanted,
		Unseen: 2 * unseen, Moved: !a.moved.IsZero() && now.Sub(a.moved) < p.late(), Lost: lost, Risen: risen, Autoscaled: a.autoscaledLately(p.late()),
	})
}

// spares takes back what condemns has noted of a Machine whose deletion was refused.
func (p *process) spares(workload bool, op memapi.Op) {
	w := p.world
	m := &clusterv1.Machine{}
	if workload || op.Kind != "Machine" || op.Verb != "delete" || w.user.Get(w.t.Context(), op.Key, m) != nil || !m.DeletionTimestamp.IsZero() {
		return
	}
	infra := w.keeper.infraOf(m)
	if infra == nil || !infra.DeletionTimestamp.IsZero() {
		return
	}
	for _, vm := range w.workload.running() {
		if cloud.ProviderKey(vm.ProviderID) == cloud.ProviderKey(infra.Spec.ProviderID) {
			delete(w.keeper.drains, vm.ID)
		}
	}
}
