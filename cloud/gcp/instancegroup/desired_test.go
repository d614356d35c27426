package instancegroup_test

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// TestFailedLookupBesideItsTemplate holds that a look-up which fails for now is an error of the look as long as there is no group, also
// when there is a template: it is made again soon, and the group created then.
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

// TestCreatedWithoutAnotherLookup holds that a template and a group are created by one request each: what machines offer was looked up
// before. A look-up that is denied, and made again each time, would take what a small rate budget has for the step.
func TestCreatedWithoutAnotherLookup(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		denied := sim.Fault{Kind: sim.ErrorBefore, Action: "machineTypes.get", Code: "forbidden", Status: http.StatusForbidden}
		if err := w.cloud.Faults().Add(denied); err != nil {
			w.Fatal(err)
		}
		for _, c := range []struct {
			step pool.StepKind
			want string
		}{{pool.PutTemplate, "instanceTemplates.insert"}, {pool.CreateGroup, "instanceGroupManagers.insert"}} {
			step := pool.Step{Kind: c.step, Size: 2, Template: w.observe().Latest().Ref}
			if sent := w.calls.during(func() { w.start(step) }); !slices.Equal(sent, []string{c.want}) {
				w.Errorf("%s: want one request, %s, got %v", c.step, c.want, sent)
			}
		}
	})
}
