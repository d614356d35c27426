package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/pool"
)

const warmup = "spec.defaultInstanceWarmup"

// A list of versions that is behind shows one that was just deleted. It stands for its content no more: the other version of the same
// content would be deleted for it, and nothing would be left to go back to.
func TestAListThatIsBehindCostsNoHistory(t *testing.T) {
	s := rest(t)
	at, old := s.driver.observed.Versions[0], pool.Template{Content: "v1:b"}
	newer, older := old, old
	newer.Ref, older.Ref = "t:0", "t:-1"
	s.driver.observed.Versions = []pool.Template{at, newer, older}
	going := pool.Instance{ID: "i-0", State: pool.Terminating, Template: older}
	s.driver.observed.Instances = append(s.driver.observed.Instances, going)
	if out := s.pass(); !out.Started || !slices.Equal(out.Plan.Step.Refs, []string{"t:0"}) {
		t.Fatalf("want the version without a machine deleted, got %+v", out.Plan.Step)
	}
	s.driver.observed.Instances = s.driver.observed.Instances[:2]
	for range 9 {
		s.after(time.Second)
	}
	for _, step := range s.driver.starts {
		check(t, "deleted", []string{"t:0"}, step.Refs)
	}
	s.driver.starts = nil
	s.after(time.Minute)
	check(t, "a minute later the list is believed, deleted", []string{"t:-1"}, s.driver.starts[0].Refs)
}

// ignoring returns a pool at rest in a cloud that accepts every step and shows the effect of none.
func ignoring(t *testing.T, change func(*scene)) *scene {
	s := rest(t)
	for key, n := range s.cluster.nodes {
		n.Joined, n.ReadySince = epoch.Add(-time.Hour), epoch.Add(-time.Hour)
		s.cluster.nodes[key] = n
	}
	change(s)
	return s
}

// noEffectOf returns the error that an outcome shows for a kind of step, if it is one of a change without effect.
func noEffectOf(out engine.Outcome, kind pool.StepKind) string {
	var none *engine.NoEffectError
	if errors.As(out.Refused[kind], &none) {
		return none.Error()
	}
	return ""
}

// aStepWithoutEffectBacksOffCases are the cases of TestAStepWithoutEffectBacksOff.
var aStepWithoutEffectBacksOffCases = map[string]struct {
	reason string
	change func(*scene)
	kind   pool.StepKind
	names  string
}{
	"field": {
		"a cloud that does not know a field accepts it", func(s *scene) { s.driver.observed.Group.Drift = []string{warmup} },
		pool.UpdateGroup, warmup,
	},
	"two fields": {
		"all that are ignored are named", func(s *scene) { s.driver.observed.Group.Drift = []string{"spec.lifecycleHooks", warmup} },
		pool.UpdateGroup, warmup + ", spec.lifecycleHooks",
	},
	"template of the group": {
		"the group goes on launching from the old version", func(s *scene) {
			old := s.driver.observed.Versions[0]
			s.driver.observed.Versions = []pool.Template{{Ref: "t:2", Content: old.Content, Data: old.Data}, old}
		},
		pool.UpdateGroup, "template t:2",
	},
	"content of the template": {
		"the template keeps the old content, whatever its new version is called", func(s *scene) { s.driver.observed.Wanted.Content = "v1:b" },
		pool.PutTemplate, "template",
	},
	"size": {
		"nothing is launched", func(s *scene) { s.facts.Desired.Replicas = 3 },
		pool.Resize, "size 3",
	},
	"group": {
		"the group never exists", func(s *scene) { s.driver.observed.Group = nil },
		pool.CreateGroup, "group",
	},
	"adoption": {
		"the cloud drops the owner tags", func(s *scene) {
			s.driver.observed = pool.Observed{OwnershipConflict: &pool.Cause{Reason: "OwnershipConflict"},
				Unowned: &pool.Unowned{Name: "g", Group: "group g", OfCluster: true}}
			s.facts.Desired.Adopt.Name = "g"
		},
		pool.Adopt, "owner tags of group g",
	},
	"instance that stays": {
		"the instance goes on running", func(s *scene) {
			s.facts.Desired.Replicas = 1
			s.cluster.nodes["aws://i-2"] = pool.Node{Name: "node", Joined: epoch, Cordoned: true, DrainStarted: epoch}
		},
		pool.Remove, "instance i-2",
	},
	"protection": {
		"the instances stay exposed", func(s *scene) {
			for k := range s.driver.observed.Instances {
				s.driver.observed.Instances[k].ScaleInUnprotected = true
			}
		},
		pool.Protect, "scale-in protection of instance i-1, scale-in protection of instance i-2",
	},
	"protection taken off": {
		"the autoscaler can remove nothing", func(s *scene) {
			s.facts.Desired.ReplicasManagedExternally = true
			for k := range s.driver.observed.Instances {
				s.driver.observed.Instances[k].ScaleInProtected = true
			}
		},
		pool.Unprotect, "removed scale-in protection of instance i-1, removed scale-in protection of instance i-2",
	},
	"change in place": {
		"the instances never get what the group has",
		func(s *scene) { s.driver.observed.Instances[1].InPlaceDrift = []string{"spec.additionalTags"} },
		pool.Apply, "spec.additionalTags of instance i-2",
	},
	"default version": {
		"the old version stays the default", func(s *scene) {
			s.driver.observed.Versions = append(s.driver.observed.Versions, pool.Template{Ref: "t:0", Content: "v1:z", Undeletable: true})
		},
		pool.DefaultTemplate, "default version t:1",
	},
	"old versions": {
		"they are never gone", func(s *scene) {
			for _, ref := range []string{"t:-1", "t:-2", "t:-3"} {
				s.driver.observed.Versions = append(s.driver.observed.Versions, pool.Template{Ref: ref, Content: ref})
			}
		},
		pool.PruneTemplates, "version t:-3",
	},
	"prerequisite": {
		"it is never as the group needs it", func(s *scene) { s.driver.observed.MissingPrerequisites = []string{"role"} },
		pool.EnsurePrerequisites, "role",
	},
	"deletion": {
		"the group stays", func(s *scene) {
			s.facts.Desired.Deleting, s.facts.Desired.NoDrain = true, &pool.Cause{Reason: "ClusterDeleted"}
		},
		pool.DeleteGroup, "group",
	},
}

func TestAStepWithoutEffectBacksOff(t *testing.T) {
	for name, c := range aStepWithoutEffectBacksOffCases {
		t.Run(name, func(t *testing.T) {
			s := ignoring(t, c.change)
			if out := s.pass(); !out.Started || out.Repeated || out.Plan.Step.Kind != c.kind {
				t.Fatalf("%s: want %s begun as news, got %+v", c.reason, c.kind, out.Plan.Step)
			}
			waits := s.play(time.Hour)
			if n := len(s.driver.starts); n < 10 || n > oneHourOfErrors {
				t.Errorf("%s: want 10 to %d tries an hour, got %d: %s", c.reason, oneHourOfErrors, n, s.driver.began())
			}
			limit := 120
			if s.facts.Desired.ReplicasManagedExternally {
				limit = 200 // a look every 20 seconds
			}
			if len(waits) > limit {
				t.Errorf("%s: want at most %d looks an hour, got %d", c.reason, limit, len(waits))
			}
			out := s.pass()
			if want, got := "changed, shows no effect: "+c.names+": ", noEffectOf(out, c.kind); !strings.HasPrefix(got, want) {
				t.Errorf("%s: want %q told, got %q", c.reason, want, got)
			}
			if out.NewError != nil || out.Started && !out.Repeated {
				t.Errorf("%s: want no news in a repetition, got %+v", c.reason, out)
			}
		})
	}
}

// A read may be behind the write: what is asked for again soon is not said to show no effect, and is not asked for at an unbroken pace.
func TestAnEffectThatShowsLateIsNoFailure(t *testing.T) {
	s := ignoring(t, func(s *scene) { s.driver.observed.Group.Drift = []string{warmup} })
	s.play(10 * time.Second)
	if n := len(s.driver.starts); n < 2 || n > 4 {
		t.Errorf("want 2 to 4 tries in ten seconds, got %d", n)
	}
	out := s.pass()
	check(t, "said of it", map[pool.StepKind]error(nil), out.Refused)
	check(t, "waited for", 0, len(out.Plan.Waiting))
	s.driver.observed.Group.Drift = nil
	tries := len(s.driver.starts)
	s.play(10 * time.Minute)
	check(t, "tries once the effect shows", tries, len(s.driver.starts))
	// The same field may be changed by hand again, much later.
	s.driver.observed.Group.Drift = []string{warmup}
	if out := s.pass(); !out.Started || out.Repeated {
		t.Errorf("want it repaired at once and told, got %+v", out)
	}
}

// A change without effect keeps no other step from being done.
func TestAStepWithoutEffectStopsNoOther(t *testing.T) {
	s := ignoring(t, func(s *scene) { s.driver.observed.Group.Drift = []string{warmup} })
	s.play(2 * time.Minute)
	tries := len(s.driver.starts)
	s.driver.observed.Group.Drift = []string{"spec.additionalTags", warmup}
	if out := s.pass(); !out.Started || out.Repeated || !slices.Contains(out.Plan.Step.Fields, "spec.additionalTags") {
		t.Errorf("want the other field written at once, got %+v", out.Plan.Step)
	}
	s.driver.observed.Group.Drift = []string{warmup}
	s.driver.observed.Group.Size = 1
	if out := s.pass(); !out.Started || out.Plan.Step.Kind != pool.Resize {
		t.Errorf("want the size set meanwhile, got %+v", out.Plan.Step)
	}
	check(t, "steps", tries+2, len(s.driver.starts))
}

// TestAMissingEffectIsReportedAfterHalfAMinute holds since when a change counts as one without effect: three times as long as reads are
// behind, and after more than one attempt.
func TestAMissingEffectIsReportedAfterHalfAMinute(t *testing.T) {
	s := ignoring(t, func(s *scene) { s.driver.observed.Group.Drift = []string{warmup} })
	began := s.facts.Now
	s.pass()
	for noEffectOf(s.after(time.Second), pool.UpdateGroup) == "" && s.facts.Now.Sub(began) < time.Hour {
	}
	check(t, "reported after", 30*time.Second, s.facts.Now.Sub(began))
	if n := len(s.driver.starts); n < 2 {
		t.Errorf("want more than one attempt before, got %d", n)
	}
}

// TestAnEffectIsNotMissedWhileTheCloudIsAtWork holds that a group on which the cloud works shows no effect of a change before it is done.
func TestAnEffectIsNotMissedWhileTheCloudIsAtWork(t *testing.T) {
	s := ignoring(t, func(s *scene) { s.driver.observed.Group.Drift = []string{warmup} })
	s.play(10 * time.Second)
	s.driver.observed.Group.Busy = &pool.Cause{Reason: "Updating"}
	s.play(time.Minute)
	check(t, "refused while the cloud is at work", map[pool.StepKind]error(nil), s.pass().Refused)
}

// What was asked for may be right after an edit.
func TestAnEditEndsTheBackoffOfAStepWithoutEffect(t *testing.T) {
	s := ignoring(t, func(s *scene) { s.driver.observed.Group.Drift = []string{warmup} })
	s.play(10 * time.Minute)
	s.pass()
	if out := s.after(time.Second); out.Started {
		t.Fatalf("want a back-off that lasts, got %+v", out.Plan.Step)
	}
	s.facts.Generation = "2"
	if out := s.pass(); !out.Started || out.Repeated || out.Refused != nil {
		t.Errorf("want the step begun as news, got %+v", out)
	}
}

// TestAnotherChangeKeepsTheBackoffOfAStepWithoutEffect holds that a change without effect is not made again for each new size of the pool.
func TestAnotherChangeKeepsTheBackoffOfAStepWithoutEffect(t *testing.T) {
	for _, c := range []struct {
		name, why, target string
		rested            bool
	}{
		{"another size", "the field and what it should be are as before", "1", true},
		{"another field", "it may be right now", "2", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := ignoring(t, func(s *scene) { s.driver.observed.Group.Drift = []string{warmup} })
			s.facts.TargetGeneration = "1"
			s.play(10 * time.Minute)
			s.pass()
			tries := len(s.driver.starts)
			for n := range 5 {
				s.facts.Generation, s.facts.TargetGeneration = fmt.Sprint("edit ", n), c.target
				s.after(time.Second)
			}
			if rested := len(s.driver.starts) == tries; rested != c.rested {
				t.Errorf("%s: want it left in its back-off %t, got %d more attempts", c.why, c.rested, len(s.driver.starts)-tries)
			}
		})
	}
}

// What is not wanted any more has no effect to show: the size of a surge whose stale machine another client has replaced.
func TestObsoleteStepIsNotMissed(t *testing.T) {
	s := ignoring(t, func(s *scene) {
		s.facts.Desired.Strategy = &pool.Strategy{MaxSurge: pool.IntOrPercent{Value: 1}}
		s.driver.observed.Instances[0].Template = pool.Template{Ref: "t:0", Content: "v1:z"}
	})
	s.play(10 * time.Minute)
	if out := s.pass(); noEffectOf(out, pool.Resize) == "" {
		t.Fatalf("want the size of the surge missed, got %v", out.Refused)
	}
	s.driver.observed.Instances[0].Template = s.driver.observed.Versions[0]
	s.play(10 * time.Minute)
	check(t, "missed", map[pool.StepKind]error(nil), s.pass().Refused)
}

// Nor is it reported for ever on a pool that is never settled, because a machine does not start.
func TestObsoleteStepIsForgottenAmongOthers(t *testing.T) {
	s := ignoring(t, func(s *scene) {
		s.facts.Desired.Strategy = &pool.Strategy{MaxSurge: pool.IntOrPercent{Value: 1}}
		s.driver.observed.Instances[0].Template = pool.Template{Ref: "t:0", Content: "v1:z"}
	})
	s.play(10 * time.Minute)
	if out := s.pass(); noEffectOf(out, pool.Resize) == "" {
		t.Fatalf("want the size of the surge missed, got %v", out.Refused)
	}
	s.driver.observed.Instances[0].Template = s.driver.observed.Versions[0]
	s.driver.observed.Instances[1].State = pool.Pending
	s.play(15 * time.Minute)
	if out := s.pass(); out.Plan.Quiescent || out.Refused != nil {
		t.Errorf("want an unsettled pool that misses nothing, got %+v, %v", out.Plan, out.Refused)
	}
}

// A new process tries once more, then backs off as the one before it did.
func TestARestartRepeatsAStepWithoutEffectOnce(t *testing.T) {
	s := ignoring(t, func(s *scene) { s.driver.observed.Group.Drift = []string{warmup} })
	s.play(time.Hour)
	s.engine, s.driver.starts = engine.New[int](s.driver, engine.Options{}), nil
	s.play(time.Hour)
	if n := len(s.driver.starts); n > oneHourOfErrors {
		t.Errorf("want at most %d tries an hour, got %d", oneHourOfErrors, n)
	}
}

// What the cloud is at work on has not come to nothing yet: it is judged when the work is over.
func TestWorkOnTheGroupIsWaitedForBeforeAnEffectIsMissed(t *testing.T) {
	s := ignoring(t, func(s *scene) { s.driver.observed.Instances[1].InPlaceDrift = []string{"spec.additionalTags"} })
	busy := &pool.Cause{Reason: "Updating", Message: "at work"}
	for range 12 {
		s.driver.observed.Group.Busy = nil
		s.after(3 * time.Second)
		s.driver.observed.Group.Busy = busy
		for range 40 {
			s.after(3 * time.Second)
		}
	}
	if n := len(s.driver.starts); n < 5 || n > 9 {
		t.Errorf("want 5 to 9 tries in 24 minutes of work that comes to nothing, got %d", n)
	}
	if out := s.pass(); noEffectOf(out, pool.Apply) == "" {
		t.Errorf("want it told, got %v", out.Refused)
	}
}

// Machines that take no change keep no others from it.
func TestAMachineThatTakesNoChangeHoldsUpNoOther(t *testing.T) {
	s := ignoring(t, func(s *scene) {
		s.facts.Desired.Replicas, s.driver.observed.Group.Size = 6, 6
		v := s.driver.observed.Versions[0]
		for _, id := range []string{"i-3", "i-4", "i-5", "i-6"} {
			s.driver.observed.Instances = append(s.driver.observed.Instances,
				pool.Instance{ID: id, ProviderID: "aws:///z/" + id, State: pool.Running, Template: v})
			s.cluster.nodes["aws://"+id] = s.cluster.nodes["aws://i-1"]
		}
		for k := range s.driver.observed.Instances {
			s.driver.observed.Instances[k].InPlaceDrift = []string{"spec.additionalTags"}
		}
	})
	s.play(10 * time.Minute)
	tried := map[string]bool{}
	for _, step := range s.driver.starts {
		for _, target := range step.Targets {
			tried[target.ID] = true
		}
	}
	check(t, "machines tried", 6, len(tried))
	if n := len(s.driver.starts); n > 20 {
		t.Errorf("want at most 20 tries in ten minutes, got %d", n)
	}
}

// A refusal says more than a change without effect.
func TestErrorIsReportedBeforeMissingEffect(t *testing.T) {
	s := ignoring(t, func(s *scene) { s.driver.observed.Group.Drift = []string{warmup} })
	s.play(5 * time.Minute)
	denied := &cloud.Error{Kind: cloud.Denied, Message: "not allowed"}
	s.driver.refusing[pool.UpdateGroup] = denied
	s.play(10 * time.Minute)
	check(t, "refusal", map[pool.StepKind]error{pool.UpdateGroup: denied}, s.pass().Refused)
}

// An instance whose change shows no effect waits for its back-off, also when another instance is to be changed meanwhile.
func TestRestingInstancesAreNotChangedAgain(t *testing.T) {
	s := ignoring(t, func(s *scene) { s.driver.observed.Instances[0].ScaleInUnprotected = true })
	if out := s.pass(); !out.Started || len(out.Plan.Step.Targets) != 1 {
		t.Fatalf("want one instance protected, got %+v", out.Plan.Step)
	}
	s.driver.observed.Instances[1].ScaleInUnprotected = true
	out := s.after(500 * time.Millisecond)
	if !out.Started || len(out.Plan.Step.Targets) != 1 || out.Plan.Step.Targets[0].ID != s.driver.observed.Instances[1].ID {
		t.Errorf("want the other instance alone protected, got %+v", out.Plan.Step)
	}
}

// TestAStepThatIsStartedInPartBacksOff holds that what a cloud accepts and ignores is not sent again each time that the place in line of
// the rest of the step comes. It is reported once the whole of the step was accepted.
func TestAStepThatIsStartedInPartBacksOff(t *testing.T) {
	s := ignoring(t, func(s *scene) { s.driver.observed.Group.Drift = []string{"spec.lifecycleHooks", warmup} })
	s.driver.refusing[pool.UpdateGroup] = &cloud.StartedInPartError{Err: &cloud.Error{
		Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited, Message: "held back", After: 100 * time.Millisecond,
	}}
	out := s.pass()
	check(t, "waits for", []pool.Cause{{Reason: "ClientRateLimited", Message: "UpdateGroup waits: held back"}}, out.Plan.Waiting)
	s.play(5 * time.Minute)
	if n := len(s.driver.starts); n < 5 || n > 10 {
		t.Errorf("want 5 to 10 tries in five minutes, got %d", n)
	}
	check(t, "what shows no effect before all of it was accepted", "", noEffectOf(s.pass(), pool.UpdateGroup))
	delete(s.driver.refusing, pool.UpdateGroup)
	for out = s.after(5 * time.Minute); !out.Started; out = s.after(time.Minute) {
	}
	check(t, "repeated when all of it is accepted for the first time", false, out.Repeated)
	if none := noEffectOf(s.after(5*time.Second), pool.UpdateGroup); none != "" {
		t.Errorf("want the time counted from then, got %q", none)
	}
	s.play(20 * time.Minute)
	if none := noEffectOf(s.pass(), pool.UpdateGroup); !strings.Contains(none, warmup) || !strings.Contains(none, "spec.lifecycleHooks") {
		t.Errorf("want both fields reported, got %q", none)
	}
}

// TestAStepThatIsStartedInPartGoesOn holds that a step whose parts take effect is tried again soon.
func TestAStepThatIsStartedInPartGoesOn(t *testing.T) {
	fields := []string{"a", "b", "c", "d", "e", "f"}
	s := ignoring(t, func(s *scene) { s.driver.observed.Group.Drift = fields })
	s.driver.refusing[pool.UpdateGroup] = &cloud.StartedInPartError{Err: &cloud.Error{
		Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited, After: 100 * time.Millisecond,
	}}
	began := s.facts.Now
	for tries := 0; len(fields) > 0; {
		s.facts.Now = s.facts.Now.Add(s.pass().RequeueAfter)
		if n := len(s.driver.starts); n > tries {
			tries, fields = n, fields[1:]
			s.driver.observed.Group.Drift = fields
		}
	}
	if took := s.facts.Now.Sub(began); took > 15*time.Second {
		t.Errorf("want six parts done within 15 s, got %v", took)
	}
}
