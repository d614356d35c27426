package infrapool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/labels/format"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
)

// MachinesAnnotation with the value "true" or "false" says of one pool, over the feature gate, whether each of its instances
// has a Machine.
const MachinesAnnotation = "muster.dev/machines"

const (
	machinesOn, machinesOff = "true", "false"
	// machinesLeft is how soon the machines that a pass left over are looked after, or looked for while the last of them go.
	machinesLeft = time.Second
	// MachinesOwned is the condition that is False while instances of the pool have no infrastructure machine, because an object of
	// another owner has its name; it is absent otherwise.
	MachinesOwned = "MachinesOwned"
	// reasonMachineNameTaken is its reason, and that of Ready where nothing else is wrong.
	reasonMachineNameTaken = "MachineNameTaken"
	// conflictsTold bounds how many objects a condition names, machinesNamed how many Machines.
	conflictsTold = 3
	machinesNamed = 3
	// reasonFormerMachines is why a missing group is not created: Machines of its former instances are still being deleted.
	reasonFormerMachines = "FormerMachinesDeleting"
)

// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines,verbs=get;list;watch;patch;delete

// poolMachines are the machines of one pool in one pass.
type poolMachines struct {
	kind machines.Kind
	// on says that the pool has machines, announced that its status says so.
	on, announced bool
	known         machines.Index
	guards        map[string]pool.Guard
	doer          *machines.Doer
	// conflicts says which objects of others keep instances of the pool from having an infrastructure machine.
	conflicts []string
}

// wantsMachines reports whether the pool's instances have Machines; byDefault is the answer where no annotation gives one. An annotation
// that means nothing leaves it as it is. It is called for kinds that have Machines.
func (k Kind[O, S]) wantsMachines(o O, byDefault bool) bool {
	switch value, ok := o.GetAnnotations()[MachinesAnnotation]; {
	case k.Machines.Always:
		return true
	case !ok:
		return byDefault
	case value == machinesOn:
		return true
	case value == machinesOff:
		return false
	}
	return k.announcedMachines(o) != ""
}

// announcedMachines returns the kind of infrastructure machines that the object's status announces; empty if it announces none.
func (k Kind[O, S]) announcedMachines(o O) string {
	if k.MachineKind == nil {
		return ""
	}
	return *k.MachineKind(o)
}

// findMachines reads the machines of the pool, and adds what they say to the facts.
func (r *Reconciler[O, S]) findMachines(ctx context.Context, s *scope[O], f *facts[S]) error {
	if r.kind.Machines == nil {
		return nil
	}
	kind := *r.kind.Machines
	m := &poolMachines{kind: kind, on: r.kind.wantsMachines(s.object, r.Machines), announced: r.kind.announcedMachines(s.object) != ""}
	m.doer = r.machineDoer(s, kind)
	infras, err := r.infraMachines(ctx, s, m.doer)
	if err != nil {
		return err
	}
	list := &clusterv1.MachineList{}
	if name := machinePoolName(s); name != "" {
		err := r.Client.List(ctx, list, client.InNamespace(s.object.GetNamespace()), client.MatchingFields{MachinesField: format.MustFormatValue(name)},
			client.UnsafeDisableDeepCopy)
		if err != nil {
			return fmt.Errorf("read the Machines of MachinePool %s: %w", name, err)
		}
	}
	m.known = machines.BuildIndex(kind, s.object.GetUID(), infras, list.Items)
	s.machines = m
	// A Machine whose Cluster is gone, or can't be asked while everything goes, waits for what never comes.
	guarded := s.cluster != nil && (f.Desired.NoDrain == nil || f.Desired.NoDrain.Reason == reasonClusterGoing)
	says := m.known.Evaluate(kind, m.on, guarded, r.Now())
	for marked := range says.Marked {
		if f.Marked == nil {
			f.Marked = map[string]bool{}
		}
		f.Marked[marked] = true
	}
	f.Desired.FormerMachines = formerMachines(m.known.Former(kind))
	f.Guards, m.guards, f.UIDs = says.Guards, says.Guards, says.UIDs
	if !goesWhole(s) {
		f.DeletionRequested = says.DeletionRequested
	}
	return nil
}

// infraMachines are the infrastructure machines of the pool: those that it owns, and those without an owner that belong to it all the
// same. Restores drop owner references.
func (r *Reconciler[O, S]) infraMachines(ctx context.Context, s *scope[O], doer *machines.Doer) ([]client.Object, error) {
	key := client.ObjectKeyFromObject(s.object)
	read := func(fields client.MatchingFields) ([]client.Object, error) {
		list := doer.Kind.NewList()
		if err := r.Client.List(ctx, list, client.InNamespace(key.Namespace), fields, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("read the %ss of %s %s: %w", doer.Kind.Name, r.kind.Name, key, err)
		}
		return objects(list), nil
	}
	owned, err := read(client.MatchingFields{PoolField: key.Name})
	if err != nil || doer.MachinePool == "" {
		return owned, err
	}
	orphans, err := read(client.MatchingFields{OrphanField: format.MustFormatValue(doer.MachinePool)})
	if err != nil || len(orphans) == 0 {
		return owned, err
	}
	listed := map[string]bool{}
	for _, k := range nodes.Keys(s.object.GetProviderIDList()) {
		listed[k] = true
	}
	for _, o := range orphans {
		if doer.Belongs(o, listed) {
			owned = append(owned, o)
		}
	}
	return owned, nil
}

// goesWhole says that the MachinePool is being deleted and the infrastructure object is not yet: the Machines that are deleted
// with it are not to be replaced.
func goesWhole[O Object](s *scope[O]) bool {
	return s.pool != nil && !s.pool.DeletionTimestamp.IsZero() && !s.deleting()
}

// makesNoMore says that the pool gets no more machines: it goes, or nobody knows any more whose it is.
func makesNoMore[O Object](s *scope[O]) bool { return s.deleting() || s.pool == nil || goesWhole(s) }

// machinePoolName is the name of the pool's MachinePool, as far as it is known.
func machinePoolName[O Object](s *scope[O]) string {
	if s.pool != nil {
		return s.pool.Name
	}
	return ownerName(s.object)
}

func (r *Reconciler[O, S]) machineDoer(s *scope[O], kind machines.Kind) *machines.Doer {
	return &machines.Doer{
		Client: r.Client, Live: r.Live, Recorder: r.Recorder, Kind: kind, Pool: s.object, PoolKind: r.kind.Name,
		Owner: metav1.OwnerReference{
			APIVersion: kind.GroupVersion.String(), Kind: r.kind.Name, Name: s.object.GetName(), UID: s.object.GetUID(),
			BlockOwnerDeletion: holds(kind),
		},
		Cluster: s.clusterName(), MachinePool: machinePoolName(s), Now: r.Now(),
	}
}

// holds is nil where nothing is said.
func holds(kind machines.Kind) *bool {
	if !kind.HoldsPool {
		return nil
	}
	return &kind.HoldsPool
}

// throughMachines are the nodes of a pool whose machines are drained by their own controller.
func throughMachines[O Object](s *scope[O], nodes engine.Nodes) engine.Nodes {
	if s.machines == nil || len(s.machines.guards) == 0 {
		return nodes
	}
	return machines.Nodes{Nodes: nodes, Doer: s.machines.doer, Known: s.machines.known, Guards: s.machines.guards}
}

// syncMachines brings the machines of the pool to what was seen. The pool is gone only when they are.
func (s *scope[O]) syncMachines(ctx context.Context, out *engine.Outcome) error {
	m := s.machines
	if m == nil || !out.Seen {
		return nil
	}
	o := out.Observed
	m.doer.Wanted, m.doer.NodesUnknown = o.Wanted, o.NodesUnknown
	gone := s.deleting() && out.Plan.DeletionComplete
	f := machines.Input{
		On: m.on, Announced: m.announced, Failed: m.kind.Always, Deleting: makesNoMore(s),
		Trusted: o.OwnershipConflict == nil && (o.Group != nil || gone), Lost: o.OwnershipConflict == nil && o.Group == nil,
		Instances: o.Instances, Lent: o.ExternalStandby, Known: m.known, NameOf: m.doer.NameOf, Now: m.doer.Now,
	}
	left, err := m.doer.Do(ctx, machines.Decide(f))
	m.conflicts = m.doer.Conflicts
	if gone && len(m.known.Infras) > 0 {
		out.Plan.DeletionComplete = false
		out.Plan.Waiting = append(out.Plan.Waiting, pool.Cause{Reason: "MachinesDeleting", Message: "waiting for the Machines of the pool to be gone"})
	}
	if left > 0 || gone || m.waits(f) {
		out.RequeueAfter = min(out.RequeueAfter, machinesLeft)
	}
	return err
}

// waits reports whether the machines are looked at again soon, although nothing is left to be done now.
func (m *poolMachines) waits(f machines.Input) bool {
	return m.turnsOff() || f.NeedsFreshRead() || f.Lost && len(m.known.Former(m.kind)) > 0
}

// formerMachines is why a group is not created again before the Machines of its former instances are gone; nil without such Machines.
func formerMachines(names []string) *pool.Cause {
	if len(names) == 0 {
		return nil
	}
	text := strings.Join(names[:min(len(names), machinesNamed)], ", ")
	if more := len(names) - machinesNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return &pool.Cause{Reason: reasonFormerMachines, Message: fmt.Sprintf(
		"not created before the Machines of its former instances are gone, whose provider IDs its instances get: %s. Look at the condition Deleting of a Machine that stays", text)}
}

// reportConflicts adds to the report which objects of others keep instances from having an infrastructure machine.
func reportConflicts(m *poolMachines, rep *report.Report) {
	if m == nil || len(m.conflicts) == 0 {
		return
	}
	slices.Sort(m.conflicts)
	text := strings.Join(m.conflicts[:min(len(m.conflicts), conflictsTold)], "; ")
	if more := len(m.conflicts) - conflictsTold; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	for i := range rep.Conditions {
		c := &rep.Conditions[i]
		if c.Type == report.Ready && c.Status == report.True {
			c.Status, c.Reason, c.Message = report.False, reasonMachineNameTaken, c.Message+"; "+text
		}
	}
	told := report.Condition{Type: MachinesOwned, Status: report.False, Reason: reasonMachineNameTaken, Message: text}
	rep.Conditions = append(rep.Conditions, told)
}

// turnsOff says that the core controller is told only now to make no more Machines, which wakes nobody.
func (m *poolMachines) turnsOff() bool { return m.announced && !m.on }

// announceMachines tells the core controller whether the pool has machines. They are to be made as long as it does.
func announceMachines[O Object, S any](k Kind[O, S], s *scope[O]) {
	if s.machines == nil || k.MachineKind == nil || s.deleting() {
		return
	}
	kind := ""
	if s.machines.on {
		kind = s.machines.kind.Name
	}
	*k.MachineKind(s.object) = kind
}

// machinesLeft are the infrastructure machines of a pool that does not exist any more: those that name it as their owner, and those without
// an owner that carry the label of its MachinePool.
func (k Kind[O, S]) machinesLeft(ctx context.Context, c client.Client, key client.ObjectKey) ([]client.Object, error) {
	pools := &clusterv1.MachinePoolList{}
	if err := c.List(ctx, pools, client.InNamespace(key.Namespace)); err != nil {
		return nil, err
	}
	fields := []client.MatchingFields{{PoolField: key.Name}}
	for _, mp := range pools.Items {
		if ref := mp.Spec.Template.Spec.InfrastructureRef; ref.Kind == k.Name && ref.APIGroup == k.Group && ref.Name == key.Name {
			fields = append(fields, client.MatchingFields{OrphanField: format.MustFormatValue(mp.Name)})
		}
	}
	var left []client.Object
	for _, of := range fields {
		list := k.Machines.NewList()
		if err := c.List(ctx, list, client.InNamespace(key.Namespace), of); err != nil {
			return nil, err
		}
		left = append(left, objects(list)...)
	}
	return left, nil
}

// releaseMachines lets the infrastructure machines of a pool go that does not exist any more: whatever it had in the cloud is
// gone, or never was its own. There are some when they were made a moment before it went, so that it did not know of them.
func (r *Reconciler[O, S]) releaseMachines(ctx context.Context, key client.ObjectKey) error {
	if r.kind.Machines == nil {
		return nil
	}
	kind := *r.kind.Machines
	infras, err := r.kind.machinesLeft(ctx, r.Client, key)
	if err != nil {
		return fmt.Errorf("read the %ss of %s %s, which is gone: %w", kind.Name, r.kind.Name, key, err)
	}
	for _, o := range infras {
		if o.GetDeletionTimestamp().IsZero() || !controllerutil.ContainsFinalizer(o, kind.Finalizer) {
			continue
		}
		before := o.DeepCopyObject().(client.Object)
		controllerutil.RemoveFinalizer(o, kind.Finalizer)
		err := r.Client.Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("let %s %s go: %w", kind.Name, o.GetName(), err)
		}
	}
	return nil
}
