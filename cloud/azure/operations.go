package azure

import (
	"context"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// maxOperations bounds the stored operations: only the last ones are ever polled.
const maxOperations = 5

// operations are the long-running operations that Muster began on the scale set, and what became of them.
type operations struct {
	// list are those whose end was not observed. The last of them was begun at the moment begun.
	list  []pool.Operation
	begun time.Time
	// adopted is true if the operations that the object remembers were added to the list.
	adopted bool
	// growFailed and deleteFailed are when it was first observed that Azure gave up creating machines, or deleting the scale set; zero
	// when it did not.
	growFailed, deleteFailed time.Time
	// deleting is true if the last operation is the scale set's deletion.
	deleting bool
}

// add adds an operation that was begun now.
func (o *operations) add(operation pool.Operation, now time.Time) {
	list := append(o.list, operation)
	o.list, o.begun = list[max(0, len(list)-maxOperations):], now
}

// observe derives from a read of the scale set when operations were given up, and that they have ended. The first call adds the operations
// that the object remembers.
func (o *operations) observe(read setRead, remembered []pool.Operation, now time.Time) {
	if !o.adopted {
		o.adopted = true
		o.list = append(slices.Clone(remembered), o.list...)
	}
	switch state := stateOf(read.is); {
	case state == stateSucceeded:
		if now.Sub(o.begun) >= visibleWithin {
			o.list, o.deleting = nil, false
		}
		o.growFailed, o.deleteFailed = time.Time{}, time.Time{}
	case gaveUp(state):
		o.growFailed = since(o.growFailed, now, read.lacking())
		o.deleteFailed = since(o.deleteFailed, now, o.deleting)
	}
}

// end ends all operations: the scale set does not exist.
func (o *operations) end() {
	*o = operations{begun: o.begun, adopted: o.adopted}
}

// unsettled reports whether Azure gave up creating machines, or an operation was begun, so recently that the list of machines may be older:
// a capacity that is lowered to what the list shows could terminate one.
func (o *operations) unsettled(now time.Time) bool {
	return now.Sub(o.growFailed) < visibleWithin || now.Sub(o.begun) < visibleWithin
}

// issues asks in one request why the last operation failed, whether Muster or the object remembers it. It is false when there was no
// answer.
func (o *operations) issues(ctx context.Context, c *session.Session, now time.Time) ([]pool.Cause, bool) {
	last := len(o.list) - 1
	if last < 0 {
		return nil, true
	}
	outcome, err := c.Poll(ctx, o.list[last].Token, now)
	switch {
	case err != nil && cloud.KindOf(err) != cloud.Throttled && cloud.KindOf(err) != cloud.Unavailable:
		// What Azure can't answer now it never can.
		o.list = o.list[:last]
		return nil, true
	case err != nil || !outcome.Done:
		return nil, false
	case outcome.Failed == nil:
		o.list = o.list[:last]
		return nil, true
	}
	return []pool.Cause{driverkit.FailureOf(outcome.Failed)}, true
}

// since returns when something was first observed that is so now; zero when it is not.
func since(before, now time.Time, is bool) time.Time {
	switch {
	case !is:
		return time.Time{}
	case before.IsZero():
		return now
	default:
		return before
	}
}
