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

	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool/status"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/infrapool/workload"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
)

const (
	// machinesRetry is the delay until the machines that a pass left over are handled, or checked while the last of them are deleted.
	machinesRetry = time.Second
	// maxConflictNames and maxMachineNames bound the objects and the Machines that a condition names.
	maxConflictNames = 3
	maxMachineNames  = 3
	// reasonFormerMachines is why a missing group is not created: Machines of its former instances are still being deleted.
	reasonFormerMachines = "FormerMachinesDeleting"
)

// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines,verbs=get;list;watch;patch;delete

// poolMachines are the Machines and infrastructure machines of one pool, as they were read in one pass.
type poolMachines struct {
	kind machines.Kind
	// on is true if the pool has machines, announced if its status announces them. guarded is true if Machines are waited for.
	on, announced, guarded bool
	index                  machines.Index
	// evaluated holds the consequences of the machines for instances.
	evaluated machines.Consequences
	doer      *machines.Doer
}

// readMachines reads the machines of the pool; nil if the kind has none.
func (r *Reconciler[O, S]) readMachines(ctx context.Context, s scope[O], d pool.Desired) (*poolMachines, error) {
	if r.kind.Machines == nil {
		return nil, nil
	}
	kind := *r.kind.Machines
	m := &poolMachines{kind: kind, on: r.kind.wantsMachines(s.object, r.Machines), announced: r.kind.announcedMachines(s.object) != ""}
	m.doer = newDoer(r.Options, s, kind, r.kind.Name)
	infras, err := infraMachines(ctx, r.Client, s.object, r.kind.Name, m.doer)
	if err != nil {
		return nil, err
	}
	list := &clusterv1.MachineList{}
	if name := s.machinePoolName(); name != "" {
		err := r.Client.List(ctx, list, client.InNamespace(s.object.GetNamespace()),
			client.MatchingFields{watch.MachinesField: format.MustFormatValue(name)},
			client.UnsafeDisableDeepCopy)
		if err != nil {
			return nil, fmt.Errorf("read the Machines of MachinePool %s: %w", name, err)
		}
	}
	m.index = machines.BuildIndex(kind, s.object.GetUID(), infras, list.Items)
	// A Machine whose Cluster is gone, or cannot be reached while everything is deleted, would wait forever.
	m.guarded = s.cluster != nil && (d.NoDrain == nil || d.NoDrain.Reason == workload.ReasonClusterDeleted)
	m.evaluated = m.index.Evaluate(kind, m.on, m.guarded, r.Now())
	if s.machinePoolDeleted() {
		m.evaluated.DeletionRequested = nil
	}
	return m, nil
}

// extend returns the engine's input with what the machines say about instances.
func extend[S any](in engine.Input[S], m *poolMachines) engine.Input[S] {
	if m == nil {
		return in
	}
	if len(m.evaluated.Marked) > 0 {
		all := map[string]bool{}
		for _, some := range []map[string]bool{in.Marked, m.evaluated.Marked} {
			for key, marked := range some {
				all[key] = all[key] || marked
			}
		}
		in.Marked = all
	}
	in.Desired.FormerMachines = formerMachines(m.index.Former())
	in.KnownIDs = m.index.Keys
	in.Guards, in.UIDs, in.DeletionRequested = m.evaluated.Guards, m.evaluated.UIDs, m.evaluated.DeletionRequested
	return in
}

// infraMachines returns the infrastructure machines of the pool: those that it owns, and those without an owner that belong to it all the
// same, because a restore drops owner references.
func infraMachines(ctx context.Context, c client.Reader, o Object, poolKind string, doer *machines.Doer) ([]client.Object, error) {
	key := client.ObjectKeyFromObject(o)
	read := func(fields client.MatchingFields) ([]client.Object, error) {
		list := doer.Kind.NewList()
		if err := c.List(ctx, list, client.InNamespace(key.Namespace), fields, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("read the %ss of %s %s: %w", doer.Kind.Name, poolKind, key, err)
		}
		return stored.Items(list), nil
	}
	owned, err := read(client.MatchingFields{watch.PoolField(poolKind): key.Name})
	if err != nil || doer.MachinePool == "" {
		return owned, err
	}
	orphans, err := read(client.MatchingFields{watch.OrphanField(poolKind): format.MustFormatValue(doer.MachinePool)})
	if err != nil || len(orphans) == 0 {
		return owned, err
	}
	listed := map[string]bool{}
	for _, k := range nodes.Keys(o.GetProviderIDList()) {
		listed[k] = true
	}
	for _, orphan := range orphans {
		if doer.Belongs(orphan, listed) {
			owned = append(owned, orphan)
		}
	}
	return owned, nil
}

// newDoer returns what writes the machines of a pool.
func newDoer[O Object](o Options, s scope[O], kind machines.Kind, poolKind string) *machines.Doer {
	return &machines.Doer{
		Client: o.Client, Live: o.Live, Recorder: o.Recorder, Kind: kind, Pool: s.object, PoolKind: poolKind,
		Owner: metav1.OwnerReference{
			APIVersion: kind.GroupVersion.String(), Kind: poolKind, Name: s.object.GetName(), UID: s.object.GetUID(),
			BlockOwnerDeletion: blocksDeletion(kind),
		},
		Cluster: s.clusterName(), MachinePool: s.machinePoolName(), Now: o.Now(),
	}
}

// blocksDeletion returns the field of owner references; nil leaves it out.
func blocksDeletion(kind machines.Kind) *bool {
	if !kind.HoldsPool {
		return nil
	}
	return &kind.HoldsPool
}

// throughMachines returns the nodes of a pool whose machines are drained by their own controller, or kept by users.
func throughMachines(m *poolMachines, nodes engine.Nodes) engine.Nodes {
	if m == nil || len(m.evaluated.Guards)+len(m.evaluated.Holds) == 0 {
		return nodes
	}
	return machines.Nodes{Nodes: nodes, Doer: m.doer, Known: m.index, Guards: m.evaluated.Guards, Holds: m.evaluated.Holds}
}

// syncMachines updates the machines of the pool to what was observed, and returns the outcome with it: the pool is gone only when they are.
func syncMachines[O Object](ctx context.Context, m *poolMachines, s scope[O], nodes engine.Nodes,
	out engine.Outcome) (engine.Outcome, error) {
	if m == nil || !out.Seen {
		return out, nil
	}
	m.doer.Wanted, m.doer.NodesUnknown = out.Observed.Wanted, out.Observed.NodesUnknown
	gone := s.deleting() && out.Plan.DeletionComplete
	f := m.input(out.Observed, gone)
	f.Deleting = s.deleting() || s.machinePool == nil || s.machinePoolDeleted()
	if m.guarded {
		f.Serving = serving(ctx, nodes, f.Left())
	}
	left, err := m.doer.Do(ctx, machines.Decide(f))
	if gone && len(m.index.Infras) > 0 {
		out.Plan.DeletionComplete = false
		out.Plan.Waiting = append(out.Plan.Waiting, pool.Cause{Reason: "MachinesDeleting",
			Message: "waiting for the Machines of the pool to be gone"})
	}
	if left > 0 || gone || m.waits(f) {
		out.RequeueAfter = min(out.RequeueAfter, machinesRetry)
	}
	return out, err
}

// input returns what the decision about the machines works from; gone is true if a deleted pool is gone from the cloud.
func (m *poolMachines) input(o pool.Observed, gone bool) machines.Input {
	return machines.Input{
		On: m.on, Announced: m.announced, Failed: m.kind.Always,
		Trusted: o.OwnershipConflict == nil && (o.Group != nil || gone), Lost: o.OwnershipConflict == nil && o.Group == nil,
		Instances: o.Instances, ExternalStandby: o.ExternalStandby, Known: m.index, NameOf: m.doer.NameOf, Now: m.doer.Now,
	}
}

// serving returns the provider keys of those instances which may serve: their Node is Ready, or it is unknown how it is.
func serving(ctx context.Context, nodes engine.Nodes, left []*machines.Infra) map[string]bool {
	if len(left) == 0 {
		return nil
	}
	var keys []string
	for _, i := range left {
		keys = append(keys, i.Key)
	}
	found, err := nodes.Find(ctx, keys)
	out := map[string]bool{}
	for _, i := range left {
		out[i.Key] = found[i.Key].Ready || err != nil && i.Machine.Object.Status.NodeRef.IsDefined()
	}
	return out
}

// waits reports whether the machines are reconciled again soon although nothing is left to do now. The core controller is told only now to
// create no more Machines if they are switched off, which enqueues nothing.
func (m *poolMachines) waits(f machines.Input) bool {
	return m.announced && !m.on || f.NeedsFreshRead() || f.Lost && len(m.index.Former()) > 0
}

// conflicts returns which objects keep instances from having an infrastructure machine, in order.
func (m *poolMachines) conflicts() []string {
	if m == nil {
		return nil
	}
	return slices.Sorted(slices.Values(m.doer.Conflicts))
}

// named returns the first names of a list, and how many more there are.
func named(list []string, limit int, separator, more string) string {
	text := strings.Join(list[:min(len(list), limit)], separator)
	if left := len(list) - limit; left > 0 {
		text += fmt.Sprintf(more, left)
	}
	return text
}

// formerMachines returns why a group is not created before the Machines of its former instances are gone; nil without such Machines.
func formerMachines(names []string) *pool.Cause {
	if len(names) == 0 {
		return nil
	}
	return &pool.Cause{Reason: reasonFormerMachines, Message: fmt.Sprintf(
		"not created before the Machines of its former instances are gone, whose provider IDs its instances get: %s. Look at the condition "+
			"Deleting of a Machine that stays",
		named(names, maxMachineNames, ", ", " and %d more"))}
}

// reportConflicts adds to a report which objects of other owners keep instances from having an infrastructure machine.
func reportConflicts(conflicts []string, rep *report.Report) {
	if len(conflicts) == 0 {
		return
	}
	text := named(conflicts, maxConflictNames, "; ", "; and %d more")
	for i := range rep.Conditions {
		c := &rep.Conditions[i]
		if c.Type == report.Ready && c.Status == report.True {
			c.Status, c.Reason, c.Message = report.False, status.ReasonMachineNameTaken, c.Message+"; "+text
		}
	}
	rep.Conditions = append(rep.Conditions, report.Condition{Type: status.MachinesOwned, Status: report.False,
		Reason: status.ReasonMachineNameTaken, Message: text})
}

// announceMachines sets in the status whether the core controller creates Machines for the pool.
func announceMachines[O Object, S any](k Kind[O, S], s scope[O], m *poolMachines) {
	if m == nil || k.MachineKind == nil || s.deleting() {
		return
	}
	kind := ""
	if m.on {
		kind = m.kind.Name
	}
	*k.MachineKind(s.object) = kind
}

// leftMachines returns the infrastructure machines of a pool that does not exist any more: those that name it as their owner, and those
// without an owner that carry the label of its MachinePool.
func leftMachines(ctx context.Context, c client.Reader, poolKind string, pools client.ObjectKey, infra machines.Kind,
	refersTo func(clusterv1.ContractVersionedObjectReference) bool) ([]client.Object, error) {
	list := &clusterv1.MachinePoolList{}
	if err := c.List(ctx, list, client.InNamespace(pools.Namespace)); err != nil {
		return nil, err
	}
	fields := []client.MatchingFields{{watch.PoolField(poolKind): pools.Name}}
	for _, mp := range list.Items {
		if refersTo(mp.Spec.Template.Spec.InfrastructureRef) {
			fields = append(fields, client.MatchingFields{watch.OrphanField(poolKind): format.MustFormatValue(mp.Name)})
		}
	}
	var left []client.Object
	for _, of := range fields {
		list := infra.NewList()
		if err := c.List(ctx, list, client.InNamespace(pools.Namespace), of); err != nil {
			return nil, err
		}
		left = append(left, stored.Items(list)...)
	}
	return left, nil
}

// releaseMachines removes the finalizer of the infrastructure machines of a pool that does not exist any more: what it owned in the cloud
// is gone. There are some if they were created a moment before the pool was deleted, so that its last pass did not know of them.
func releaseMachines[O Object, S any](ctx context.Context, c client.Client, k Kind[O, S], key client.ObjectKey) error {
	if k.Machines == nil {
		return nil
	}
	kind := *k.Machines
	infras, err := leftMachines(ctx, c, k.Name, key, kind, func(ref clusterv1.ContractVersionedObjectReference) bool {
		return ref.GroupKind() == k.groupKind() && ref.Name == key.Name
	})
	if err != nil {
		return fmt.Errorf("read the %ss of %s %s, which is gone: %w", kind.Name, k.Name, key, err)
	}
	for _, o := range infras {
		if o.GetDeletionTimestamp().IsZero() || !kind.Holds(o) {
			continue
		}
		before := o.DeepCopyObject().(client.Object)
		kind.Release(o)
		err := c.Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("let %s %s go: %w", kind.Name, o.GetName(), err)
		}
	}
	return nil
}
