package machinepool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/kube/machinepool/machinesync"
	"github.com/muster-project/muster/kube/machinepool/nodesync"
	"github.com/muster-project/muster/kube/machinepool/reference"
	"github.com/muster-project/muster/kube/machinepool/status"
)

// Reasons of the condition Deleting, in Cluster API's words for Machines where there are any.
const (
	waitingForInfrastructureReason = "WaitingForInfrastructureDeletion"
	waitingForBootstrapReason      = "WaitingForBootstrapDeletion"
	deletingNodesReason            = "DeletingNode"
)

// remove deletes the Machines and what the pool refers to, waits until all of it is gone, deletes the Nodes, and removes the finalizer.
// The Machines are deleted first, so that the Machine controller drains each, and the infrastructure object as soon as all of them are
// being deleted: by the contract it waits for its machines, and until its own deletion it would replace them. Machines without an
// infrastructure machine are deleted after it.
func (r *Reconciler) remove(ctx context.Context, p pass) control.Result {
	drained, err := r.drainable(ctx, p)
	if err != nil {
		p.did.outcome.Deletion = status.Cause{Reason: machinesync.WaitingForDeletionReason, Message: err.Error()}
		return control.Result{Err: err, Stopped: true}
	}
	machines, requested, outcome := machinesync.DeleteAll(ctx, r.Client, p.did.pool, drained)
	if len(machines) > 0 {
		p.did.outcome.Deletion = status.Cause{Reason: machinesync.WaitingForDeletionReason, Message: machinesync.Waiting(machines)}
		if !requested {
			return outcome
		}
		_, deleted := reference.Delete(ctx, r.Client, p.did.infrastructure)
		return outcome.Join(deleted).Join(control.RequeueAfter(machinesync.AfterDeletion))
	}
	infra, deleted := reference.Delete(ctx, r.Client, p.did.infrastructure)
	config, alsoDeleted := reference.Delete(ctx, r.Client, p.did.bootstrap)
	switch {
	case infra.Left:
		p.did.outcome.Deletion = status.Cause{Reason: waitingForInfrastructureReason, Message: infra.Message}
		return deleted.Join(alsoDeleted)
	case config.Left:
		p.did.outcome.Deletion = status.Cause{Reason: waitingForBootstrapReason, Message: config.Message}
		return deleted.Join(alsoDeleted)
	}
	if outcome := r.removeNodes(ctx, p); outcome.Err != nil || outcome.Stopped {
		return outcome
	}
	p.did.outcome.Deletion = status.Cause{Reason: clusterv1.DeletionCompletedReason}
	controllerutil.RemoveFinalizer(p.did.pool, clusterv1.MachinePoolFinalizer)
	return control.Stop(0)
}

// drainable returns the Machines to delete now. While the infrastructure object is there, Machines without an infrastructure machine are
// not among them: the Machine controller does not drain their Nodes and deletes them at once, although the instance and its pods run.
// Backups leave out what is being deleted, so that a restore can bring back such a Machine alone. The infrastructure provider drains its
// instance.
func (r *Reconciler) drainable(ctx context.Context, p pass) ([]*clusterv1.Machine, error) {
	if p.facts.infrastructure.Object == nil {
		return p.facts.machines, nil
	}
	byKind := map[string]map[string]bool{} // the names of the infrastructure machines; nil for a kind that is not installed
	var drained []*clusterv1.Machine
	for _, m := range p.facts.machines {
		ref := m.Spec.InfrastructureRef
		if m.DeletionTimestamp.IsZero() {
			names, read := byKind[ref.Kind]
			if !read {
				var err error
				if names, err = r.infraMachineNames(ctx, p, ref.Kind); err != nil {
					return nil, err
				}
				byKind[ref.Kind] = names
			}
			if names != nil && !names[ref.Name] {
				continue
			}
		}
		drained = append(drained, m)
	}
	return drained, nil
}

// infraMachineNames returns the names of the pool's infrastructure machines of a kind, nil if the kind is not installed.
func (r *Reconciler) infraMachineNames(ctx context.Context, p pass, kind string) (map[string]bool, error) {
	gvk, err := r.members().Kind(ctx, p.facts.infrastructure.Object, kind)
	if errors.Is(err, contract.ErrNoKind) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	infras, err := r.members().InfraMachines(ctx, p.did.pool, gvk)
	names := map[string]bool{}
	for _, o := range infras {
		names[o.GetName()] = true
	}
	return names, err
}

const (
	// goneAnnotation records when the pool's infrastructure was found to be gone. The time limit for the deletion of its Nodes counts from
	// then on, however long the cloud took before.
	goneAnnotation = "muster.dev/infrastructure-gone"
	// defaultNodeDeletion is the time limit for the deletion of Nodes if the pool sets none.
	defaultNodeDeletion = 10 * time.Second
	// afterNodes is the time until the deletion of Nodes is retried.
	afterNodes = 5 * time.Second
	// unreachableLimit is the time after which a pool without a time limit, too, gives up the Nodes of an unreachable workload cluster.
	unreachableLimit = 10 * time.Minute
)

// removeNodes deletes the Nodes that are left of the pool. It stops the pass while there is something to wait for; errors are retried
// until the time limit of the pool.
func (r *Reconciler) removeNodes(ctx context.Context, p pass) control.Result {
	if p.facts.cluster == nil || !p.facts.cluster.DeletionTimestamp.IsZero() || !mayHaveNodes(p.did.stored, p.did.pool) {
		return control.Continue()
	}
	since := recordGone(p.did.pool, p.facts.now)
	more, err := r.deleteAllNodes(ctx, p)
	switch {
	case more:
		p.did.outcome.Deletion = status.Cause{Reason: deletingNodesReason, Message: "Deleting more nodes"}
		return control.Stop(nodesync.AfterLimit)
	case err == nil:
		return control.Continue()
	}
	state := r.ClusterCache.GetHealthCheckingState(ctx, client.ObjectKeyFromObject(p.facts.cluster))
	if left := timeLeft(p.did.pool, p.facts.cluster, state, since, p.facts.now); left > 0 {
		p.did.outcome.Deletion = status.Cause{Reason: deletingNodesReason,
			Message: "Waiting for nodes to be deleted: " + err.Error() + limitText(p.did.pool)}
		return control.Stop(min(left, afterNodes))
	}
	event := status.WarningEvent(status.NodesLeft, "Gave up deleting nodes in Cluster %s: %v", p.did.pool.Spec.ClusterName, err)
	p.did.events = append(p.did.events, event)
	return control.Continue()
}

// deleteAllNodes deletes the Nodes of the pool, and reports whether more are left for the next pass.
func (r *Reconciler) deleteAllNodes(ctx context.Context, p pass) (more bool, err error) {
	c, unknown, err := r.connector().Connect(ctx, p.did.pool, p.facts.cluster)
	switch {
	case err != nil:
		return false, err
	case c == nil:
		return false, errors.New(unknown)
	}
	all, err := nodesync.OwnedBy(ctx, c, p.did.pool)
	if err != nil {
		return false, err
	}
	events, outcome := nodesync.Delete(ctx, c, all)
	p.did.events = append(p.did.events, events...)
	return outcome.Err == nil && outcome.After > 0, outcome.Err
}

// mayHaveNodes reports whether a pool can have Nodes.
func mayHaveNodes(stored, pool *clusterv1.MachinePool) bool {
	return len(pool.Status.NodeRefs) > 0 || len(stored.Status.NodeRefs) > 0 || len(pool.Spec.ProviderIDList) > 0
}

// recordGone returns when the infrastructure was first found to be gone, and records it on the pool. A time in the future is replaced,
// because the deletion of Nodes would wait for it.
func recordGone(pool *clusterv1.MachinePool, now time.Time) time.Time {
	if since, err := time.Parse(time.RFC3339, pool.Annotations[goneAnnotation]); err == nil && !since.After(now) {
		return since
	}
	if pool.Annotations == nil {
		pool.Annotations = map[string]string{}
	}
	pool.Annotations[goneAnnotation] = now.UTC().Format(time.RFC3339)
	return now
}

// timeLeft returns how much longer the deletion of Nodes is retried that began at since; 0 or less gives up. Controllers that have just
// started have not tried to connect yet; but to a Cluster whose infrastructure is not provisioned they never try.
func timeLeft(pool *clusterv1.MachinePool, cluster *clusterv1.Cluster, state clustercache.HealthCheckingState,
	since, now time.Time) time.Duration {
	if nodesync.Untried(state) && ptr.Deref(cluster.Status.Initialization.InfrastructureProvisioned, false) {
		return afterNodes
	}
	limit := defaultNodeDeletion
	if s := pool.Spec.Template.Spec.Deletion.NodeDeletionTimeoutSeconds; s != nil {
		limit = time.Duration(*s) * time.Second
	}
	if limit == 0 {
		limit = unreachableLimit
		if state.LastProbeSuccessTime.After(since) {
			since = state.LastProbeSuccessTime
		}
	}
	return since.Add(limit).Sub(now)
}

// limitText describes when the deletion of Nodes is given up by a pool without a time limit.
func limitText(pool *clusterv1.MachinePool) string {
	if s := pool.Spec.Template.Spec.Deletion.NodeDeletionTimeoutSeconds; s != nil && *s == 0 {
		return fmt.Sprintf("; nodeDeletionTimeoutSeconds is 0: retrying without a time limit, unless the cluster is unreachable for %s",
			unreachableLimit)
	}
	return ""
}
