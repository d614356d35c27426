package machinesync

import (
	"context"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/machinepool/reference"
	"github.com/muster-project/muster/kube/machinepool/status"
	"github.com/muster-project/muster/kube/machines"
)

// create creates the Machine of an infrastructure machine, or adopts the one that exists. Both are read from the API server first.
func (s Syncer) create(ctx context.Context, in Input, m members.Member) (change, control.Result) {
	name := m.Infra.GetName()
	existing := &clusterv1.Machine{}
	switch err := s.Objects.LiveReader().Get(ctx, client.ObjectKey{Namespace: in.Pool.Namespace, Name: name}, existing); {
	case err == nil:
		return s.adopt(ctx, in, m, existing)
	case !apierrors.IsNotFound(err):
		return change{}, control.Failed(fmt.Errorf("read Machine %s: %w", name, err))
	}
	infra, err := s.Objects.GetLive(ctx, m.Infra.GroupVersionKind(), client.ObjectKeyFromObject(m.Infra))
	if err != nil {
		return change{}, control.Failed(err)
	}
	if infra == nil || !infra.GetDeletionTimestamp().IsZero() || infra.GetUID() != m.Infra.GetUID() {
		// The cache is stale: its next event wakes the pool.
		return change{}, control.Continue()
	}
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: in.Pool.Namespace, Name: name}}
	if err := applyTemplate(machine, in.Pool, m, m.Node(in.UpToDate.Nodes)); err != nil {
		return change{}, control.Failed(err)
	}
	switch err := s.Objects.Cached.Create(ctx, machine); {
	case apierrors.IsAlreadyExists(err):
		return change{writes: 1}, control.RequeueAfter(AfterLimit)
	case err != nil:
		return change{writes: 1}, control.Failed(fmt.Errorf("create Machine %s: %w", name, err))
	}
	return s.writeStatus(ctx, in, m, change{machine: machine, writes: 1, created: true})
}

// adopt takes over a Machine without a controller that refers to the infrastructure machine: its labels were lost. A Machine of that name
// with another controller is left alone.
func (s Syncer) adopt(ctx context.Context, in Input, m members.Member, existing *clusterv1.Machine) (change, control.Result) {
	ref := existing.Spec.InfrastructureRef
	if !reference.MayControl(in.Pool, existing) || ref.Kind != m.Infra.GetKind() || ref.Name != m.Infra.GetName() {
		return change{waiting: m.Infra.GetName() + " (another owner controls the Machine of that name)"}, control.Continue()
	}
	m.Machine = existing
	return s.update(ctx, in, m, nil)
}

// update writes into a Machine what it has to have from the pool's template, the hook that holds its deletion, and its status. listed are
// the instances of the pool by key.
func (s Syncer) update(ctx context.Context, in Input, m members.Member, listed map[string]bool) (change, control.Result) {
	done := change{machine: m.Machine}
	machine := m.Machine.DeepCopy()
	if err := applyTemplate(machine, in.Pool, m, m.Node(in.UpToDate.Nodes)); err != nil {
		return done, control.Failed(err)
	}
	if err := s.hold(ctx, in, m, machine, listed); err != nil {
		return done, control.Failed(err)
	}
	if equality.Semantic.DeepEqual(m.Machine, machine) {
		return s.writeStatus(ctx, in, m, done)
	}
	done.writes = 1
	patch := client.MergeFromWithOptions(m.Machine, client.MergeFromWithOptimisticLock{})
	switch err := s.Objects.Cached.Patch(ctx, machine, patch); {
	case apierrors.IsNotFound(err):
	case err != nil:
		return done, control.Failed(fmt.Errorf("write Machine %s: %w", machine.Name, err))
	default:
		done.machine = machine
	}
	return s.writeStatus(ctx, in, m, done)
}

// deleteObsolete deletes a Machine whose infrastructure machine is gone and whose instance has left the pool. While the instance is listed
// its provider may create the infrastructure machine again, and the deletion of the Machine would terminate the instance. While the
// instance serves outside of the group, which a restore can leave without an infrastructure machine, the Machine controller would delete
// its Node undrained.
func (s Syncer) deleteObsolete(ctx context.Context, in Input, machine *clusterv1.Machine, listed map[string]bool) (change, error) {
	done := change{machine: machine}
	if !machine.DeletionTimestamp.IsZero() || !reference.Controls(in.Pool, machine) || mayRepresent(in, machine.Spec.ProviderID, listed) {
		return done, nil
	}
	if !in.ofKind(machine) || in.Interrupted || in.ServingOutside[members.InstanceKey(machine.Spec.ProviderID)] {
		return done, nil
	}
	infra, err := s.Objects.GetLive(ctx, in.InfraKind, client.ObjectKey{Namespace: machine.Namespace,
		Name: machine.Spec.InfrastructureRef.Name})
	if err != nil || infra != nil {
		return done, err
	}
	done.writes = 1
	if err := deleteUnchanged(ctx, s.Objects.Cached, machine); err != nil {
		return done, err
	}
	done.deleted = true
	return done, nil
}

// mayRepresent reports whether a Machine with the provider ID may represent a listed instance. One that never had a provider ID may be that
// of any instance without an infrastructure machine.
func mayRepresent(in Input, id string, listed map[string]bool) bool {
	if id != "" {
		return listed[members.InstanceKey(id)]
	}
	left := maps.Clone(listed)
	for _, m := range in.Members {
		if m.Infra != nil {
			delete(left, members.InstanceKey(m.ProviderID()))
		}
	}
	return len(left) > 0
}

// writeStatus sets the conditions of a Machine that its owner has to set, and deletes the Machine if a MachineHealthCheck has marked it.
// done is the change so far; the result includes it.
func (s Syncer) writeStatus(ctx context.Context, in Input, m members.Member, done change) (change, control.Result) {
	before, after := done.machine, done.machine.DeepCopy()
	in.UpToDate.SetCondition(after, members.Member{Infra: m.Infra, Machine: before})
	clearRemediation(after)
	remediate := !in.deleting() && remediationDue(after)
	if remediate {
		startRemediation(after)
	}
	if !equality.Semantic.DeepEqual(before.Status, after.Status) {
		done.writes++
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		if err := s.Objects.Cached.Status().Patch(ctx, after, patch); err != nil {
			return done, control.Failed(client.IgnoreNotFound(fmt.Errorf("write the status of Machine %s: %w", after.Name, err)))
		}
	}
	done.machine = after
	if !remediate {
		return done, control.Continue()
	}
	return s.remediate(ctx, done)
}

// remediate deletes an unhealthy Machine, and records the cause on it first for the controller that terminates the instance.
func (s Syncer) remediate(ctx context.Context, done change) (change, control.Result) {
	m := done.machine
	reason := oneLine(conditions.GetMessage(m, clusterv1.MachineHealthCheckSucceededCondition))
	after := m.DeepCopy()
	if after.Annotations == nil {
		after.Annotations = map[string]string{}
	}
	after.Annotations[machines.CauseAnnotation] = status.MachineUnhealthy + ": " + reason
	if after.Annotations[machines.CauseAnnotation] != m.Annotations[machines.CauseAnnotation] {
		done.writes++
		if err := s.Objects.Cached.Patch(ctx, after, client.MergeFromWithOptions(m, client.MergeFromWithOptimisticLock{})); err != nil {
			return done, control.Failed(client.IgnoreNotFound(fmt.Errorf("write the cause of the deletion on Machine %s: %w", m.Name, err)))
		}
	}
	done.writes++
	if err := deleteUnchanged(ctx, s.Objects.Cached, after); err != nil {
		return done, control.Failed(err)
	}
	event := status.NormalEvent(status.MachineUnhealthy, "Deleted Machine %s: %s", m.Name, reason).RelatedToMachine(m.Namespace, m.Name)
	done.event = &event
	return done, control.Continue()
}
