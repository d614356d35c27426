package webhook

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/nodes"
)

// maxNamedInstances bounds the entries of a list of provider IDs that one error names: a list may hold thousands.
const maxNamedInstances = 5

// instanceKey returns the key of the instance that a provider ID names, in any spelling of the ID.
func instanceKey(id string) string {
	if key := cloud.ProviderKey(id); key != "" {
		return key
	}
	return id
}

func providerIDs() *field.Path { return field.NewPath("spec", "providerIDList") }

// duplicates returns an error for an instance that a pool lists more often than before: it would be counted twice. Controllers write this
// list, and Muster's writes each instance once.
func duplicates(old, pool *clusterv1.MachinePool) field.ErrorList {
	was := map[string]int{}
	if old != nil {
		if slices.Equal(old.Spec.ProviderIDList, pool.Spec.ProviderIDList) {
			return nil
		}
		for _, id := range old.Spec.ProviderIDList {
			was[instanceKey(id)]++
		}
	}
	var errs field.ErrorList
	first, count := map[string]int{}, map[string]int{}
	for i, id := range pool.Spec.ProviderIDList {
		key := instanceKey(id)
		if count[key]++; count[key] == 1 {
			first[key] = i
			continue
		}
		if count[key] > was[key] && len(errs) < maxNamedInstances {
			errs = append(errs, field.Invalid(providerIDs().Index(i), id,
				fmt.Sprintf("names the same instance as %s", providerIDs().Index(first[key]))))
		}
	}
	return errs
}

// overlaps refuses an instance that a pool begins to list while another pool of its cluster does: its node would count for
// both. The pool that lists it first keeps it; one that is being deleted keeps nothing. Entries from before are let
// through, so that neither pool is stuck when it happened all the same: two writes at one moment do not see each other.
func (v poolValidator) overlaps(ctx context.Context, old, pool *clusterv1.MachinePool) (field.ErrorList, error) {
	listed := map[string]bool{}
	for _, id := range old.Spec.ProviderIDList {
		listed[instanceKey(id)] = true
	}
	var errs field.ErrorList
	for i, id := range pool.Spec.ProviderIDList {
		if listed[instanceKey(id)] || len(errs) >= maxNamedInstances {
			continue
		}
		other, err := v.lister(ctx, pool, id)
		if err != nil {
			return errs, err
		}
		if other != "" {
			errs = append(errs, field.Invalid(providerIDs().Index(i), id,
				fmt.Sprintf("is an instance of MachinePool %s: an instance belongs to one pool of its cluster", other)))
		}
	}
	return errs, nil
}

// lister is the name of another pool of the cluster that lists an instance, or nothing.
func (v poolValidator) lister(ctx context.Context, pool *clusterv1.MachinePool, id string) (string, error) {
	probe := &clusterv1.MachinePool{}
	probe.Namespace, probe.Spec.ClusterName, probe.Spec.ProviderIDList = pool.Namespace, pool.Spec.ClusterName, []string{id}
	for _, key := range nodes.PoolKeys(probe) {
		list := &clusterv1.MachinePoolList{}
		err := v.reader.List(ctx, list, client.InNamespace(pool.Namespace), client.MatchingFields{nodes.PoolField: key},
			client.UnsafeDisableDeepCopy)
		if err != nil {
			return "", fmt.Errorf("look up the pools of %s: %w", id, err)
		}
		for i := range list.Items {
			if other := &list.Items[i]; other.Name != pool.Name && other.DeletionTimestamp.IsZero() {
				return other.Name, nil
			}
		}
	}
	return "", nil
}
