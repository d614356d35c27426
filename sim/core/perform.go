package core

import (
	"context"
	"errors"
	"time"

	"github.com/muster-project/muster/sim"
)

// Operation is what a request asks of a world, as its cloud has read it; an A is the answer.
type Operation[W World, A any] struct {
	// World is the name of the world.
	World string
	// Fields are what the request says, for faults that ignore some of it; nil is nothing.
	Fields Fields
	// Admit rejects what the caller may not do.
	Admit func(W) error
	// Run carries the operation out.
	Run func(W) (A, error)
	// Whole reports a write that no fault ignores; nil means none.
	Whole func(W) bool
	// Idle makes the answer of a trial that of a write of which nothing was done; nil leaves it as it is.
	Idle func(world, trial W, answer A) A
	// Until returns when the operation is to be run again for an answer that has to wait, the zero time for one that is final; nil means
	// that all are.
	Until func(A) time.Time
}

// Errors are a cloud's own for what happens to a request before it is carried out.
type Errors interface {
	// Throttle returns the error of a request that exceeds a limit, nil for one that takes its share.
	Throttle() error
	// Throttled returns the error for a request that a fault throttles.
	Throttled(sim.Fault) error
	// Failed returns the error of a fault.
	Failed(sim.Fault) error
}

// Answer runs the operation that a request asks for, with the faults in force. drop is true if the client gets no answer.
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

// Play returns what do does, with faults before and after it. drop is true if the client gets no answer.
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

// perform runs an operation on the world as it is, or as it was where a fault makes a read a stale one.
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
