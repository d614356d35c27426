package instancegroup_test

import (
	"slices"
	"testing"
	"time"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud/gcp/instancegroup"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/gcp/compute"
)

// TestStoppedAndLeft holds that an instance which was stopped, and which the group leaves as it is because the specification says so, is
// observed with the field that says so. A group that repairs instances names none.
func TestStoppedAndLeft(t *testing.T) {
	const field = "spec.instanceLifecyclePolicy.defaultActionOnFailure"
	for action, want := range map[gcpv1.FailureAction]string{gcpv1.ActionDoNothing: field, gcpv1.ActionRepair: ""} {
		t.Run(string(action), func(t *testing.T) {
			inWorld(t, []string{zone}, func(w *world) {
				w.target.Spec = spec(func(s *gcpv1.GCPMachinePoolSpec) {
					s.InstanceLifecyclePolicy = &gcpv1.InstanceLifecyclePolicy{DefaultActionOnFailure: action}
				})(w.target.Spec)
				o := w.create(2)
				if err := w.cloud.Stop(o.Instances[0].ID); err != nil {
					w.Fatal(err)
				}
				settle()
				o = w.observe()
				stopped := 0
				for _, i := range o.Instances {
					if i.State == pool.Failed && i.Stopped != "" && i.DeletionRequested == nil {
						stopped++
					}
				}
				if left := want != ""; o.Group.LeavesFailed != want || left != (stopped == 1) {
					w.Errorf("want %q and the instance left stopped if so, got %q and %+v", want, o.Group.LeavesFailed, o.Instances)
				}
			})
		})
	}
}

// TestUnreachableZoneIsUnknown holds that machines of a zone which a list of the project could not read are never missing from an
// observation: as long as the zone can't be reached there is none.
func TestUnreachableZoneIsUnknown(t *testing.T) {
	zones := []string{zone, "us-central1-b", "us-central1-c"}
	inWorld(t, zones, func(w *world) {
		w.create(3)
		listing, err := instancegroup.New(instancegroup.Options{Endpoint: endpoint, Base: sim.Transport{Handler: w.cloud}, Hook: w.calls,
			Listing: true})
		if err != nil {
			w.Fatal(err)
		}
		w.driver = listing
		if err := w.cloud.SetReachable(compute.Scope{Scope: "zones/us-central1-b"}); err != nil {
			w.Fatal(err)
		}
		sent := w.calls.during(func() {
			for _, age := range []time.Duration{0, time.Second, time.Minute} {
				w.target.Cache.MaxAge = age
				time.Sleep(2 * time.Second)
				if o, err := w.driver.Observe(w.Context(), w.target); err == nil && len(o.Instances) != 3 {
					w.Errorf("want all machines or none known, got %+v", o.Instances)
				}
			}
		})
		if !slices.Contains(sent, "instances.aggregatedList") {
			w.Errorf("want the list of the project read, got %v", sent)
		}
	})
}
