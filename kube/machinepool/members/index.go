package members

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/labels/format"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// poolField is the index over Machines and infrastructure machines by the pool that their labels name. Without it a cache scans every
// Machine of the namespace to find those of one pool.
const poolField = "muster.dev/memberOfPool"

// poolOf extracts the values of poolField.
func poolOf(o client.Object) []string {
	labels := o.GetLabels()
	cluster, pool := labels[clusterv1.ClusterNameLabel], labels[clusterv1.MachinePoolNameLabel]
	if cluster == "" || pool == "" {
		return nil
	}
	return []string{cluster + "/" + pool}
}

// Index adds the index by pool to kinds, once each: a cache rejects a second index of one name.
type Index struct {
	indexer client.FieldIndexer
	mu      sync.Mutex
	done    map[schema.GroupVersionKind]bool
}

// NewIndex returns an Index that has been added to no kind.
func NewIndex(indexer client.FieldIndexer) *Index {
	return &Index{indexer: indexer, done: map[schema.GroupVersionKind]bool{}}
}

// Add adds the index to one kind. Its objects may be in the cache already. A nil Index adds nothing.
func (i *Index) Add(ctx context.Context, gvk schema.GroupVersionKind, o client.Object) error {
	if i == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.done[gvk] {
		return nil
	}
	if err := i.indexer.IndexField(ctx, o, poolField, poolOf); err != nil {
		return fmt.Errorf("index the objects of kind %s by pool: %w", gvk.Kind, err)
	}
	i.done[gvk] = true
	return nil
}

// selecting returns the options that select the Machines and infrastructure machines of a pool: by the index if there is one, otherwise by
// labels.
func (i *Index) selecting(pool *clusterv1.MachinePool) []client.ListOption {
	named := client.MatchingLabels{
		clusterv1.ClusterNameLabel:     pool.Spec.ClusterName,
		clusterv1.MachinePoolNameLabel: format.MustFormatValue(pool.Name),
	}
	all := []client.ListOption{client.InNamespace(pool.Namespace), client.UnsafeDisableDeepCopy}
	if i == nil {
		return append(all, named)
	}
	return append(all, client.MatchingFields{poolField: named[clusterv1.ClusterNameLabel] + "/" + named[clusterv1.MachinePoolNameLabel]})
}
