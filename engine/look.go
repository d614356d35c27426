package engine

import "context"

// Look observes and decides as Run does, and begins nothing: what Run would do next stands in the outcome's plan. It
// remembers nothing either, so that it neither waits for a back-off nor causes one. How old an observation may be is said
// by the facts' target.
func (e *Engine[S]) Look(ctx context.Context, f Input[S], n Nodes) Outcome {
	return e.look(ctx, f, n, newMemory().of(f.Target.Owner.ID, f.Generation, "", false))
}
