package engine

import (
	"context"
	"slices"

	"github.com/muster-project/muster/pool"
)

// Look observes and decides as Run does, and begins nothing: what Run would do next stands in the outcome's plan. It
// remembers nothing either, so that it neither waits for a back-off nor causes one. How old an observation may be is said
// by the facts' target.
func (e *Engine[S]) Look(ctx context.Context, f Input[S], n Nodes) Outcome {
	return e.look(ctx, f, n, newMemory().of(f.Target.Owner.ID, f.Generation, "", false))
}

// formerNodes returns the Nodes that are still Ready of instances of a group that does not exist any more, where those of a new one get their IDs. A
// workload cluster that can't be asked keeps no group from being created.
func formerNodes[S any](ctx context.Context, f Input[S], o pool.Observed, n Nodes) []string {
	if o.Group != nil || f.Desired.Deleting || len(f.FormerIDs) == 0 {
		return nil
	}
	nodes, err := n.Find(ctx, f.FormerIDs)
	if err != nil {
		return nil
	}
	var ready []string
	for _, node := range nodes {
		if node.Ready {
			ready = append(ready, node.Name)
		}
	}
	slices.Sort(ready)
	return ready
}
