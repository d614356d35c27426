package machinepool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/nodes"
)

const (
	// nodeWrites bounds how many Nodes one pass writes or deletes, so that a pool of thousands does not hold a worker.
	nodeWrites = 50
	// soon is when a pass goes on that has reached a limit.
	soon = time.Second
)

// tend annotates the Nodes of the pool with whom they belong to, and removes the taint that keeps pods off a Node until
// it is known to belong to somebody. It is repaired whenever somebody else has changed it.
func (r *Reconciler) tend(ctx context.Context, p *pass, workload client.Client, found map[string]*corev1.Node) result {
	marks := map[string]string{
		clusterv1.ClusterNameAnnotation:      p.pool.Spec.ClusterName,
		clusterv1.ClusterNamespaceAnnotation: p.pool.Namespace,
		clusterv1.OwnerKindAnnotation:        nodes.OwnerKindMachinePool,
		clusterv1.OwnerNameAnnotation:        p.pool.Name,
	}
	outcome, writes := goOn(), 0
	machineless := len(p.machines) == 0
	for _, key := range nodes.Keys(p.pool.Spec.ProviderIDList) {
		node := found[key]
		if node == nil || !node.DeletionTimestamp.IsZero() || tended(node, marks, machineless) || r.anothers(ctx, p, node) {
			continue
		}
		if writes++; writes > nodeWrites {
			return outcome.join(again(soon))
		}
		if err := mark(ctx, workload, node, marks, machineless); err != nil {
			outcome = outcome.join(failed(err))
		}
	}
	return outcome
}

// anothers says that a Node belongs to another pool that lists its instance too. Whoever was first keeps it: two pools
// that both claimed it would write against each other for ever.
func (r *Reconciler) anothers(ctx context.Context, p *pass, node *corev1.Node) bool {
	owner, claimed := nodes.OwnerOf(node)
	if !claimed || owner == client.ObjectKeyFromObject(p.pool) {
		return false
	}
	other := &clusterv1.MachinePool{}
	if err := r.Client.Get(ctx, owner, other); err != nil {
		return !apierrors.IsNotFound(err)
	}
	return other.Spec.ClusterName == p.pool.Spec.ClusterName &&
		slices.Contains(nodes.Keys(other.Spec.ProviderIDList), cloud.ProviderKey(node.Spec.ProviderID))
}

// tended says that a Node needs nothing. machineless says that the pool has no Machines, whose name a Node may still carry
// from a time when it had.
func tended(node *corev1.Node, marks map[string]string, machineless bool) bool {
	if _, ok := node.Annotations[clusterv1.MachineAnnotation]; ok && machineless {
		return false
	}
	for k, v := range marks {
		if node.Annotations[k] != v {
			return false
		}
	}
	return !slices.ContainsFunc(node.Spec.Taints, uninitialized)
}

func uninitialized(t corev1.Taint) bool { return t.MatchTaint(&clusterv1.NodeUninitializedTaint) }

// mark writes a copy of a Node, for the Node itself is the cache's. Taints are a list that is replaced as a whole, so the
// write fails when somebody else has changed the Node in between, and is tried again with what they wrote.
func mark(ctx context.Context, workload client.Client, node *corev1.Node, marks map[string]string, machineless bool) error {
	after := node.DeepCopy()
	if after.Annotations == nil {
		after.Annotations = map[string]string{}
	}
	for k, v := range marks {
		after.Annotations[k] = v
	}
	if machineless {
		delete(after.Annotations, clusterv1.MachineAnnotation)
	}
	after.Spec.Taints = slices.DeleteFunc(after.Spec.Taints, uninitialized)
	patch := client.MergeFromWithOptions(node.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if err := workload.Patch(ctx, after, patch); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("annotate Node %s: %w", node.Name, err)
	}
	return nil
}

// retire removes Nodes from the API whose instance has left the pool. A Node that is Ready and takes pods is kept: either
// its instance is going, and the Node will tell by itself, or the instance lives on outside the pool and needs its Node. A
// Node whose Machine exists is the Machine's to remove; Machines give that up after a while, and what they leave is removed.
func (r *Reconciler) retire(ctx context.Context, p *pass, workload client.Client, found map[string]*corev1.Node) result {
	claimed, err := nodes.ClaimedBy(ctx, workload, client.ObjectKeyFromObject(p.pool))
	if err != nil {
		return failed(err)
	}
	var retired []*corev1.Node
	named := map[string]bool{}
	for _, m := range p.machines {
		named[m.Name] = true
	}
	for i := range claimed {
		node := &claimed[i]
		current := found[cloud.ProviderKey(node.Spec.ProviderID)]
		if current != nil && current.UID == node.UID {
			continue
		}
		ready, _ := nodes.Ready(node)
		switch {
		case node.Annotations[clusterv1.ClusterNameAnnotation] != p.pool.Spec.ClusterName:
		case named[node.Annotations[clusterv1.MachineAnnotation]]:
		case ready && !node.Spec.Unschedulable:
			p.facts.Nodes.Kept = append(p.facts.Nodes.Kept, node.Name)
		default:
			retired = append(retired, node)
		}
	}
	slices.Sort(p.facts.Nodes.Kept)
	return r.deleteNodes(ctx, p, workload, retired)
}

// deleteNodes deletes exactly the given Nodes, not others that took their names since.
func (r *Reconciler) deleteNodes(ctx context.Context, p *pass, workload client.Client, all []*corev1.Node) result {
	var deleted []string
	var errs []error
	outcome := goOn()
	for i, node := range all {
		if i == nodeWrites {
			outcome = again(soon)
			break
		}
		err := workload.Delete(ctx, &corev1.Node{ObjectMeta: node.ObjectMeta}, client.Preconditions{UID: &node.UID})
		switch {
		case err == nil:
			deleted = append(deleted, node.Name)
		case !apierrors.IsNotFound(err) && !apierrors.IsConflict(err):
			errs = append(errs, fmt.Errorf("delete Node %s: %w", node.Name, err))
		}
	}
	if len(deleted) > 0 {
		p.tell(corev1.EventTypeNormal, eventNodeDeleted, "Deleted nodes of instances that are gone: %s", listed(deleted))
	}
	if err := errors.Join(errs...); err != nil {
		return failed(err)
	}
	return outcome
}
