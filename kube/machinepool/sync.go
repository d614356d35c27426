package machinepool

import (
	"context"

	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/machinepool/machinesync"
	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/machinepool/nodesync"
	"github.com/muster-project/muster/kube/machinepool/status"
)

// syncMachines writes the Machines of a pool whose infrastructure object reports a kind of machines, and those that are left of one that
// is being deleted. It stops a pass whose Machines could not be read.
func (r *Reconciler) syncMachines(ctx context.Context, p pass) control.Result {
	switch {
	case !p.facts.machinesRead:
		return control.Stop(0)
	case !p.facts.outsideRead:
		return control.Continue()
	}
	basis, result := p.basis(), control.Continue()
	if p.facts.hasMachines() {
		p.did.outcome.Machines = &status.Machines{Kind: p.facts.machineKind()}
	}
	if p.facts.machineKind() != "" || p.facts.hasMachines() && p.facts.status.Deleting {
		p.did.machines, result = r.writeMachines(ctx, p, basis)
	}
	ids := p.did.pool.Spec.ProviderIDList
	switch {
	case p.facts.hasMachines():
		p.did.outcome.UpToDateByMachine = members.UpToDateByMachine(ids, p.did.machines.ByInstance)
	case p.facts.status.ByVersion && p.facts.nodes.Found != nil:
		p.did.outcome.UpToDateByMachine = basis.ByVersion(ids)
	}
	return result
}

// basis returns what decides which machines are up to date.
func (p pass) basis() members.UpToDateBasis {
	f := p.facts
	return members.UpToDateBasis{Infrastructure: p.did.infrastructure.Source.String(),
		UpToDate: f.status.UpToDate, Replicas: f.status.Replicas, Version: p.did.pool.Spec.Template.Spec.Version,
		Nodes: f.nodes.Found, NodesUnknown: f.nodes.Unknown}
}

// writeMachines writes the Machines of the pool.
func (r *Reconciler) writeMachines(ctx context.Context, p pass, basis members.UpToDateBasis) (machinesync.Output, control.Result) {
	f := p.facts
	in := machinesync.Input{Pool: p.did.pool, Members: f.members.all, InfraKind: f.members.kind, InfraGone: f.infrastructure.Object == nil,
		UpToDate: basis, ServingOutside: f.servingOutside, Interrupted: f.status.ConnectionInterrupted}
	synced, written := machinesync.Syncer{Objects: r.objects()}.Sync(ctx, in)
	p.did.events = append(p.did.events, synced.Events...)
	p.did.outcome.Machines = &status.Machines{Kind: f.machineKind(), Problem: f.members.problem, Waiting: synced.Waiting,
		Remediating: synced.Remediating}
	return synced, written
}

// syncNodes counts the Nodes of the pool, writes their metadata and taints, and deletes those of instances that have left the pool.
func (r *Reconciler) syncNodes(ctx context.Context, p pass) control.Result {
	f, pool, expected := p.facts, p.did.pool, p.facts.machineKind() != ""
	if !f.outsideRead {
		return control.Continue()
	}
	if f.nodes.Found == nil {
		if f.status.Instances == 0 {
			p.did.outcome.Nodes = &status.Nodes{}
		}
		return control.Continue()
	}
	byInstance := p.did.machines.ByInstance
	counted, next := members.CountNodes(pool, f.nodes.Found, members.MachinesByInstance{Expected: expected, ByInstance: byInstance}, f.now)
	desired := nodesync.Desired{
		Pool:             nodesync.OfPool(pool, len(f.machines) == 0, r.SyncLabels, r.SyncAnnotations),
		Machines:         nodesync.MachinesOfNodes(byInstance, f.machines, expected),
		MachinesExpected: expected,
	}
	updates := desired.Updates(pool.Spec.ProviderIDList, f.nodes.Found)
	result := control.RequeueAfter(next).Join(nodesync.Write(ctx, f.nodes.Client, r.Client, pool, updates))
	orphans, kept := nodesync.Orphans(pool, f.claimed, f.nodes.Found, f.machines)
	counted.Kept, counted.BlocksControlPlane = kept, f.blocksControlPlane(pool.Spec.Template.Spec.Version)
	if counted.BlocksControlPlane != "" {
		result = result.Join(control.RequeueAfter(afterSkew))
	}
	p.did.outcome.Nodes = &counted
	events, deleted := nodesync.Delete(ctx, f.nodes.Client, orphans)
	p.did.events = append(p.did.events, events...)
	return result.Join(deleted)
}
