package machinesync

import (
	"context"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/machines"
)

// hold sets or removes the hook that holds the deletion of a Machine while it has no infrastructure machine and its instance runs. Without
// the hook the Machine controller drains nothing and deletes the Node at once. Backups leave out what is being deleted, so that a restore
// can bring back such a Machine alone. Its infrastructure provider creates the infrastructure machine again when it has read the cloud. A
// deletion before the first pass after the restore is not held: the contract has no other place for a hook than the Machine. machine is the
// Machine as it is going to be, listed are the instances of the pool by key.
func (s Syncer) hold(ctx context.Context, in Input, m members.Member, machine *clusterv1.Machine, listed map[string]bool) error {
	alone := m.Infra == nil && runs(machine, listed)
	if _, held := machine.Annotations[machines.HoldAnnotation]; held {
		if !alone || in.deleting() && in.InfraGone {
			delete(machine.Annotations, machines.HoldAnnotation)
		}
		return nil
	}
	if !alone || !machine.DeletionTimestamp.IsZero() || in.deleting() || !in.ofKind(machine) {
		return nil
	}
	infra, err := s.Objects.GetLive(ctx, in.InfraKind, client.ObjectKey{Namespace: machine.Namespace,
		Name: machine.Spec.InfrastructureRef.Name})
	if err != nil || infra != nil {
		return err
	}
	machine.Annotations[machines.HoldAnnotation] = in.Pool.Name
	return nil
}

// runs reports whether the instance of a Machine is listed.
func runs(machine *clusterv1.Machine, listed map[string]bool) bool {
	id := machine.Spec.ProviderID
	return id != "" && listed[members.InstanceKey(id)]
}

// ofKind reports whether the Machine refers to an infrastructure machine of the pool's kind, of which all could be read.
func (in Input) ofKind(m *clusterv1.Machine) bool {
	ref := m.Spec.InfrastructureRef
	return !in.InfraKind.Empty() && ref.Kind == in.InfraKind.Kind && ref.APIGroup == in.InfraKind.Group
}
