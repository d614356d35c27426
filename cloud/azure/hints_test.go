package azure_test

import (
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// kept is the target after its object has been written: with what is to be remembered, and with the operations that go on.
func kept(t azure.Target, o pool.Observed) azure.Target {
	t.Remembered, t.Operations = o.ResolvedLookups, o.Operations
	return t
}

// An operation that was begun by one process and fails under the next is told about in its own words; a hint that leads nowhere is no harm.
func TestHintsSurvive(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		target.FailureDomains = []string{"2"}
		w.create(target, 1)
		w.fault(sim.Fault{Kind: sim.NoCapacity, Zone: "2"})
		w.start(target, pool.Step{Kind: pool.Resize, Size: 2})
		o := w.observe(target)
		if len(o.Operations) == 0 || o.Operations[len(o.Operations)-1].Type != "PATCH" {
			t.Fatalf("want the operation among the hints, got %+v", o.Operations)
		}
		target = kept(target, o)
		w.driver = w.newDriver()
		o = w.observe(target)
		if len(o.Operations) == 0 {
			t.Fatalf("want the hints kept while the operation goes on, got none at %+v", o.Group)
		}
		target = kept(target, o)
		settle()
		w.driver = w.newDriver()
		if o = w.observe(target); issueWith(o, "Capacity", "zone '2'") == nil {
			t.Errorf("want the words of the operation, got %v", o.Issues)
		}
		calls := w.wire.during(func() { o = w.observe(target) })
		if len(calls) != 2 {
			t.Errorf("want the words not asked for again, got %v", calls)
		}
		target.Operations = []pool.Operation{{Type: "PATCH", Resource: "x", Token: `{"token":{"asyncURL":"http://elsewhere.invalid/x"}}`},
			{Type: "PUT", Token: "nonsense"}}
		w.driver = w.newDriver()
		if o = w.observe(target); len(o.Issues) == 0 || o.Group.Size != 1 {
			t.Errorf("want the pool observed all the same, got %+v, issues %v", o.Group, o.Issues)
		}
		w.calm()
		rest(time.Minute)
		w.start(target, pool.Step{Kind: pool.Resize, Size: 2})
		settle()
		if o = w.observe(target); len(o.Operations) > 0 || len(o.Issues) > 0 {
			t.Errorf("want nothing kept once all is well, got %+v, issues %v", o.Operations, o.Issues)
		}
	})
}

// Role assignments that may not be read keep no pool from being looked after, and no object is let go before they are known.
func TestRoleThatMayNotBeRead(t *testing.T) {
	inWorld(t, modes[0], func(t *testing.T, w *world) {
		target := w.systemAssigned()
		o := w.create(target, 1)
		target = kept(target, o)
		w.fault(sim.Fault{Kind: sim.ErrorBefore, Service: "authorization", Code: "AuthorizationFailed", Message: "no", Status: 403})
		w.driver = w.newDriver()
		if o = w.observe(target); issueWith(o, string(cloud.Denied), "AuthorizationFailed") == nil || o.Group == nil || len(o.Instances) != 1 {
			t.Errorf("want the pool seen, and the refusal told, got %+v", o)
		}
		w.start(target, pool.Step{Kind: pool.DeleteGroup})
		settle()
		w.driver = w.newDriver()
		if _, err := w.driver.Observe(t.Context(), target); cloud.KindOf(err) != cloud.Denied || err == nil {
			t.Errorf("want the look refused once the scale set is gone, got %v", err)
		}
	})
}

// A model is not sent without anything to boot with.
func TestNoBootstrapData(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		bare := target
		bare.Bootstrap = cloud.Bootstrap{}
		for _, kind := range []pool.StepKind{pool.CreateGroup, pool.PutTemplate} {
			if err := w.driver.Start(t.Context(), bare, pool.Step{Kind: kind, Size: 1}); err == nil || cloud.KindOf(err) != cloud.Conflict {
				t.Errorf("%s: want a conflict, got %v", kind, err)
			}
			if kind == pool.CreateGroup {
				w.create(target, 1)
			}
		}
		if o := w.observe(bare); o.Wanted != (pool.Template{}) || len(o.Group.Drift) > 0 {
			t.Errorf("want nothing wanted and no drift, got %+v, %v", o.Wanted, o.Group.Drift)
		}
	})
}
