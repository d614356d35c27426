package partstest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/muster-project/muster/kube/control"
)

var errFirst, errSecond = errors.New("first"), errors.New("second")

func TestRun(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		why     string
		results []control.Result
		ran     []int
		after   time.Duration
		errs    []error
	}{
		{"no step has anything to wait for", []control.Result{control.Continue(), control.RequeueAfter(0), control.Failed(nil)},
			[]int{0, 1, 2}, 0, nil},
		{"the earliest time counts", []control.Result{control.RequeueAfter(time.Minute), control.Continue(), control.RequeueAfter(time.Second),
			control.RequeueAfter(time.Hour)}, []int{0, 1, 2, 3}, time.Second, nil},
		{"a failed step does not prevent the others, and no error is lost",
			[]control.Result{control.Failed(errFirst), control.RequeueAfter(time.Second), control.Failed(errSecond)}, []int{0, 1, 2}, 0,
			[]error{errFirst, errSecond}},
		{"no step runs after one that stops",
			[]control.Result{control.RequeueAfter(time.Minute), control.Stop(time.Second), control.Failed(errFirst)},
			[]int{0, 1}, time.Second, nil},
		{"a step can stop without a next time", []control.Result{control.Stop(0), control.Failed(errFirst)}, []int{0}, 0, nil},
	} {
		var ran []int
		var all []control.Step[*[]int]
		for n, result := range tc.results {
			all = append(all, func(_ context.Context, pass *[]int) control.Result {
				*pass = append(*pass, n)
				return result
			})
		}
		got, err := control.Run(t.Context(), &ran, all).Reconcile()
		if !slices.Equal(ran, tc.ran) || got.RequeueAfter != tc.after || (err == nil) != (tc.errs == nil) {
			t.Errorf("%s: want steps %v, next after %s, errors %v; got %v, %s, %v", tc.why, tc.ran, tc.after, tc.errs, ran, got.RequeueAfter, err)
		}
		for _, want := range tc.errs {
			if !errors.Is(err, want) {
				t.Errorf("%s: want the error %q, got %v", tc.why, want, err)
			}
		}
	}
}

func TestRequire(t *testing.T) {
	t.Parallel()
	if got := control.Require(nil); got != control.Continue() {
		t.Errorf("want a step without an error to continue, got %+v", got)
	}
	lost := errFirst
	if got := control.Require(lost); !got.Stopped || !errors.Is(got.Err, lost) {
		t.Errorf("want an error to stop the reconciliation, got %+v", got)
	}
}
