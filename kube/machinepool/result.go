package machinepool

import (
	"errors"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
)

// result is how a step ended: go on, go on and look again after a while, stop the pass, or failed. A step that failed
// does not keep the others from running.
type result struct {
	err   error
	again time.Duration
	stop  bool
}

func goOn() result                     { return result{} }
func again(after time.Duration) result { return result{again: after} }
func stop(after time.Duration) result  { return result{again: after, stop: true} }
func failed(err error) result          { return result{err: err} }

// join is what two steps amount to: all errors, and the earliest time to look again.
func (r result) join(next result) result {
	return result{err: errors.Join(r.err, next.err), again: earliest(r.again, next.again), stop: r.stop || next.stop}
}

// ctrl hands the result to controller-runtime, which backs off by itself after an error.
func (r result) ctrl() (ctrl.Result, error) {
	if r.err != nil {
		return ctrl.Result{}, r.err
	}
	return ctrl.Result{RequeueAfter: r.again}, nil
}

// earliest of two delays, where zero means none.
func earliest(a, b time.Duration) time.Duration {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	default:
		return min(a, b)
	}
}
