// Package control holds what every controller of Muster is built of. The steps of a reconciliation run in order, and their results are
// joined: a step reads, derives or writes one part of an object's state and returns at once, it never waits. The queue takes what a user
// waits for before what is only looked after, on controller-runtime's priority queue. A pass has a span, which its logs name. A conflict of
// an optimistic write, which the next pass resolves, is distinguished from other errors.
package control

import (
	"context"
	"errors"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
)

// Result is the outcome of a step. The zero value continues with the next step. A failed step does not prevent the others from running.
type Result struct {
	// Err is returned to controller-runtime after the last step.
	Err error
	// After is the time until the next reconciliation; 0 requests none.
	After time.Duration
	// Stopped is true if no further step runs.
	Stopped bool
}

// Continue returns the result of a step that has nothing to wait for.
func Continue() Result { return Result{} }

// RequeueAfter returns the result of a step after which the object is reconciled again within a duration; 0 is the same as Continue.
func RequeueAfter(after time.Duration) Result { return Result{After: after} }

// Stop returns the result of a step after which no other step runs. The object is reconciled again after a duration; 0 requests none.
func Stop(after time.Duration) Result { return Result{After: after, Stopped: true} }

// Failed returns the result of a step that failed; a nil error is the same as Continue.
func Failed(err error) Result { return Result{Err: err} }

// Require returns the result of a step that later steps rest on: an error stops the reconciliation.
func Require(err error) Result { return Result{Err: err, Stopped: err != nil} }

// Join returns the result of two steps: all errors, and the earlier time of the next reconciliation.
func (r Result) Join(next Result) Result {
	return Result{Err: errors.Join(r.Err, next.Err), After: Earliest(r.After, next.After), Stopped: r.Stopped || next.Stopped}
}

// Reconcile returns what controller-runtime expects of a reconciler. After an error controller-runtime backs off by itself.
func (r Result) Reconcile() (ctrl.Result, error) {
	if r.Err != nil {
		return ctrl.Result{}, r.Err
	}
	return ctrl.Result{RequeueAfter: r.After}, nil
}

// Earliest returns the shorter of two delays, where 0 means none.
func Earliest(a, b time.Duration) time.Duration {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	default:
		return min(a, b)
	}
}

// Step is one part of a reconciliation. P is the state that the steps of one reconciliation share.
type Step[P any] func(ctx context.Context, pass P) Result

// Run runs steps in order until one stops the reconciliation, and returns the joined result.
func Run[P any](ctx context.Context, pass P, all []Step[P]) Result {
	joined := Continue()
	for _, step := range all {
		joined = joined.Join(step(ctx, pass))
		if joined.Stopped {
			break
		}
	}
	return joined
}
