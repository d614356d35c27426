package machinepool

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/labels/format"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// memberField is the index over Machines, and over the infrastructure's objects for single machines, by the pool that their labels
// name. Without it a cache looks at every Machine of the namespace to find those of one pool.
const memberField = "muster.dev/memberOfPool"

// memberOf extracts the value of memberField.
func memberOf(o client.Object) []string {
	labels := o.GetLabels()
	cluster, pool := labels[clusterv1.ClusterNameLabel], labels[clusterv1.MachinePoolNameLabel]
	if cluster == "" || pool == "" {
		return nil
	}
	return []string{cluster + "/" + pool}
}

// membersOf selects the Machines of a pool, and the infrastructure's objects for its single machines.
func (r *Reconciler) membersOf(pool *clusterv1.MachinePool) []client.ListOption {
	named := client.MatchingLabels{
		clusterv1.ClusterNameLabel:     pool.Spec.ClusterName,
		clusterv1.MachinePoolNameLabel: format.MustFormatValue(pool.Name),
	}
	all := []client.ListOption{client.InNamespace(pool.Namespace), client.UnsafeDisableDeepCopy}
	if r.memberIndex == nil {
		return append(all, named)
	}
	return append(all, client.MatchingFields{memberField: named[clusterv1.ClusterNameLabel] + "/" + named[clusterv1.MachinePoolNameLabel]})
}

// memberIndex adds memberField to the kinds that it is asked for, once each: a cache refuses a second index of one name.
type memberIndex struct {
	indexer client.FieldIndexer
	mu      sync.Mutex
	done    map[schema.GroupVersionKind]bool
}

func newMemberIndex(indexer client.FieldIndexer) *memberIndex {
	return &memberIndex{indexer: indexer, done: map[schema.GroupVersionKind]bool{}}
}

// add adds the index of one kind, whose objects may be in the cache already.
func (m *memberIndex) add(ctx context.Context, gvk schema.GroupVersionKind, o client.Object) error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done[gvk] {
		return nil
	}
	if err := m.indexer.IndexField(ctx, o, memberField, memberOf); err != nil {
		return fmt.Errorf("index the objects of kind %s by pool: %w", gvk.Kind, err)
	}
	m.done[gvk] = true
	return nil
}
