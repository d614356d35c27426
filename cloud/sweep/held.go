package sweep

import (
	"context"
	"errors"
	"time"

	"github.com/muster-project/muster/cloud"
)

// held is a call that a rate budget has held back.
type held struct {
	// refusal is the error of the call, nil if none was held back; until is when its place in line comes, priority what it was called with.
	refusal  *cloud.Error
	until    time.Time
	priority cloud.Priority
}

// fails notes that the round did not read a key, and the place in line that its call got. The lock is held.
func (r *round[V]) fails(key string, err error) {
	r.failed[key] = err
	var refusal *cloud.Error
	if cloud.CodeOf(err) == cloud.CodeClientRateLimited && errors.As(err, &refusal) {
		r.s.entry(key).held = held{refusal: refusal, until: r.s.o.Now().Add(refusal.After), priority: r.priority}
	}
}

// turnFor is the time for which a place in line is kept for requests that were held back: where a pass asks twice, and the first time
// without need to wait, the first request would take the place of the second one each time.
const turnFor = time.Second

// wait returns an error for a request while an earlier call for the same key waits for its place in line: one call answers all that come by
// then, and each of them would get a place of its own. It returns nil for a request that is more urgent.
func (h held) wait(ctx context.Context, now time.Time) error {
	until := h.until
	if !cloud.HasTurn(ctx) {
		until = until.Add(turnFor)
	}
	if h.refusal == nil || !now.Before(until) || cloud.PriorityOf(ctx) < h.priority {
		return nil
	}
	copied := *h.refusal
	copied.After = until.Sub(now)
	return &copied
}
