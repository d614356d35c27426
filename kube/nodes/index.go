package nodes

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
)

const (
	// ProviderKeyField is the index over the Nodes of a workload cluster by cloud.ProviderKey of spec.providerID.
	ProviderKeyField = "muster.dev/providerKey"
	// OwnerField is the index over the Nodes of a workload cluster by the MachinePool that claimed them
	// (PoolClaim of its namespace and name), so that a Node whose instance left the pool is still found.
	OwnerField = "muster.dev/ownerPool"
	// PoolField is the index over MachinePools by cluster and provider key, for every entry of spec.providerIDList.
	PoolField = "muster.dev/clusterProviderKey"
)

// OwnerKindMachinePool is the value of the annotation cluster.x-k8s.io/owner-kind on Nodes of pools.
const OwnerKindMachinePool = "MachinePool"

// ProviderKeyIndex and OwnerIndex must be among the Indexes of a ClusterCache for this package to work.
var (
	ProviderKeyIndex = clustercache.CacheOptionsIndex{Object: &corev1.Node{}, Field: ProviderKeyField, ExtractValue: nodeKeys}
	OwnerIndex       = clustercache.CacheOptionsIndex{Object: &corev1.Node{}, Field: OwnerField, ExtractValue: nodeOwners}
)

// Indexes are all indexes over workload Nodes, for clustercache.CacheOptions.Indexes.
func Indexes() []clustercache.CacheOptionsIndex {
	return []clustercache.CacheOptionsIndex{ProviderKeyIndex, OwnerIndex}
}

// AddIndexes adds the index over MachinePools to the cache of a management cluster, before it starts. It is called once
// for a manager, whatever number of controllers use it: a cache refuses a second index of one name.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &clusterv1.MachinePool{}, PoolField, PoolKeys); err != nil {
		return fmt.Errorf("index MachinePools by provider ID: %w", err)
	}
	return nil
}

// PoolKeys extracts the values of PoolField from a MachinePool.
func PoolKeys(o client.Object) []string {
	pool, ok := o.(*clusterv1.MachinePool)
	if !ok {
		return nil
	}
	cluster := client.ObjectKey{Namespace: pool.Namespace, Name: pool.Spec.ClusterName}
	keys := Keys(pool.Spec.ProviderIDList)
	for i := range keys {
		keys[i] = poolKey(cluster, keys[i])
	}
	return keys
}

// Keys are the provider keys of a list of provider IDs in its order, each once; IDs that name no instance are left out.
func Keys(providerIDs []string) []string {
	keys := make([]string, 0, len(providerIDs))
	seen := make(map[string]bool, len(providerIDs))
	for _, id := range providerIDs {
		key := cloud.ProviderKey(id)
		if key == "" || seen[key] {
			continue
		}
		seen[key] = true
		keys = append(keys, key)
	}
	return keys
}

// PoolClaim is the value of OwnerField for the Nodes that a MachinePool has claimed by annotation.
func PoolClaim(pool client.ObjectKey) string { return pool.Namespace + "/" + pool.Name }

// poolKey joins a cluster and a provider key into one value: two clusters may well hold equal provider IDs.
func poolKey(cluster client.ObjectKey, key string) string {
	return cluster.Namespace + "/" + cluster.Name + " " + key
}

func nodeKeys(o client.Object) []string {
	node, ok := o.(*corev1.Node)
	if !ok {
		return nil
	}
	key := cloud.ProviderKey(node.Spec.ProviderID)
	if key == "" {
		return nil
	}
	return []string{key}
}

func nodeOwners(o client.Object) []string {
	owner, ok := OwnerOf(o)
	if !ok {
		return nil
	}
	return []string{PoolClaim(owner)}
}

// OwnerOf is the MachinePool that a Node is annotated to belong to.
func OwnerOf(node client.Object) (client.ObjectKey, bool) {
	a := node.GetAnnotations()
	if a[clusterv1.OwnerKindAnnotation] != OwnerKindMachinePool || a[clusterv1.OwnerNameAnnotation] == "" {
		return client.ObjectKey{}, false
	}
	return client.ObjectKey{Namespace: a[clusterv1.ClusterNamespaceAnnotation], Name: a[clusterv1.OwnerNameAnnotation]}, true
}
