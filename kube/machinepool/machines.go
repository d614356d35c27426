package machinepool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// machineWrites bounds how many Machines one pass makes, changes or deletes, so that a pool of thousands does not hold a worker.
const machineWrites = 50

// followMachines makes a Machine for each of the infrastructure's machines, keeps the Machines as the pool's template says,
// and deletes those that a health check has marked and those that stand for nothing any more. Nothing is waited for: what
// it writes wakes the pool again. Nothing is written when nothing differs.
func (r *Reconciler) followMachines(ctx context.Context, p *pass, found map[string]*corev1.Node) result {
	p.rememberMachines()
	if p.facts.Machines == nil || (p.machineKind == "" && !p.deleting()) {
		return goOn()
	}
	members, complete, outcome := r.gather(ctx, p)
	w := &machineWork{r: r, p: p, found: found, latest: map[string]*clusterv1.Machine{}, listed: instancesOf(p.pool)}
	for _, m := range members {
		if m.machine != nil {
			w.remember(m.machine, m)
		}
		if w.writes >= machineWrites {
			outcome = outcome.join(again(soon))
			continue
		}
		outcome = outcome.join(w.follow(ctx, m, complete))
	}
	w.emitEvents()
	return outcome
}

// machineWork is what one pass does about the Machines of a pool.
type machineWork struct {
	r     *Reconciler
	p     *pass
	found map[string]*corev1.Node
	// latest are the Machines by name, as they are after what was written.
	latest map[string]*clusterv1.Machine
	// listed are the pool's instances by the meaning of their provider IDs.
	listed map[string]bool
	// writes counts what was written, made and deleted name what is told of.
	writes        int
	made, deleted []string
}

// follow brings one Machine up to what it should be.
func (w *machineWork) follow(ctx context.Context, m member, complete bool) result {
	switch {
	case m.machine == nil && (w.p.deleting() || !m.infra.GetDeletionTimestamp().IsZero()):
		return goOn()
	case m.machine == nil:
		return w.create(ctx, m)
	case m.infra == nil && complete && !w.p.deleting():
		if gone, err := w.abandon(ctx, m); gone || err != nil {
			return failed(err)
		}
	}
	kept, err := w.keep(ctx, m)
	if err != nil {
		return failed(err)
	}
	m.machine = kept
	return w.classify(ctx, m)
}

// create makes the Machine of an infrastructure machine. A Machine of that name that belongs to somebody else stays his.
func (w *machineWork) create(ctx context.Context, m member) result {
	name := m.infra.GetName()
	existing := &clusterv1.Machine{}
	switch err := w.r.live().Get(ctx, client.ObjectKey{Namespace: w.p.pool.Namespace, Name: name}, existing); {
	case err == nil:
		return w.adopt(ctx, m, existing)
	case !apierrors.IsNotFound(err):
		return failed(fmt.Errorf("read Machine %s: %w", name, err))
	}
	infra, err := w.r.confirm(ctx, m.infra.GroupVersionKind(), client.ObjectKeyFromObject(m.infra))
	if err != nil {
		return failed(err)
	}
	if infra == nil || !infra.GetDeletionTimestamp().IsZero() || infra.GetUID() != m.infra.GetUID() {
		// The cache is behind: its next event wakes the pool.
		return goOn()
	}
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: w.p.pool.Namespace, Name: name}}
	if err := w.p.applyMetadata(machine, m, w.found); err != nil {
		return failed(err)
	}
	w.writes++
	switch err := w.r.Client.Create(ctx, machine); {
	case apierrors.IsAlreadyExists(err):
		return again(soon)
	case err != nil:
		return failed(fmt.Errorf("make Machine %s: %w", name, err))
	}
	w.made = append(w.made, name)
	m.machine = machine
	return w.classify(ctx, m)
}

// adopt takes a Machine that nobody controls and that refers to the infrastructure machine: its labels were lost.
func (w *machineWork) adopt(ctx context.Context, m member, existing *clusterv1.Machine) result {
	if ref := existing.Spec.InfrastructureRef; !w.p.mayOwn(existing) || ref.Kind != m.infra.GetKind() || ref.Name != m.infra.GetName() {
		w.p.facts.Machines.Waiting = append(w.p.facts.Machines.Waiting, m.infra.GetName()+" (a Machine of that name belongs to another)")
		return goOn()
	}
	m.machine = existing
	kept, err := w.keep(ctx, m)
	if err != nil {
		return failed(err)
	}
	m.machine = kept
	return w.classify(ctx, m)
}

// keep writes into a Machine what it should have of the pool's template, unless it has it.
func (w *machineWork) keep(ctx context.Context, m member) (*clusterv1.Machine, error) {
	machine := m.machine.DeepCopy()
	if err := w.p.applyMetadata(machine, m, w.found); err != nil {
		return nil, err
	}
	if equality.Semantic.DeepEqual(m.machine, machine) {
		return m.machine, nil
	}
	w.writes++
	patch := client.MergeFromWithOptions(m.machine.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if err := w.r.Client.Patch(ctx, machine, patch); err != nil {
		if apierrors.IsNotFound(err) {
			return m.machine, nil
		}
		return nil, fmt.Errorf("write Machine %s: %w", machine.Name, err)
	}
	return machine, nil
}

// abandon deletes a Machine whose infrastructure machine is gone, once its instance has left the pool too. While the
// instance is listed its provider may make the infrastructure machine again, and the Machine would take the instance with it.
func (w *machineWork) abandon(ctx context.Context, m member) (done bool, err error) {
	machine := m.machine
	if !machine.DeletionTimestamp.IsZero() || !w.p.owns(machine) || machine.Spec.ProviderID == "" || w.listed[meaning(machine.Spec.ProviderID)] {
		return false, nil
	}
	ref := machine.Spec.InfrastructureRef
	gvk, err := w.r.machineGVK(ctx, w.p)
	if err != nil || ref.Kind != gvk.Kind || ref.APIGroup != gvk.Group {
		return false, err
	}
	infra, err := w.r.confirm(ctx, gvk, client.ObjectKey{Namespace: machine.Namespace, Name: ref.Name})
	if err != nil || infra != nil {
		return false, err
	}
	w.writes++
	if err := w.r.deleteMachine(ctx, machine); err != nil {
		return false, err
	}
	w.deleted = append(w.deleted, machine.Name)
	return true, nil
}

// instancesOf are the instances that a pool lists, by the meaning of their provider IDs.
func instancesOf(pool *clusterv1.MachinePool) map[string]bool {
	all := make(map[string]bool, len(pool.Spec.ProviderIDList))
	for _, id := range pool.Spec.ProviderIDList {
		all[meaning(id)] = true
	}
	return all
}

// deleteMachine deletes exactly the Machine that was looked at, as it was then.
func (r *Reconciler) deleteMachine(ctx context.Context, m *clusterv1.Machine) error {
	uid, version := m.UID, m.ResourceVersion
	err := r.Client.Delete(ctx, &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}},
		client.Preconditions{UID: &uid, ResourceVersion: &version})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete Machine %s: %w", m.Name, err)
	}
	return nil
}

// classify says on a Machine whether it is up to date and how its remediation stands, remembers it for the pool's counts, and
// deletes it when a health check has marked it.
func (w *machineWork) classify(ctx context.Context, m member) result {
	after := m.machine.DeepCopy()
	w.p.sayUpToDate(after, m, w.found)
	forget(after)
	remediated := !w.p.deleting() && asked(after)
	if remediated {
		startRemediation(after)
	}
	if !equality.Semantic.DeepEqual(m.machine.Status, after.Status) {
		w.writes++
		patch := client.MergeFromWithOptions(m.machine.DeepCopy(), client.MergeFromWithOptimisticLock{})
		if err := w.r.Client.Status().Patch(ctx, after, patch); err != nil {
			return result{err: client.IgnoreNotFound(fmt.Errorf("write the status of Machine %s: %w", after.Name, err))}
		}
	}
	w.remember(after, m)
	if remediated {
		return result{err: w.remediate(ctx, after)}
	}
	return goOn()
}

// remember keeps a Machine for the pool's counts and conditions.
func (w *machineWork) remember(machine *clusterv1.Machine, m member) {
	w.latest[machine.Name] = machine
	if id := m.providerID(); id != "" {
		w.p.members[meaning(id)] = machine
	}
}

// emitEvents records what was done, and which Machines go for their health.
func (w *machineWork) emitEvents() {
	for _, name := range slices.Sorted(maps.Keys(w.latest)) {
		if m := w.latest[name]; remediating(m) {
			w.p.facts.Machines.Remediating = append(w.p.facts.Machines.Remediating, name+because(m, clusterv1.MachineHealthCheckSucceededCondition))
		}
	}
	if len(w.made) > 0 {
		w.p.eventOn(machineReference(w.p.pool.Namespace, w.made[0]), eventMachineMade, "Made Machines for instances: %s", listed(w.made))
	}
	if len(w.deleted) > 0 {
		w.p.eventOn(machineReference(w.p.pool.Namespace, w.deleted[0]), eventMachineDeleted, "Deleted Machines of instances that are gone: %s", listed(w.deleted))
	}
}

const (
	// waitingForMachines is the reason of the Deleting condition while Machines are left.
	waitingForMachines = "WaitingForMachinesDeletion"
	// afterMachines is when to look again at Machines that are being deleted, should their watch fail to wake the pool.
	afterMachines = 30 * time.Second
)

// removeMachines deletes the Machines of a pool that is being deleted, and says which are left. asked says that all of
// them are being deleted by now.
func (r *Reconciler) removeMachines(ctx context.Context, p *pass) (left []*clusterv1.Machine, asked bool, outcome result) {
	var errs []error
	writes := 0
	asked = true
	for _, m := range p.machines {
		if !p.owns(m) {
			continue
		}
		left = append(left, m)
		if !m.DeletionTimestamp.IsZero() {
			continue
		}
		if writes++; writes > machineWrites {
			asked = false
			outcome = again(soon)
			continue
		}
		uid := m.UID
		err := r.Client.Delete(ctx, &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}}, client.Preconditions{UID: &uid})
		if err != nil && !apierrors.IsNotFound(err) {
			errs, asked = append(errs, fmt.Errorf("delete Machine %s: %w", m.Name, err)), false
		}
	}
	return left, asked, outcome.join(failed(errors.Join(errs...)))
}
