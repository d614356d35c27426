package nodesync

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/machinepool/status"
	"github.com/muster-project/muster/kube/nodes"
)

// Orphans returns the Nodes that a pool has claimed and whose instances have left it, and the sorted names of those that are kept although
// their instances have left: a Node that is Ready and schedulable either belongs to an instance that is terminating, and will turn unready
// by itself, or to one that continues to run outside the pool and needs its Node. A Node whose Machine exists is deleted by the Machine
// controller; that gives up after a while, and what it leaves is an orphan when the Machine is gone. It is kept as long as its Machine is
// not being deleted. found are the Nodes of the pool's instances by key.
func Orphans(pool *clusterv1.MachinePool, claimed []corev1.Node, found map[string]*corev1.Node,
	machines []*clusterv1.Machine) (orphans []*corev1.Node, kept []string) {
	named := make(map[string]*clusterv1.Machine, len(machines))
	for _, m := range machines {
		named[m.Name] = m
	}
	for i := range claimed {
		node := &claimed[i]
		current := found[cloud.ProviderKey(node.Spec.ProviderID)]
		if current != nil && current.UID == node.UID {
			continue
		}
		ready, since := nodes.Ready(node)
		machine := named[node.Annotations[clusterv1.MachineAnnotation]]
		switch {
		case node.Annotations[clusterv1.ClusterNameAnnotation] != pool.Spec.ClusterName || goesWith(machine, ready):
		case ready && (machine != nil || !drainedSince(node, since)):
			kept = append(kept, node.Name)
		default:
			orphans = append(orphans, node)
		}
	}
	slices.Sort(kept)
	return orphans, kept
}

// goesWith reports whether the controller of Machines deletes a Node, or will: its Machine is being deleted, or is about to be because the
// Node is not Ready.
func goesWith(m *clusterv1.Machine, ready bool) bool {
	return m != nil && (!ready || !m.DeletionTimestamp.IsZero())
}

// drainedSince reports whether Muster has begun to drain a Node, and still does, since it turned Ready. A Node that turned Ready during its
// drain can be that of a new instance with the name of the drained one: its kubelet takes over the Node with the cordon.
func drainedSince(node *corev1.Node, ready time.Time) bool {
	started, err := time.Parse(time.RFC3339, node.Annotations[nodes.DrainStartedAnnotation])
	return err == nil && nodes.Draining(node) && !ready.Truncate(time.Second).After(started)
}

// OwnedBy returns the Nodes of a pool by name: those that it has claimed, and those of the instances in its list that no pool has
// claimed.
func OwnedBy(ctx context.Context, workload client.Reader, pool *clusterv1.MachinePool) ([]*corev1.Node, error) {
	own := client.ObjectKeyFromObject(pool)
	claimed, err := nodes.ClaimedBy(ctx, workload, own)
	if err != nil {
		return nil, err
	}
	byInstance, err := nodes.ByProviderKeys(ctx, workload, nodes.Keys(pool.Spec.ProviderIDList))
	if err != nil {
		return nil, err
	}
	byName := map[string]*corev1.Node{}
	for i := range claimed {
		if claimed[i].Annotations[clusterv1.ClusterNameAnnotation] == pool.Spec.ClusterName {
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

// Delete deletes exactly the given Nodes, not others that have taken their names since. Each is cordoned first, so that no pod is
// scheduled to it until the deletion has reached all caches, or while a finalizer blocks it. A Node that has changed since it was read,
// and may be Ready again, is evaluated again in the next pass. The events for the deletions are returned.
func Delete(ctx context.Context, workload client.Client, all []*corev1.Node) ([]status.Event, control.Result) {
	var deleted []string
	var errs []error
	outcome, writes := control.Continue(), 0
	for _, node := range all {
		if !node.DeletionTimestamp.IsZero() && node.Spec.Unschedulable {
			continue
		}
		if writes++; writes > WriteLimit {
			outcome = control.RequeueAfter(AfterLimit)
			break
		}
		switch err := cordonAndDelete(ctx, workload, node); {
		case err == nil:
			deleted = append(deleted, node.Name)
		case apierrors.IsConflict(err):
			outcome = control.RequeueAfter(AfterLimit)
		case !apierrors.IsNotFound(err):
			errs = append(errs, fmt.Errorf("delete Node %s: %w", node.Name, err))
		}
	}
	var events []status.Event
	if len(deleted) > 0 {
		event := status.NormalEvent(status.NodesDeleted, "Deleted nodes of terminated instances: %s", status.FirstNames(deleted))
		events = append(events, event.RelatedToNode(deleted[0]))
	}
	if err := status.Few(errs); err != nil {
		return events, control.Failed(err)
	}
	return events, outcome
}

func cordonAndDelete(ctx context.Context, workload client.Client, node *corev1.Node) error {
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
	err := workload.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node.Name}},
		client.Preconditions{UID: &uid, ResourceVersion: &version})
	if apierrors.IsConflict(err) && !node.Spec.Unschedulable {
		// The next pass must not find Muster's own cordon: it would delete a Node that is Ready for that alone.
		before := cordoned.DeepCopy()
		cordoned.Spec.Unschedulable = false
		if failed := workload.Patch(ctx, cordoned, client.MergeFrom(before)); failed != nil {
			return failed
		}
	}
	return err
}
