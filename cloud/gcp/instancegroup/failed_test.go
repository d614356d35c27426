package instancegroup_test

import (
	"testing"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/pool"
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
