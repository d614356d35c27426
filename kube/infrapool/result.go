package infrapool

import (
	"errors"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
)

// result is how a step ended: continue, reconcile again after a while, stop the pass, or failed. A failed step stops the pass only with stop.
type result struct {
	err   error
	again time.Duration
	stop  bool
}

func proceed() result                  { return result{} }
func again(after time.Duration) result { return result{again: after} }
func stop(after time.Duration) result  { return result{again: after, stop: true} }
func failed(err error) result          { return result{err: err} }

// need stops the pass if there is an error: the steps after it rest on what this one gathers.
func need(err error) result { return result{err: err, stop: err != nil} }

// join returns the result of two steps: all errors, and the earlier time to reconcile again.
func (r result) join(next result) result {
	return result{err: errors.Join(r.err, next.err), again: earlier(r.again, next.again), stop: r.stop || next.stop}
}

// ctrl returns the result for controller-runtime.
func (r result) ctrl() (ctrl.Result, error) { return ctrl.Result{RequeueAfter: r.again}, r.err }

// earlier returns the shorter of two delays, of which zero is none.
func earlier(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
