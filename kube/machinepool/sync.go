package machinepool

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/kube/machinepool/counts"
	"github.com/muster-project/muster/kube/machinepool/instances"
	"github.com/muster-project/muster/kube/machinepool/machinesync"
	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/machinepool/nodesync"
	"github.com/muster-project/muster/kube/machinepool/objects"
	"github.com/muster-project/muster/kube/machinepool/reference"
	"github.com/muster-project/muster/kube/machinepool/status"
	"github.com/muster-project/muster/kube/machinepool/uptodate"
	"github.com/muster-project/muster/kube/machinepool/workload"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/kube/steps"
)

// readMachines reads the Machines of the pool. Without them nothing can be said about what is left of the pool.
func (r *Reconciler) readMachines(ctx context.Context, p *pass) steps.Result {
	found, err := r.members().Machines(ctx, p.pool)
	if err != nil {
		return steps.Result{Err: err, Stopped: true}
	}
	p.machines = found
	return steps.Continue()
}

// machineKind returns the kind of the infrastructure machines, empty if the infrastructure object reports none: then the pool has no
// Machines.
func (p *pass) machineKind() string {
	if p.infrastructure.Object == nil {
		return ""
	}
	return objects.String(p.infrastructure.Object, "status", "infrastructureMachineKind")
}

// syncMachinesAndNodes matches the pool's instances with the Nodes of the workload cluster and with its Machines, writes both, and counts
// them.
func (r *Reconciler) syncMachinesAndNodes(ctx context.Context, p *pass) steps.Result {
	found, outcome := r.connector().Find(ctx, p.pool, p.cluster, p.now)
	p.facts.NodesUnknown, p.facts.ConnectionInterrupted = found.Unknown, found.Interrupted
	basis := uptodate.Basis{Infrastructure: p.facts.Infrastructure.String(), UpToDate: p.facts.UpToDate, Replicas: p.facts.Replicas,
		Version: p.pool.Spec.Template.Spec.Version, Nodes: found.Found, NodesUnknown: found.Unknown}
	serving, err := servingOutside(ctx, p, found)
	if err != nil {
		return outcome.Join(steps.Failed(err))
	}
	synced, written := r.syncMachines(ctx, p, basis, serving)
	outcome = outcome.Join(written)
	ids := p.pool.Spec.ProviderIDList
	p.facts.ByVersion = p.facts.Machines == nil && p.facts.UpToDate == nil && basis.Version != ""
	switch {
	case p.facts.Machines != nil:
		p.facts.UpToDateByMachine = uptodate.ByMachine(ids, synced.ByInstance)
	case p.facts.ByVersion && found.Found != nil:
		p.facts.UpToDateByMachine = basis.ByVersion(ids)
	}
	if found.Found != nil {
		return outcome.Join(r.syncNodes(ctx, p, found, synced))
	}
	if p.facts.Instances == 0 {
		p.facts.Nodes = &status.Nodes{}
	}
	return outcome
}

// servingOutside returns the keys of instances that have Machines, are not in the pool's list, and whose Nodes are Ready.
func servingOutside(ctx context.Context, p *pass, found workload.Nodes) (map[string]bool, error) {
	listed := instances.ListedBy(p.pool)
	var ids []string
	for _, m := range p.machines {
		if id := m.Spec.ProviderID; id != "" && !listed[instances.Key(id)] {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 || found.Client == nil {
		return nil, nil
	}
	outside, err := nodes.ByProviderKeys(ctx, found.Client, nodes.Keys(ids))
	serving := make(map[string]bool, len(outside))
	for key, node := range outside {
		serving[key], _ = nodes.Ready(node)
	}
	return serving, err
}

// syncMachines writes the Machines of a pool whose infrastructure object reports a kind of machines, and those that are left of one that
// is being deleted.
func (r *Reconciler) syncMachines(ctx context.Context, p *pass, basis uptodate.Basis,
	servingOutside map[string]bool) (machinesync.Output, steps.Result) {
	kind := p.machineKind()
	if kind == "" && len(p.machines) == 0 {
		return machinesync.Output{}, steps.Continue()
	}
	p.facts.Machines = &status.Machines{Kind: kind}
	if kind == "" && !p.deleting() {
		return machinesync.Output{}, steps.Continue()
	}
	all, gvk, problem, outcome := r.pairMembers(ctx, p, kind)
	in := machinesync.Input{Pool: p.pool, Members: all, InfraKind: gvk, InfraGone: p.infrastructure.Object == nil, UpToDate: basis,
		ServingOutside: servingOutside, Interrupted: p.facts.ConnectionInterrupted}
	synced, written := machinesync.Syncer{Objects: r.objects()}.Sync(ctx, in)
	p.events = append(p.events, synced.Events...)
	p.facts.Machines = &status.Machines{Kind: kind, Problem: problem, Waiting: synced.Waiting, Remediating: synced.Remediating}
	return synced, outcome.Join(written)
}

// pairMembers pairs the pool's Machines with its infrastructure machines, of which it returns the kind if all could be read, otherwise the
// problem.
func (r *Reconciler) pairMembers(ctx context.Context, p *pass, kind string) (
	all []members.Member, gvk schema.GroupVersionKind, problem string, outcome steps.Result) {
	none := members.Pair(p.machines, nil)
	if kind == "" {
		return none, gvk, "", steps.Continue()
	}
	gvk, err := r.members().Kind(ctx, p.infrastructure.Object, kind)
	if err != nil {
		problem = "cannot create Machines: " + err.Error()
		if errors.Is(err, contract.ErrNoKind) {
			return none, schema.GroupVersionKind{}, problem, steps.RequeueAfter(reference.AfterMissingKind)
		}
		return none, schema.GroupVersionKind{}, problem, steps.Failed(err)
	}
	infras, err := r.members().InfraMachines(ctx, p.pool, gvk)
	if err != nil {
		return none, schema.GroupVersionKind{}, err.Error(), steps.Failed(err)
	}
	return members.Pair(p.machines, infras), gvk, "", steps.Continue()
}

// syncNodes counts the Nodes of the pool, writes their metadata and taints, and deletes those of instances that have left the pool.
func (r *Reconciler) syncNodes(ctx context.Context, p *pass, found workload.Nodes, synced machinesync.Output) steps.Result {
	expected := p.machineKind() != ""
	counted, next := counts.Nodes(p.pool, found.Found, counts.Machines{Expected: expected, ByInstance: synced.ByInstance}, p.now)
	desired := nodesync.Desired{
		Pool:             nodesync.OfPool(p.pool, len(p.machines) == 0, r.SyncLabels, r.SyncAnnotations),
		Machines:         nodesync.MachinesOfNodes(synced.ByInstance, p.machines, expected),
		MachinesExpected: expected,
	}
	updates := desired.Updates(p.pool.Spec.ProviderIDList, found.Found)
	outcome := steps.RequeueAfter(next).Join(nodesync.Write(ctx, found.Client, r.Client, p.pool, updates))
	claimed, err := nodes.ClaimedBy(ctx, found.Client, client.ObjectKeyFromObject(p.pool))
	orphans, kept := nodesync.Orphans(p.pool, claimed, found.Found, p.machines)
	counted.Kept = kept
	p.facts.Nodes = &counted
	if err != nil {
		return outcome.Join(steps.Failed(err))
	}
	events, deleted := nodesync.Delete(ctx, found.Client, orphans)
	p.events = append(p.events, events...)
	return outcome.Join(deleted)
}
