package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// What was seen a while ago may be another owner's by now, or gone: only what is seen now is a reason to change it.
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
			if last := s.driver.observes[len(s.driver.observes)-1]; last.Cache.MaxAge != 0 {
				t.Errorf("want the cloud looked at anew before %s, got an observation of up to %s", c.step, last.Cache.MaxAge)
			}
		})
	}
}

// A protected instance ends nothing: the answer that many pools share is new enough, and a fleet protects its machines without three reads
// for each of them.
func TestProtectionRestsOnASharedRead(t *testing.T) {
	s := rest(t)
	s.pass()
	s.driver.observed.Instances[0].ScaleInUnprotected = true
	looks := len(s.driver.observes)
	if out := s.after(time.Second); !out.Started || out.Plan.Step.Kind != pool.Protect {
		t.Fatalf("want a machine protected, got %+v", out.Plan)
	}
	if got := s.driver.observes[looks:]; len(got) != 1 || got[0].Cache.MaxAge == 0 {
		t.Errorf("want one look that takes an old observation, got %+v", got)
	}
}

// A drain is taken back on what is so now alone, and where the cloud takes machines at short notice on nothing that was asked for
// others: another process may know better, and the two would quarrel.
func TestADrainIsTakenBackOnWhatIsSoNow(t *testing.T) {
	for name, c := range map[string]struct {
		notice bool
		want   time.Duration
		reused bool
	}{"any": {false, 0, false}, "at short notice": {true, cloud.NoSharedCache, false},
		"after a step of Muster's": {false, cloud.NoSharedCache, true}} {
		t.Run(name, func(t *testing.T) {
			s := rest(t)
			s.driver.observed.ShortNotice, s.driver.observed.Cache.Reused = c.notice, c.reused
			s.pass()
			s.drained()
			if out := s.after(time.Second); !out.Started || out.Plan.Step.Kind != pool.Undrain {
				t.Fatalf("want the drain taken back, got %+v", out.Plan)
			}
			if last := s.driver.observes[len(s.driver.observes)-1]; last.Cache.MaxAge != c.want {
				t.Errorf("want a look of an age of %s at most, got %s", c.want, last.Cache.MaxAge)
			}
		})
	}
}

// An event that changes nothing costs no call: the driver is asked for what it saw a moment ago.
func TestAnEventAloneTakesAnOldObservation(t *testing.T) {
	s := rest(t)
	s.pass()
	looks := len(s.driver.observes)
	if s.after(time.Second); len(s.driver.observes) != looks+1 || s.driver.observes[looks].Cache.MaxAge == 0 {
		t.Errorf("want one look that takes an old observation, got %+v", s.driver.observes[looks:])
	}
}

// A cache may not know yet of a node that has joined: what would be removed because it has none is asked for once more.
func TestMachineWithoutNodeIsReadBeforeRemoval(t *testing.T) {
	for name, c := range map[string]struct {
		live   map[string]pool.Node
		silent error
		want   pool.StepKind
	}{
		"no machine has joined": {nil, nil, pool.Remove},
		"one has joined": {map[string]pool.Node{"aws://i-1": {Name: "node-i-1", Ready: true},
			"aws://i-2": {Name: "node-i-2", Ready: true}}, nil, pool.Drain},
		"the server can't be asked":        {nil, errors.New("no route"), ""},
		"a cluster that goes is not asked": {nil, errors.New("no route"), pool.Remove},
	} {
		t.Run(name, func(t *testing.T) {
			s := rest(t)
			s.cluster.nodes, s.cluster.live, s.cluster.silent = nil, c.live, c.silent
			s.facts.Desired.Replicas = 1
			if name == "a cluster that goes is not asked" {
				s.facts.Desired.NoDrain = &pool.Cause{Reason: "ClusterDeleted", Message: "the cluster goes"}
			}
			out := s.pass()
			var got pool.StepKind
			if out.Plan.Step != nil {
				got = out.Plan.Step.Kind
			}
			if got != c.want || out.Started != (c.want != "") {
				t.Errorf("want %q begun, got %q (begun: %t, waiting for %v)", c.want, got, out.Started, out.Plan.Waiting)
			}
		})
	}
}

// A drain needs no second question: the node is known.
func TestKnownNodeIsNotReadAgain(t *testing.T) {
	s := rest(t)
	s.facts.Desired.Replicas = 1
	s.pass()
	for _, keys := range s.cluster.lookups {
		if len(keys) > 0 && keys[0] == "live" {
			t.Errorf("want the API server left alone, it was asked for %v", keys)
		}
	}
}

// What is doubted is looked at again before anything rests on it, a drain included: a pass begins one step at most.
func TestADoubtIsSettledBeforeTheStep(t *testing.T) {
	s := rest(t)
	s.pass()
	s.facts.Desired.Replicas = 1
	s.facts.NeedsFreshRead = func(pool.Observed) bool { return true }
	looks, starts := len(s.driver.observes), len(s.cluster.starts)
	out := s.after(time.Second)
	if got := s.driver.observes[looks:]; len(got) != 2 || got[1].Cache.MaxAge != 0 {
		t.Errorf("want a second look, at what is so now, got %+v", got)
	}
	if got := len(s.cluster.starts) - starts; got != 1 || !out.Started {
		t.Errorf("want one step begun, got %d", got)
	}
}

// What the cloud was asked for in this very pass is not asked for again before the step: of a budget of a few calls a minute, one
// would be spent on the first look of each pass and be missing at the second, and nothing would ever be done.
func TestFreshObservationIsNotRepeated(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*scene)
		step   pool.StepKind
	}{
		"a step":       {func(s *scene) { s.driver.observed.Group.Size = 1 }, pool.Resize},
		"a doubt":      {func(s *scene) { s.facts.NeedsFreshRead = func(pool.Observed) bool { return true } }, ""},
		"a drain back": {func(s *scene) { s.driver.observed.ShortNotice = true; s.drained() }, pool.Undrain},
	} {
		t.Run(name, func(t *testing.T) {
			s := rest(t)
			s.pass()
			s.driver.observed.Cache.Fresh = true
			c.change(s)
			looks := len(s.driver.observes)
			out := s.after(time.Second)
			check(t, "looks", 1, len(s.driver.observes)-looks)
			if c.step != "" && (!out.Started || out.Plan.Step.Kind != c.step) {
				t.Errorf("want %s begun, got %+v", c.step, out.Plan)
			}
		})
	}
}

// drained puts every node where a drain has brought it.
func (s *scene) drained() {
	for key, n := range s.cluster.nodes {
		n.DrainStarted, n.Cordoned = s.facts.Now, true
		s.cluster.nodes[key] = n
	}
}

// Where another process contradicts a look that a step of Muster's let pass for a new one, the cloud is asked itself.
func TestADoubtIsSettledByTheCloud(t *testing.T) {
	for _, doubted := range []bool{false, true} {
		s := rest(t)
		s.facts.NeedsFreshRead = func(pool.Observed) bool { return doubted }
		s.driver.observed.Cache.Reused = true
		s.pass()
		if last := s.driver.observes[len(s.driver.observes)-1]; (last.Cache.MaxAge == cloud.NoSharedCache) != doubted {
			t.Errorf("doubted %t: want the cloud asked itself only then, got a look of an age of %s at most", doubted, last.Cache.MaxAge)
		}
	}
}
