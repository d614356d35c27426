package nodesync

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/nodes"
)

const (
	// WriteLimit bounds the Nodes that one pass writes, and those that it deletes, so that a pool of thousands does not block a worker.
	WriteLimit = 50
	// AfterLimit is the time until a pass that has reached the limit is continued.
	AfterLimit = time.Second
)

// Desired is the metadata that the Nodes of a pool have to have.
type Desired struct {
	// Pool is the metadata of Nodes without a Machine.
	Pool Metadata
	// Machines are the Machines of Nodes by instance key. In a pool with Machines the Machine controller sets everything but the taints,
	// which it sets only if its feature gate is on; then it writes the same.
	Machines map[string]*clusterv1.Machine
	// MachinesExpected is true if every instance gets a Machine: a Node without one is left alone until it has one.
	MachinesExpected bool
}

// MachinesOfNodes returns the Machines that manage Nodes, by instance key: those that were synchronized in a pool with Machines,
// otherwise those that exist. They may exist while the infrastructure object is missing for a moment, or after it stopped reporting
// a kind of machines.
func MachinesOfNodes(synced map[string]*clusterv1.Machine, existing []*clusterv1.Machine, expected bool) map[string]*clusterv1.Machine {
	if expected || len(existing) == 0 {
		return synced
	}
	all := make(map[string]*clusterv1.Machine, len(existing))
	for _, m := range existing {
		if key := cloud.ProviderKey(m.Spec.ProviderID); key != "" {
			all[key] = m
		}
	}
	return all
}

// Update is a Node that lacks something, and the Node as it has to be.
type Update struct {
	Node, After *corev1.Node
}

// Updates returns the updates of Nodes that lack something, in the order of the pool's instances. The Nodes are given by instance key.
func (d Desired) Updates(providerIDs []string, found map[string]*corev1.Node) []Update {
	var all []Update
	for _, key := range nodes.Keys(providerIDs) {
		node := found[key]
		if node == nil || !node.DeletionTimestamp.IsZero() {
			continue
		}
		metadata := d.Pool
		if machine := d.Machines[key]; machine != nil {
			metadata = OfMachine(machine)
		} else if d.MachinesExpected {
			continue
		}
		if after := metadata.Apply(node); after != nil {
			all = append(all, Update{node, after})
		}
	}
	return all
}

// Write writes updates to the workload cluster, except those of Nodes that belong to another pool, which pools is asked for.
func Write(ctx context.Context, workload client.Client, pools client.Reader, pool *clusterv1.MachinePool, updates []Update) control.Result {
	outcome, writes := control.Continue(), 0
	listed := map[client.ObjectKey]map[string]bool{}
	for _, u := range updates {
		if ownedByOtherPool(ctx, pools, pool, u.Node, listed) {
			continue
		}
		if writes++; writes > WriteLimit {
			return outcome.Join(control.RequeueAfter(AfterLimit))
		}
		outcome = outcome.Join(control.Failed(write(ctx, workload, u)))
	}
	return outcome
}

// write writes one Node. Taints are a list that is replaced as a whole, so the write fails if another client has changed the Node since
// it was read, and the next pass retries.
func write(ctx context.Context, workload client.Client, u Update) error {
	patch := client.MergeFromWithOptions(u.Node.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if err := workload.Patch(ctx, u.After, patch); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("write the metadata and taints of Node %s: %w", u.Node.Name, err)
	}
	return nil
}

// ownedByOtherPool reports whether a Node belongs to another pool that lists its instance too. The first owner keeps it: two pools that
// both claimed it would overwrite each other for ever. listed caches the instances of pools that were read already. A Node whose owner
// cannot be read is left alone.
func ownedByOtherPool(ctx context.Context, pools client.Reader, pool *clusterv1.MachinePool, node *corev1.Node,
	listed map[client.ObjectKey]map[string]bool) bool {
	owner, claimed := nodes.OwnerOf(node)
	if !claimed || owner == client.ObjectKeyFromObject(pool) {
		return false
	}
	byOwner, known := listed[owner]
	if !known {
		other := &clusterv1.MachinePool{}
		switch err := pools.Get(ctx, owner, other); {
		case apierrors.IsNotFound(err):
		case err != nil:
			return true
		case other.Spec.ClusterName == pool.Spec.ClusterName:
			byOwner = members.ListedInstances(other)
		}
		listed[owner] = byOwner
	}
	return byOwner[cloud.ProviderKey(node.Spec.ProviderID)]
}
