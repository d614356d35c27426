package server

import (
	"context"
	"errors"
	"time"

	"github.com/muster-project/muster/sim"
)

// Held is what an operation runs on: all that a cloud holds, or the part of it that the request names.
type Held interface {
	// Enter sets the time of the operation, and how many items a page of its answer may hold; zero is no limit but the operation's own.
	Enter(now time.Time, pageLimit int)
	// Touch notes that the operation may change something.
	Touch()
}

// Operation is what a request asks of what is held.
type Operation[W Held, A any] interface {
	// Find returns what the operation runs on.
	Find() (W, error)
	// AsOf returns it as it was at a time, or before so many writes. It is not written to.
	AsOf(held W, at time.Time, writes int) (W, error)
	// Admit rejects what the caller may not do.
	Admit(held W) error
	// Write runs an operation that changes something, or what the faults leave of it.
	Write(held W, faults []sim.Fault) (A, error)
	// Read runs an operation that changes nothing.
	Read(held W) (A, error)
}

// Perform runs an operation on what the cloud holds, or held where a fault makes a read a stale one.
func Perform[W Held, A any](b *Base, op Operation[W, A], mutating bool, faults []sim.Fault) (A, error) {
	var none A
	b.Mu.Lock()
	defer b.Mu.Unlock()
	if b.closed {
		return none, sim.ErrClosed
	}
	held, err := op.Find()
	if err != nil {
		return none, err
	}
	now := time.Now()
	if err := b.settle(now, false); err != nil {
		return none, err
	}
	f, _ := FaultOf(faults, sim.PageLimit)
	held.Enter(now, f.Limit)
	if err := op.Admit(held); err != nil {
		return none, err
	}
	if mutating {
		held.Touch()
		out, err := op.Write(held, faults)
		if err := b.settle(now, true); err != nil {
			return none, err
		}
		return out, err
	}
	if stale, found := FaultOf(faults, sim.Stale); found {
		if held, err = op.AsOf(held, now.Add(-time.Duration(stale.Delay)), stale.Writes); err != nil {
			return none, err
		}
		held.Enter(now, f.Limit)
	}
	return op.Read(held)
}

// ByHand does something to what a cloud holds as its user would by other means: no request, no token, no limit and no fault is in the way.
func ByHand[W Held](b *Base, find func() (W, error), do func(W) error) error {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	if b.closed {
		return sim.ErrClosed
	}
	held, err := find()
	if err != nil {
		return err
	}
	now := time.Now()
	if err := b.settle(now, false); err != nil {
		return err
	}
	held.Enter(now, 0)
	held.Touch()
	if err := do(held); err != nil {
		return err
	}
	return b.settle(now, true)
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

// Answer returns what perform does, with the faults in force before and after it. drop is true if the client gets no answer.
func Answer[A any](ctx context.Context, t *Trace, faults []sim.Fault, errs Errors,
	perform func() (A, error)) (out A, drop bool, err error) {
	if drop, err := t.before(ctx, faults, errs); drop || err != nil {
		return out, drop, err
	}
	if err := errs.Throttle(); err != nil {
		return out, false, err
	}
	done, err := perform()
	if errors.Is(err, sim.ErrDropped) {
		return out, true, nil
	}
	if drop, failed := after(faults, errs); drop || failed != nil {
		return out, drop, failed
	}
	return done, false, err
}
