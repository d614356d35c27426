package instancegroup_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// TestSurgeIsRecorded holds that the surge is kept beside the size, and used up by removals.
func TestSurgeIsRecorded(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		w.create(2)
		w.start(pool.Step{Kind: pool.UpdateGroup, Planned: pool.PlannedSurge{Surge: 1, Size: 3}})
		o := w.observe()
		if o.Group.Surge != 0 || o.Group.SurgePlanned != (pool.PlannedSurge{Surge: 1, Size: 3}) || len(o.Group.Drift) > 0 {
			w.Errorf("want a surge planned, got %+v", o.Group)
		}
		w.start(pool.Step{Kind: pool.Resize, Size: 3, Surge: 1})
		if o = w.observe(); o.Group.Size != 3 || o.Group.Surge != 1 || o.Group.SurgePlanned != (pool.PlannedSurge{}) {
			w.Errorf("want a surge of one, got %+v", o.Group)
		}
		w.start(pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}})
		if o = w.observe(); o.Group.Size != 2 || o.Group.Surge != 0 || !o.Group.SurgeRecordStale {
			w.Errorf("want the surge used up, got %+v", o.Group)
		}
		again, err := newDriver(sim.Transport{Handler: w.cloud})
		if err != nil {
			w.Fatal(err)
		}
		if o, err = again.Observe(w.Context(), w.target); err != nil || o.Group.Surge != 0 {
			w.Errorf("want it used up for a process that has not begun the removal, got %v and %+v", err, o.Group)
		}
		w.start(pool.Step{Kind: pool.UpdateGroup})
		w.observe()
		time.Sleep(time.Minute)
		if got := w.calls.during(func() { o = w.observe() }); len(got) != 2 || len(o.Instances[0].InPlaceDrift) > 0 {
			w.Errorf("want instances left alone that lack the record, and two reads, got %v, %+v", got, o.Instances)
		}
		if o.Group.SurgeRecordStale || len(o.Group.Drift) > 0 {
			w.Errorf("want the record removed, got %+v", o.Group)
		}
	})
}

// TestSurgeInAGrownGroup holds that a removal uses the surge up also where another client has raised the size since.
func TestSurgeInAGrownGroup(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		w.create(2)
		w.start(pool.Step{Kind: pool.Resize, Size: 3, Surge: 1})
		if err := w.cloud.SetSize(sim.Resource{Name: session.LastName(w.observe().Group.ID), Size: 7}); err != nil {
			w.Fatal(err)
		}
		settle()
		o := w.observe()
		if o.Group.Size != 7 || o.Group.Surge != 1 || !o.Group.SurgeRecordStale {
			w.Errorf("want a surge of one to be recorded with the new size, got %+v", o.Group)
		}
		w.start(pool.Step{Kind: pool.UpdateGroup})
		if o = w.observe(); o.Group.Size != 7 || o.Group.Surge != 1 || o.Group.SurgeRecordStale {
			w.Errorf("want a surge of one recorded, got %+v", o.Group)
		}
		w.start(pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}})
		if o = w.observe(); o.Group.Size != 6 || o.Group.Surge != 0 {
			w.Errorf("want the surge used up, got %+v", o.Group)
		}
	})
}

// TestRemovalBeforeItsRecord holds that a removal uses the surge up also where the autoscaler raises the size before the removal is
// recorded: the instances that it asked for are no surge, and none of them goes.
func TestRemovalBeforeItsRecord(t *testing.T) {
	for reason, faults := range map[string][]sim.Fault{
		"answered":       nil,
		"the reply lost": {{Kind: sim.DropAfter, Action: "*.deleteInstances", Times: 1}},
	} {
		t.Run(reason, func(t *testing.T) { removalBeforeItsRecord(t, faults) })
	}
}

func removalBeforeItsRecord(t *testing.T, faults []sim.Fault) {
	inWorld(t, []string{zone}, func(w *world) {
		w.create(2)
		w.start(pool.Step{Kind: pool.Resize, Size: 3, Surge: 1})
		o := w.observe()
		for _, f := range faults {
			if err := w.cloud.Faults().Add(f); err != nil {
				w.Fatal(err)
			}
		}
		remove := pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}}
		if err := w.driver.Start(w.Context(), w.target, remove); (err != nil) != (len(faults) > 0) {
			w.Fatalf("want an error where the reply is lost, got %v", err)
		}
		settle()
		if err := w.cloud.SetSize(sim.Resource{Name: session.LastName(o.Group.ID), Size: 3}); err != nil {
			w.Fatal(err)
		}
		settle()
		if o = w.observe(); o.Group.Size != 3 || o.Group.Surge != 0 || !o.Group.SurgeRecordStale {
			w.Errorf("want three instances of the autoscaler's and no surge, got %+v", o.Group)
		}
		w.start(pool.Step{Kind: pool.UpdateGroup})
		if o = w.observe(); o.Group.Surge != 0 || o.Group.SurgeRecordStale {
			w.Errorf("want that recorded, got %+v", o.Group)
		}
		w.start(pool.Step{Kind: pool.Resize, Size: 4, Surge: 1})
		if o = w.observe(); o.Group.Size != 4 || o.Group.Surge != 1 {
			w.Errorf("want the next surge counted, got %+v", o.Group)
		}
	})
}

// TestRefusedRemovalLeavesTheSurge holds that a removal which Compute Engine refuses uses nothing of the surge up.
func TestRefusedRemovalLeavesTheSurge(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		w.create(2)
		w.start(pool.Step{Kind: pool.Resize, Size: 3, Surge: 1})
		o := w.observe()
		if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.ErrorBefore, Service: "compute", Action: "*deleteInstances", Status: 503,
			Times: 1}); err != nil {
			w.Fatal(err)
		}
		if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.Remove,
			Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}}); err == nil {
			w.Fatal("want the removal refused")
		}
		if o = w.observe(); o.Group.Size != 3 || o.Group.Surge != 1 || o.Group.SurgeRecordStale {
			w.Errorf("want the surge of one left, got %+v", o.Group)
		}
	})
}

// TestReadsBehindARemoval holds that a removal which reads do not show yet is not asked for again, and that the size from before it is not
// believed beside the instances from after it: what had used the surge up would be taken for a size that another client wants.
func TestReadsBehindARemoval(t *testing.T) {
	for action, check := range map[string]func(w *world, o pool.Observed, err error){
		"*.get": func(w *world, _ pool.Observed, err error) {
			if failed, ok := errors.AsType[*cloud.Error](err); !ok || failed.Code != "RemovalNotShown" || failed.Kind != cloud.Conflict {
				w.Errorf("want the size of before refused, got %v", err)
			}
		},
		"*.listManagedInstances": func(w *world, o pool.Observed, err error) {
			if err != nil || o.Group.Size != 2 || o.Group.Surge != 0 || o.Instances[0].State != pool.Terminating {
				w.Errorf("want the surge used up and the instance going, got %v, %+v, %+v", err, o.Group, o.Instances)
			}
		},
	} {
		t.Run(action, func(t *testing.T) {
			inWorld(t, []string{zone}, func(w *world) {
				w.create(2)
				w.start(pool.Step{Kind: pool.Resize, Size: 3, Surge: 1})
				remove := pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: w.observe().Instances[0].ID}}}
				if err := w.driver.Start(w.Context(), w.target, remove); err != nil {
					w.Fatal(err)
				}
				if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.Stale, Action: action, Writes: 1}); err != nil {
					w.Fatal(err)
				}
				o, err := w.driver.Observe(w.Context(), w.target)
				check(w, o, err)
				if got := w.calls.during(func() { err = w.driver.Start(w.Context(), w.target, remove) }); slices.Contains(got,
					"compute:instanceGroupManagers.deleteInstances") {
					w.Errorf("want nothing removed twice, got %v", got)
				}
				w.cloud.Faults().Clear()
				settle()
				if o = w.observe(); o.Group.Size != 2 || o.Group.Surge != 0 || len(o.Instances) != 2 {
					w.Errorf("want two instances and no surge, got %+v, %+v", o.Group, o.Instances)
				}
			})
		})
	}
}
