package partstest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/muster-project/muster/kube/steps"
)

var errFirst, errSecond = errors.New("first"), errors.New("second")

func TestRun(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		why     string
		results []steps.Result
		ran     []int
		after   time.Duration
		errs    []error
	}{
		{"no step has anything to wait for", []steps.Result{steps.Continue(), steps.RequeueAfter(0), steps.Failed(nil)}, []int{0, 1, 2}, 0, nil},
		{"the earliest time counts", []steps.Result{steps.RequeueAfter(time.Minute), steps.Continue(), steps.RequeueAfter(time.Second),
			steps.RequeueAfter(time.Hour)}, []int{0, 1, 2, 3}, time.Second, nil},
		{"a failed step does not prevent the others, and no error is lost",
			[]steps.Result{steps.Failed(errFirst), steps.RequeueAfter(time.Second), steps.Failed(errSecond)}, []int{0, 1, 2}, 0,
			[]error{errFirst, errSecond}},
		{"no step runs after one that stops", []steps.Result{steps.RequeueAfter(time.Minute), steps.Stop(time.Second), steps.Failed(errFirst)},
			[]int{0, 1}, time.Second, nil},
		{"a step can stop without a next time", []steps.Result{steps.Stop(0), steps.Failed(errFirst)}, []int{0}, 0, nil},
	} {
		var ran []int
		var all []steps.Step[*[]int]
		for n, result := range tc.results {
			all = append(all, func(_ context.Context, pass *[]int) steps.Result {
				*pass = append(*pass, n)
				return result
			})
		}
		got, err := steps.Run(t.Context(), &ran, all).Reconcile()
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
	if got := steps.Require(nil); got != steps.Continue() {
		t.Errorf("want a step without an error to continue, got %+v", got)
	}
	lost := errFirst
	if got := steps.Require(lost); !got.Stopped || !errors.Is(got.Err, lost) {
		t.Errorf("want an error to stop the reconciliation, got %+v", got)
	}
}
