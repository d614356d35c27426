package world

import (
	"slices"
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
)

// dropMachine has a user delete a Machine, or the object of the infrastructure below it.
func (w *World) dropMachine(e Event) {
	infras := &azurev1.AzureMachinePoolMachineList{}
	w.must(w.user.List(w.t.Context(), infras, client.InNamespace(namespace)), "list infrastructure machines")
	list := &clusterv1.MachineList{}
	w.must(w.user.List(w.t.Context(), list, client.InNamespace(namespace)), "list Machines")
	going := map[string]bool{}
	for i := range list.Items {
		going[list.Items[i].Spec.InfrastructureRef.Name] = !list.Items[i].DeletionTimestamp.IsZero()
	}
	alone := w.standAlone(list, infras)
	living := slices.DeleteFunc(infras.Items, func(o azurev1.AzureMachinePoolMachine) bool {
		return !o.DeletionTimestamp.IsZero() || going[o.Name] && e.What == DropMachine // the object of a Machine that is drained may be deleted too
	})
	switch {
	case e.What == DropMachine && len(alone) > 0:
		w.userDeletes(alone[e.N%len(alone)], alone[e.N%len(alone)].Spec.ProviderID)
		return
	case len(living) == 0:
		return
	}
	o := &living[e.N%len(living)]
	if e.What == DropInfraMachine {
		if w.ownsNow(o) {
			w.condemnByHand(o.Spec.ProviderID)
		}
		w.must(w.user.Delete(w.t.Context(), o), "delete infrastructure machine %s", o.Name)
		return
	}
	for i := range list.Items {
		if m := &list.Items[i]; strings.EqualFold(m.Spec.InfrastructureRef.Name, o.Name) && m.DeletionTimestamp.IsZero() {
			w.userDeletes(m, o.Spec.ProviderID)
		}
	}
}

// userDeletes has a user delete the Machine of an instance.
func (w *World) userDeletes(m *clusterv1.Machine, providerID string) {
	w.keeper.condemn(providerID)
	w.condemnByHand(providerID)
	w.must(w.user.Delete(w.t.Context(), m), "delete Machine %s", m.Name)
}

// standAlone are the Machines without an infrastructure machine that a pass has seen since: the deletion of a younger one cannot be held.
func (w *World) standAlone(list *clusterv1.MachineList, infras *azurev1.AzureMachinePoolMachineList) []*clusterv1.Machine {
	var alone []*clusterv1.Machine
	for i := range list.Items {
		m := &list.Items[i]
		below := func(o azurev1.AzureMachinePoolMachine) bool {
			return strings.EqualFold(o.Name, m.Spec.InfrastructureRef.Name)
		}
		if m.DeletionTimestamp.IsZero() && time.Since(m.CreationTimestamp.Time) > seenLater && !slices.ContainsFunc(infras.Items, below) {
			alone = append(alone, m)
		}
	}
	return alone
}
