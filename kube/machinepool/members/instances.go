package members

import (
	"context"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/nodes"
)

// InstanceKey returns the key of the instance that a provider ID names, or the ID itself if it has no key.
func InstanceKey(providerID string) string {
	if key := cloud.ProviderKey(providerID); key != "" {
		return key
	}
	return providerID
}

// DistinctInstances returns the provider IDs that name different instances, in their order. Empty IDs are left out.
func DistinctInstances(providerIDs []string) []string {
	seen := make(map[string]bool, len(providerIDs))
	var all []string
	for _, id := range providerIDs {
		key := InstanceKey(id)
		if id == "" || seen[key] {
			continue
		}
		seen[key] = true
		all = append(all, id)
	}
	return all
}

// SameInstances reports whether two lists name the same instances in any order. A list that names an instance twice differs from one that
// names it once. Lists are nearly always equal without sorting.
func SameInstances(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	return slices.Equal(a, b) || slices.Equal(sortedKeys(a), sortedKeys(b))
}

func sortedKeys(ids []string) []string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = InstanceKey(id)
	}
	slices.Sort(all)
	return all
}

// ListedInstances returns the keys of the instances that a pool lists.
func ListedInstances(pool *clusterv1.MachinePool) map[string]bool {
	all := make(map[string]bool, len(pool.Spec.ProviderIDList))
	for _, id := range pool.Spec.ProviderIDList {
		all[InstanceKey(id)] = true
	}
	return all
}

// UnclaimedInstances returns the provider IDs without those of instances that another pool of the cluster already lists, and describes the
// latter with that pool. Admission rejects an instance in two lists, and two pools would manage one Node. Instances that the pool lists
// itself stay. Pools that are being deleted do not count.
func UnclaimedInstances(ctx context.Context, r client.Reader, pool *clusterv1.MachinePool, providerIDs []string) (
	unclaimed, elsewhere []string, err error) {
	cluster := client.ObjectKey{Namespace: pool.Namespace, Name: pool.Spec.ClusterName}
	listed := ListedInstances(pool)
	for _, id := range providerIDs {
		if listed[InstanceKey(id)] {
			unclaimed = append(unclaimed, id)
			continue
		}
		others, err := nodes.Listing(ctx, r, cluster, InstanceKey(id))
		if err != nil {
			return nil, nil, err
		}
		others = slices.DeleteFunc(others, func(o *clusterv1.MachinePool) bool { return o.Name == pool.Name || !o.DeletionTimestamp.IsZero() })
		if len(others) == 0 {
			unclaimed = append(unclaimed, id)
			continue
		}
		// A cache returns the pools in any order, and the condition must not change with it.
		first := slices.MinFunc(others, func(a, b *clusterv1.MachinePool) int { return strings.Compare(a.Name, b.Name) })
		elsewhere = append(elsewhere, id+" (MachinePool "+first.Name+")")
	}
	return unclaimed, elsewhere, nil
}
