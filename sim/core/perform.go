package core

import (
	"context"
	"errors"
	"time"

	"github.com/muster-project/muster/sim"
)

// Operation is a decoded request to a world; A is the type of its answer.
type Operation[W World, A any] struct {
	// World is the name of the world.
	World string
	// Fields are the request's fields, for faults that ignore some of them; nil is none.
	Fields Fields
	// Admit returns an error if the caller is not authorized.
	Admit func(W) error
	// Run executes the operation.
	Run func(W) (A, error)
	// Whole reports a write that no fault ignores; nil means none.
	Whole func(W) bool
	// Idle changes the answer of a trial run to that of a write without effect; nil leaves it as it is.
	Idle func(world, trial W, answer A) A
	// Until returns the time at which the operation has to be run again for an answer that is not final yet, the zero time for a final one;
	// nil means that all answers are final.
	Until func(A) time.Time
}

// Errors creates a cloud's errors for requests that are not executed.
type Errors interface {
	// Throttle returns the error of a request that exceeds a rate limit, nil for one within it.
	Throttle() error
	// Throttled returns the error for a request that a fault throttles.
	Throttled(sim.Fault) error
	// Failed returns the error of a fault.
	Failed(sim.Fault) error
}

// Answer runs the operation of a request, with the active faults. drop is true if the connection is closed without a response.
func Answer[W World, A any](ctx context.Context, c *Cloud[W], t *Trace, errs Errors, op Operation[W, A]) (out A, drop bool, err error) {
	asked := t.Asked
	if op.Fields != nil {
		asked.Has = op.Fields.Has
	}
	faults := c.Faults().ForRequest(asked)
	return Play(ctx, t, faults, errs, func() (A, error) {
		for {
			out, err := perform(c, op, t.Asked.Mutating, faults)
			if err != nil || op.Until == nil || op.Until(out).IsZero() {
				return out, err
			}
			if !wait(ctx, time.Until(op.Until(out))) {
				return out, sim.ErrDropped
			}
		}
	})
}

// Play runs do, with faults before and after it. drop is true if the connection is closed without a response.
func Play[A any](ctx context.Context, t *Trace, faults []sim.Fault, errs Errors, do func() (A, error)) (out A, drop bool, err error) {
	if drop, err := t.before(ctx, faults, errs); drop || err != nil {
		return out, drop, err
	}
	if err := errs.Throttle(); err != nil {
		return out, false, err
	}
	done, err := do()
	if errors.Is(err, sim.ErrDropped) {
		return out, true, nil
	}
	if drop, failed := after(faults, errs); drop || failed != nil {
		return out, drop, failed
	}
	return done, false, err
}

// perform runs an operation on the current world, or on an earlier one if a fault makes a read stale.
func perform[W World, A any](c *Cloud[W], op Operation[W, A], mutating bool, faults []sim.Fault) (A, error) {
	var none A
	c.Mu.Lock()
	defer c.Mu.Unlock()
	f, _ := FaultOf(faults, sim.PageLimit)
	w, now, err := c.enter(op.World, f.Limit)
	if err != nil {
		return none, err
	}
	if err := op.Admit(w); err != nil {
		return none, err
	}
	if mutating {
		w.Touch()
		out, err := write(c, op, w, now, faults)
		if err := c.settle(now, true); err != nil {
			return none, err
		}
		return out, err
	}
	if stale, found := FaultOf(faults, sim.Stale); found {
		if w, err = c.AsOf(op.World, now.Add(-time.Duration(stale.Delay)), stale.Writes); err != nil {
			return none, err
		}
		w.Enter(now, f.Limit)
	}
	return op.Run(w)
}

// write runs an operation that changes something, or what faults leave of it. What is ignored is checked as ever, and refused if it is
// wrong.
func write[W World, A any](c *Cloud[W], op Operation[W, A], w W, now time.Time, faults []sim.Fault) (A, error) {
	all, fields := ignored(faults)
	if !all && len(fields) == 0 || op.Whole != nil && op.Whole(w) {
		return op.Run(w)
	}
	var none A
	trial, err := c.AsOf(op.World, now, 0)
	if err != nil {
		return none, err
	}
	trial.Enter(now, 0)
	out, err := op.Run(trial)
	if err != nil {
		return none, err
	}
	if !all {
		if err := op.Fields.Drop(fields); err != nil {
			return none, err
		}
		if rest, err := op.Run(w); err == nil {
			return rest, nil
		}
		// Nothing is left of the request that makes sense alone.
	}
	if op.Idle != nil {
		out = op.Idle(w, trial, out)
	}
	return out, nil
}
