package instancegroup_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// TestFailedLookupBesideItsTemplate holds that a look-up which fails for now is an error of the look as long as there is no group, also when there
// is a template: it is made again soon, and the group created then.
func TestFailedLookupBesideItsTemplate(t *testing.T) {
	for name, failing := range map[string]sim.Fault{
		"throttled": {Kind: sim.ErrorBefore, Action: "machineTypes.get", Code: "rateLimitExceeded", Status: http.StatusForbidden},
		"no answer": {Kind: sim.ErrorBefore, Action: "machineTypes.get", Status: http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, []string{zone}, func(w *world) {
				w.start(pool.Step{Kind: pool.PutTemplate})
				if err := w.cloud.Faults().Add(failing); err != nil {
					w.Fatal(err)
				}
				again, err := newDriver(sim.Transport{Handler: w.cloud})
				if err != nil {
					w.Fatal(err)
				}
				o, err := again.Observe(w.Context(), w.target)
				var complete *cloud.SpecUnsatisfiableError
				if !errors.As(err, &complete) || o.Group != nil || len(o.Versions) != 1 {
					w.Errorf("want an error of the look beside the template, got %v and %+v", err, o)
				}
				w.cloud.Faults().Clear()
				settle()
				if o, err := again.Observe(w.Context(), w.target); err != nil || o.Wanted.Content == "" {
					w.Errorf("want to know afterwards what is wanted, got %v and %+v", err, o)
				}
			})
		})
	}
}
