package aws_test

import (
	"testing"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// TestSuspensionWithoutItsRecord holds that a process is suspended once Auto Scaling has recorded that it is Muster's: with a tag that was
// accepted and ignored it would be taken for one that another client has suspended, and would never be resumed.
func TestSuspensionWithoutItsRecord(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, _ := w.create(with(aTarget(), func(s *awsv1.AWSMachinePoolSpec) { s.SuspendProcesses = nil }), 1)
		group := target.Owner.ResourceName()
		suspends := with(target, func(s *awsv1.AWSMachinePoolSpec) {
			s.SuspendProcesses = &awsv1.SuspendProcessesTypes{Processes: &awsv1.Processes{AZRebalance: ptr(true)}}
		})
		if err := w.server.Faults().Add(sim.Fault{Kind: sim.Ignore, Action: "CreateOrUpdateTags"}); err != nil {
			t.Fatal(err)
		}
		update := func() {
			w.start(suspends, pool.Step{Kind: pool.UpdateGroup, Fields: w.observe(suspends).Group.Drift})
		}
		update()
		update()
		if got := w.leftovers(group).suspended; len(got) > 0 {
			t.Errorf("want nothing suspended whose record was ignored, got %v", got)
		}
		w.server.Faults().Clear()
		update()
		update()
		if got, drift := w.leftovers(group).suspended, w.observe(suspends).Group.Drift; len(got) != 1 || got[0] != "AZRebalance" ||
			len(drift) > 0 {
			t.Errorf("want it suspended with its record, got %v, drift %v", got, drift)
		}
		w.start(target, pool.Step{Kind: pool.UpdateGroup, Fields: w.observe(target).Group.Drift})
		if got := w.leftovers(group).suspended; len(got) > 0 {
			t.Errorf("want it resumed, got %v", got)
		}
	})
}
