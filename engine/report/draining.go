package report

import (
	"slices"

	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/undrainable"
)

// draining says which nodes are being drained, and what keeps their pods; it is absent while none is. What waits for a drain comes before
// the drain itself.
func draining(f facts) *Condition {
	for _, cause := range slices.Backward(f.out.Plan.Waiting) {
		if cause.Reason == undrainable.Quarantined || cause.Reason == "Draining" || cause.Reason == pool.DrainBlocked {
			return &Condition{Draining, True, cause.Reason, cause.Message}
		}
	}
	return nil
}

// blocked returns what keeps a drain from ending; empty if nothing does.
func blocked(f facts) string {
	if c := draining(f); c != nil && (c.Reason == pool.DrainBlocked || c.Reason == undrainable.Quarantined) {
		return c.Message
	}
	return ""
}
