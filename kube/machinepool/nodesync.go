package machinepool

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/machinepool/status"
	"github.com/muster-project/muster/kube/nodes"
)

const (
	// nodeWrites bounds how many Nodes one pass writes or deletes, so that a pool of thousands does not hold a worker.
	nodeWrites = 50
	// soon is when a pass goes on that has reached a limit.
	soon = time.Second
)

// syncNodes brings the Nodes of the pool into order: whom they belong to, what they have of the pool's template, and away with the taint
// that keeps pods off a Node until it is known to belong to somebody. It is repaired whenever somebody else has changed it. In a
// pool with Machines their controller does all of this but for the taints, which it leaves out unless a gate is on; with the gate it
// writes the same.
func (r *Reconciler) syncNodes(ctx context.Context, p *pass, workload client.Client, found map[string]*corev1.Node) result {
	outcome, writes := goOn(), 0
	claims := map[client.ObjectKey]map[string]bool{}
	for _, d := range r.nodesToUpdate(p, found) {
		if r.ownedByOtherPool(ctx, p, d.node, claims) {
			continue
		}
		if writes++; writes > nodeWrites {
			return outcome.join(again(soon))
		}
		if err := write(ctx, workload, d.node, d.after); err != nil {
			outcome = outcome.join(failed(err))
		}
	}
	return outcome
}

// nodeUpdate is a Node that lacks something, and the Node as it should be.
type nodeUpdate struct {
	node, after *corev1.Node
}

// nodesToUpdate are the Nodes of the pool that lack something, in the order of the pool's list.
func (r *Reconciler) nodesToUpdate(p *pass, found map[string]*corev1.Node) []nodeUpdate {
	var all []nodeUpdate
	plain, machines := p.nodeMetadata(r.SyncLabels, r.SyncAnnotations), p.machinesOfNodes()
	for _, key := range nodes.Keys(p.pool.Spec.ProviderIDList) {
		node := found[key]
		if node == nil || !node.DeletionTimestamp.IsZero() {
			continue
		}
		dress := plain
		if machine := machines[key]; machine != nil {
			dress = nodeMetadata{taints: machine.Spec.Taints}
		} else if p.machineKind != "" {
			continue
		}
		if after := dress.applyTo(node); after != nil {
			all = append(all, nodeUpdate{node, after})
		}
	}
	return all
}

// machinesOfNodes are the Machines that look after Nodes, by the meaning of their provider ID: also those that are left while the
// infrastructure says nothing, for it is away for a moment, or says that there are none any more.
func (p *pass) machinesOfNodes() map[string]*clusterv1.Machine {
	if p.machineKind != "" || len(p.machines) == 0 {
		return p.members
	}
	all := make(map[string]*clusterv1.Machine, len(p.machines))
	for _, m := range p.machines {
		if key := cloud.ProviderKey(m.Spec.ProviderID); key != "" {
			all[key] = m
		}
	}
	return all
}

// ownedByOtherPool says that a Node belongs to another pool that lists its instance too. Whoever was first keeps it: two pools
// that both claimed it would write against each other for ever. claims are the instances of the pools that were asked for already.
func (r *Reconciler) ownedByOtherPool(ctx context.Context, p *pass, node *corev1.Node, claims map[client.ObjectKey]map[string]bool) bool {
	owner, claimed := nodes.OwnerOf(node)
	if !claimed || owner == client.ObjectKeyFromObject(p.pool) {
		return false
	}
	listed, known := claims[owner]
	if !known {
		other := &clusterv1.MachinePool{}
		switch err := r.Client.Get(ctx, owner, other); {
		case apierrors.IsNotFound(err):
		case err != nil:
			// Nobody knows whether it is, and it is left alone until somebody does.
			return true
		case other.Spec.ClusterName == p.pool.Spec.ClusterName:
			listed = instancesOf(other)
		}
		claims[owner] = listed
	}
	return listed[cloud.ProviderKey(node.Spec.ProviderID)]
}

// deleteOrphanedNodes removes Nodes from the API whose instance has left the pool. A Node that is Ready and takes pods is kept: either
// its instance is going, and the Node will tell by itself, or the instance lives on outside the pool and needs its Node. A
// Node whose Machine exists is the Machine's to remove; Machines give that up after a while, and what they leave is removed.
func (r *Reconciler) deleteOrphanedNodes(ctx context.Context, p *pass, workload client.Client, found map[string]*corev1.Node) result {
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

// deleteNodes deletes exactly the given Nodes, not others that took their names since. Each is cordoned first, so that nothing is
// scheduled to it while the deletion is told around, or while somebody's finalizer holds it; and it is deleted as it was looked at:
// one that has changed since, and may be Ready again, is looked at again.
func (r *Reconciler) deleteNodes(ctx context.Context, p *pass, workload client.Client, all []*corev1.Node) result {
	var deleted []string
	var errs []error
	outcome, writes := goOn(), 0
	for _, node := range all {
		if !node.DeletionTimestamp.IsZero() && node.Spec.Unschedulable {
			continue
		}
		if writes++; writes > nodeWrites {
			outcome = again(soon)
			break
		}
		switch err := deleteNode(ctx, workload, node); {
		case err == nil:
			deleted = append(deleted, node.Name)
		case apierrors.IsConflict(err):
			outcome = again(soon)
		case !apierrors.IsNotFound(err):
			errs = append(errs, fmt.Errorf("delete Node %s: %w", node.Name, err))
		}
	}
	if len(deleted) > 0 {
		p.eventOn(nodeReference(deleted[0]), eventNodeDeleted, "Deleted nodes of instances that are gone: %s", listed(deleted))
	}
	if err := status.Few(errs); err != nil {
		return failed(err)
	}
	return outcome
}

// deleteNode cordons a Node and deletes it.
func deleteNode(ctx context.Context, workload client.Client, node *corev1.Node) error {
	cordoned := node.DeepCopy()
	if !node.Spec.Unschedulable {
		cordoned.Spec.Unschedulable = true
		if err := workload.Patch(ctx, cordoned, client.MergeFromWithOptions(node.DeepCopy(), client.MergeFromWithOptimisticLock{})); err != nil {
			return err
		}
	}
	if !node.DeletionTimestamp.IsZero() {
		return nil
	}
	uid, version := cordoned.UID, cordoned.ResourceVersion
	err := workload.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node.Name}}, client.Preconditions{UID: &uid, ResourceVersion: &version})
	if apierrors.IsConflict(err) && !node.Spec.Unschedulable {
		// A Node that is looked at again must not be found cordoned by us: a Ready one would be deleted for that alone.
		before := cordoned.DeepCopy()
		cordoned.Spec.Unschedulable = false
		if wrong := workload.Patch(ctx, cordoned, client.MergeFrom(before)); wrong != nil {
			return wrong
		}
	}
	return err
}
