package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// Look observes and decides as Run does, and begins nothing: what Run would do next stands in the outcome's plan. It
// remembers nothing either, so that it neither waits for a back-off nor causes one. How old an observation may be is said
// by the facts' target.
func (e *Engine[S]) Look(ctx context.Context, f Input[S], n Nodes) Outcome {
	m := newMemory().of(f.Target.Owner.ID, generations{all: f.Generation}, false)
	return e.searched(ctx, &f, n, m, e.look(ctx, f, n, m))
}

// formerNodes returns the names of the Ready Nodes of a deleted group's instances, if the instances of a new group would get their IDs. A
// workload cluster that can't be reached keeps no group from being created.
func formerNodes[S any](ctx context.Context, f Input[S], o pool.Observed, n Nodes) []string {
	below := cloud.ProviderKey(o.InstancesBelow)
	if o.Group != nil || f.Desired.Deleting || below == "" || f.KnownIDs == nil {
		return nil
	}
	var keys []string
	for _, key := range f.KnownIDs() {
		if strings.HasPrefix(key, below+"/") {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	nodes, err := n.Find(ctx, keys)
	if err != nil {
		return nil
	}
	var ready []string
	for _, key := range keys {
		if node, ok := nodes[key]; ok && node.Ready {
			ready = append(ready, node.Name)
		}
	}
	slices.Sort(ready)
	return ready
}
