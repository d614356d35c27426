package engine_test

import (
	"testing"
	"time"

	"github.com/muster-project/muster/pool"
)

// What was seen a while ago may be somebody else's by now, or gone: only what is seen now is a reason to change it.
func TestNothingIsChangedOnAnOldObservation(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*scene)
		step   pool.StepKind
	}{
		"growing":  {func(s *scene) { s.driver.observed.Group.Size = 1 }, pool.Resize},
		"drifting": {func(s *scene) { s.driver.observed.Group.Drift = []string{"tags"} }, pool.UpdateGroup},
		"removing": {func(s *scene) {
			s.driver.observed.Instances[0].Node, s.facts.Desired.Replicas = nil, 1
			s.cluster.nodes = nil
		}, pool.Remove},
	} {
		t.Run(name, func(t *testing.T) {
			s := rest(t)
			s.pass()
			c.change(s)
			if out := s.after(time.Second); !out.Started || out.Plan.Step.Kind != c.step {
				t.Fatalf("want %s begun, got %+v", c.step, out.Plan)
			}
			if last := s.driver.observes[len(s.driver.observes)-1]; last.MaxAge != 0 {
				t.Errorf("want the cloud looked at anew before %s, got an observation of up to %s", c.step, last.MaxAge)
			}
		})
	}
}

// An event that changes nothing costs no call: the driver is asked for what it saw a moment ago.
func TestAnEventAloneTakesAnOldObservation(t *testing.T) {
	s := rest(t)
	s.pass()
	looks := len(s.driver.observes)
	if s.after(time.Second); len(s.driver.observes) != looks+1 || s.driver.observes[looks].MaxAge == 0 {
		t.Errorf("want one look that takes an old observation, got %+v", s.driver.observes[looks:])
	}
}
