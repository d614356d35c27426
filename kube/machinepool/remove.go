package machinepool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/kube/machinepool/status"
	"github.com/muster-project/muster/kube/nodes"
)

// Reasons of the Deleting condition, with the words of Machines where they have one.
const (
	waitingForDeletionReason = "WaitingForInfrastructureDeletion"
	waitingForBootstrap      = "WaitingForBootstrapDeletion"
	deletingNodesReason      = "DeletingNode"
)

// afterDeletion is when to look again at objects that are being deleted, should their watch fail to wake the pool.
const afterDeletion = 30 * time.Second

// remove deletes the Machines and what the pool refers to, waits until all of it is gone, removes the Nodes, and lets go of
// the pool. The Machines are asked to go first, so that each is drained by its controller, and the infrastructure object
// only when all of them go: by the contract it waits for its machines, and until it is asked to go itself it would replace
// those that do.
func (r *Reconciler) remove(ctx context.Context, p *pass) result {
	rest, asked, waits := r.removeMachines(ctx, p)
	if len(rest) > 0 {
		p.facts.Deletion = &status.Cause{Reason: waitingForMachines, Message: left(rest)}
		if !asked {
			return waits
		}
		return waits.join(r.removeReference(ctx, p.infra, &p.facts.Infrastructure).result).join(again(afterMachines))
	}
	infra := r.removeReference(ctx, p.infra, &p.facts.Infrastructure)
	bootstrap := r.removeReference(ctx, p.bootstrap, &p.facts.Bootstrap)
	switch outcome := infra.result.join(bootstrap.result); {
	case infra.left:
		p.facts.Deletion = &status.Cause{Reason: waitingForDeletionReason, Message: infra.message}
		return outcome
	case bootstrap.left:
		p.facts.Deletion = &status.Cause{Reason: waitingForBootstrap, Message: bootstrap.message}
		return outcome
	}
	if outcome := r.removeNodes(ctx, p); outcome.err != nil || outcome.stop {
		return outcome
	}
	p.facts.Deletion = &status.Cause{Reason: clusterv1.DeletionCompletedReason}
	controllerutil.RemoveFinalizer(p.pool, clusterv1.MachinePoolFinalizer)
	return stop(0)
}

// removal is how far the deletion of a referenced object has come.
type removal struct {
	result  result
	left    bool
	message string
}

// removeReference deletes an object unless it is being deleted already. An object whose kind is not installed any more
// can't exist; one that belongs to another controller is that one's to delete.
func (r *Reconciler) removeReference(ctx context.Context, ref reference, s *status.Source) removal {
	o := ref.object
	switch {
	case o == nil && s.Problem != "" && !ref.noKind && !ref.foreign:
		return removal{left: true, message: s.Problem}
	case o == nil:
		return removal{}
	case o.GetDeletionTimestamp().IsZero():
		uid := o.GetUID()
		if err := r.Client.Delete(ctx, o, client.Preconditions{UID: &uid}); err != nil && !apierrors.IsNotFound(err) {
			err = fmt.Errorf("delete %s: %w", s, err)
			return removal{result: failed(err), left: true, message: err.Error()}
		}
	}
	message := s.String() + " is being deleted"
	if annotations.HasPaused(o) {
		return removal{result: again(afterDeletion), left: true, message: message + ", and waits while it has the annotation " + clusterv1.PausedAnnotation}
	}
	if s.Ready != nil && s.Ready.Message != "" {
		message += ": " + s.Ready.Message
	}
	return removal{result: again(afterDeletion), left: true, message: message}
}

const (
	// goneAnnotation remembers when the pool's infrastructure was found to be gone: from then on counts the time that
	// the removal of its Nodes may take, however long the cloud took before.
	goneAnnotation = "muster.dev/infrastructure-gone"
	// defaultNodeDeletion is how long the removal of Nodes may take when the pool does not say.
	defaultNodeDeletion = 10 * time.Second
	// afterNodes is when the removal of Nodes is tried again.
	afterNodes = 5 * time.Second
	// unreachableForGood is how long a workload cluster must have been out of reach for its Nodes to be given up even by
	// a pool that sets no limit.
	unreachableForGood = 10 * time.Minute
)

// removeNodes removes the Nodes that are left of the pool. It stops the pass while there is something to wait for; what
// fails is tried again for as long as the pool says.
func (r *Reconciler) removeNodes(ctx context.Context, p *pass) result {
	if p.cluster == nil || !p.cluster.DeletionTimestamp.IsZero() || !p.everHadNodes() {
		return goOn()
	}
	since := p.goneSince()
	more, err := r.deleteAllNodes(ctx, p)
	switch {
	case more:
		p.facts.Deletion = &status.Cause{Reason: deletingNodesReason, Message: "More nodes are left to be removed"}
		return stop(soon)
	case err == nil:
		return goOn()
	}
	if more := r.patience(ctx, p, since); more > 0 {
		p.facts.Deletion = &status.Cause{Reason: deletingNodesReason, Message: "Nodes are left to be removed: " + err.Error() + p.limit()}
		return stop(min(more, afterNodes))
	}
	p.event(corev1.EventTypeWarning, eventNodesLeft, "Nodes are left in Cluster %s: %v", p.pool.Spec.ClusterName, err)
	return goOn()
}

// everHadNodes says whether there can be Nodes of the pool at all.
func (p *pass) everHadNodes() bool {
	return len(p.pool.Status.NodeRefs) > 0 || len(p.before.Status.NodeRefs) > 0 || len(p.pool.Spec.ProviderIDList) > 0
}

// goneSince is when the infrastructure was first found to be gone. A time that is still to come is no answer: the removal
// of Nodes would wait for it.
func (p *pass) goneSince() time.Time {
	if since, err := time.Parse(time.RFC3339, p.pool.Annotations[goneAnnotation]); err == nil && !since.After(p.now) {
		return since
	}
	if p.pool.Annotations == nil {
		p.pool.Annotations = map[string]string{}
	}
	p.pool.Annotations[goneAnnotation] = p.now.UTC().Format(time.RFC3339)
	return p.now
}

// patience is how much longer to try to remove Nodes; zero or less gives up. Controllers that have just started have not
// tried yet; but to a Cluster whose infrastructure is not provisioned they never try to connect.
func (r *Reconciler) patience(ctx context.Context, p *pass, since time.Time) time.Duration {
	state := r.ClusterCache.GetHealthCheckingState(ctx, p.clusterKey())
	if untried(state) && isTrue(p.cluster.Status.Initialization.InfrastructureProvisioned) {
		return afterNodes
	}
	limit := defaultNodeDeletion
	if s := p.pool.Spec.Template.Spec.Deletion.NodeDeletionTimeoutSeconds; s != nil {
		limit = time.Duration(*s) * time.Second
	}
	if limit == 0 {
		limit = unreachableForGood
		if state.LastProbeSuccessTime.After(since) {
			since = state.LastProbeSuccessTime
		}
	}
	return since.Add(limit).Sub(p.now)
}

// limit says when Nodes are given up that can't be removed.
func (p *pass) limit() string {
	if s := p.pool.Spec.Template.Spec.Deletion.NodeDeletionTimeoutSeconds; s != nil && *s == 0 {
		return fmt.Sprintf("; nodeDeletionTimeoutSeconds is 0: tried for as long as it takes, unless the cluster is out of reach for %s", unreachableForGood)
	}
	return ""
}

// deleteAllNodes deletes every Node that is the pool's, and says whether it had to leave more for the next pass.
func (r *Reconciler) deleteAllNodes(ctx context.Context, p *pass) (more bool, err error) {
	workload, why, err := r.workload(ctx, p)
	switch {
	case err != nil:
		return false, err
	case workload == nil:
		return false, errors.New(why)
	}
	all, err := p.ownNodes(ctx, workload)
	if err != nil {
		return false, err
	}
	outcome := r.deleteNodes(ctx, p, workload, all)
	return outcome.err == nil && outcome.again > 0, outcome.err
}

// ownNodes are the Nodes that the pool has claimed, and those of the instances that it listed last which nobody claims.
func (p *pass) ownNodes(ctx context.Context, workload client.Client) ([]*corev1.Node, error) {
	own := client.ObjectKeyFromObject(p.pool)
	claimed, err := nodes.ClaimedBy(ctx, workload, own)
	if err != nil {
		return nil, err
	}
	byInstance, err := nodes.ByProviderKeys(ctx, workload, nodes.Keys(p.pool.Spec.ProviderIDList))
	if err != nil {
		return nil, err
	}
	byName := map[string]*corev1.Node{}
	for i := range claimed {
		if claimed[i].Annotations[clusterv1.ClusterNameAnnotation] == p.pool.Spec.ClusterName {
			byName[claimed[i].Name] = &claimed[i]
		}
	}
	for _, node := range byInstance {
		if owner, claimed := nodes.OwnerOf(node); !claimed || owner == own {
			byName[node.Name] = node
		}
	}
	all := make([]*corev1.Node, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	return all, nil
}
