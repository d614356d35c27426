package engine_test

import (
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// TestScaleInAfterAnOutdatedRead holds that the domain is told for how long reads may be behind what a write has just been refused for, and
// that the pass comes again then.
func TestScaleInAfterAnOutdatedRead(t *testing.T) {
	outdated := &cloud.Error{Kind: cloud.Conflict, Code: "PreconditionFailed", Message: "the condition 'If-Match' does not hold"}
	for name, tc := range map[string]struct {
		refusal *cloud.Error
		after   time.Duration
		asked   bool
		want    pool.StepKind
	}{
		"at once":             {outdated, time.Second, false, ""},
		"asked for by name":   {outdated, time.Second, true, pool.Drain},
		"reads are not older": {outdated, 10 * time.Second, false, pool.Drain},
		"another refusal":     {&cloud.Error{Kind: cloud.Conflict, Message: "in use"}, time.Second, false, pool.Drain},
	} {
		s := rest(t)
		s.driver.refusing[pool.Resize] = tc.refusal
		s.facts.Desired.Replicas = 3
		s.pass()
		s.facts.Desired.Replicas = 1
		if tc.asked {
			s.facts.DeletionRequested = map[string]pool.Cause{"aws://i-2": {Reason: "MachineDeleted", Message: "its Machine was deleted"}}
		}
		out := s.after(tc.after)
		switch {
		case tc.want == "" && (out.Plan.Step != nil || len(out.Plan.Waiting) == 0 || out.Plan.Waiting[0].Reason != "ReadsBehind" ||
			out.RequeueAfter != 10*time.Second-tc.after):
			t.Errorf("%s: want it to wait until no read is that old, got %+v, again after %s", name, out.Plan, out.RequeueAfter)
		case tc.want != "" && (out.Plan.Step == nil || out.Plan.Step.Kind != tc.want || len(out.Plan.Step.Targets) != 1):
			t.Errorf("%s: want one drained, got %+v", name, out.Plan)
		}
	}
}
