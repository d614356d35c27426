package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/pool"
)

// conflictsSoon is the time during which a step that conflicts with another operation is retried soon.
const conflictsSoon = 30 * time.Minute

// oneHourOfErrors is the maximum number of attempts for a permanent error in an hour: waits of 1 s, 2 s ... 256 s, then 5 minutes each.
const oneHourOfErrors = 20

func backoffs() []time.Duration {
	var list []time.Duration
	total := time.Duration(0)
	for wait := time.Second; total < time.Hour; wait = min(2*wait, 5*time.Minute) {
		list, total = append(list, wait), total+wait
	}
	return list
}

func TestObservationBacksOff(t *testing.T) {
	for name, err := range errorsOfEveryKind() {
		t.Run(name, func(t *testing.T) {
			s := rest(t)
			s.driver.failing = err
			check(t, "waits", backoffs(), s.play(time.Hour))
			if calls := len(s.driver.observes); calls > oneHourOfErrors {
				t.Errorf("want at most %d calls an hour, got %d", oneHourOfErrors, calls)
			}
			check(t, "steps", "", s.driver.began())
		})
	}
}

// Events may come at any rate: while a back-off lasts nothing is asked, and the error is shown again without being news.
func TestEventsDoNotBreakABackoff(t *testing.T) {
	s := rest(t)
	s.driver.failing = &cloud.Error{Kind: cloud.Denied, Message: "not allowed"}
	first := s.pass()
	check(t, "the first is news", s.driver.failing, first.NewError)
	for range 3600 {
		out := s.after(time.Second)
		if out.Err == nil || out.Seen || out.NewError != nil {
			t.Fatalf("want the known error shown again and not as news, got %+v", out)
		}
	}
	if calls := len(s.driver.observes); calls > oneHourOfErrors+1 {
		t.Errorf("want at most %d calls, got %d", oneHourOfErrors+1, calls)
	}
	s.driver.failing = errors.New("another one")
	s.facts.Now = s.facts.Now.Add(time.Hour)
	check(t, "another error is news", s.driver.failing, s.pass().NewError)
	s.driver.failing = nil
	if out := s.after(time.Hour); !out.Seen || out.Err != nil {
		t.Errorf("want everything forgotten after a success, got %+v", out)
	}
	s.driver.failing = errors.New("yet another")
	check(t, "back-off after a success begins anew", time.Second, s.after(time.Hour).RequeueAfter)
}

func TestThrottledWaitsAsLongAsTheCloudSays(t *testing.T) {
	for _, c := range []struct {
		name, why   string
		after, want time.Duration
	}{
		{"longer", "the cloud knows its buckets", 90 * time.Second, 90 * time.Second},
		{"longer than the cap", "the cap is ours, not the cloud's", time.Hour, time.Hour},
		{"shorter", "a cloud that says at once is not asked at once", time.Millisecond, time.Second},
		{"unsaid", "our own back-off then", 0, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := fmt.Errorf("observe: %w", &cloud.Error{Kind: cloud.Throttled, After: c.after})
			s := rest(t)
			s.driver.failing = err
			check(t, "observing: "+c.why, c.want, s.pass().RequeueAfter)
			s = rest(t)
			s.facts.Desired.Replicas = 3
			s.driver.refusing[pool.Resize] = err
			s.play(2 * c.want)
			first, second := 0, 0
			for _, kind := range strings.Fields(s.driver.began()) {
				if kind == "Resize" {
					first++
				}
			}
			s.after(4 * c.want)
			second = len(s.driver.starts)
			if first < 2 || first > 3 || second <= first {
				t.Errorf("starting: %s: want it tried again after %v and not sooner, got %d tries, then %d", c.why, c.want, first, second)
			}
		})
	}
}

func TestStepsBackOff(t *testing.T) {
	for name, err := range errorsOfEveryKind() {
		t.Run(name, func(t *testing.T) {
			s := rest(t)
			s.facts.Desired.Replicas = 5
			s.driver.refusing[pool.Resize] = err
			if cloud.KindOf(err) == cloud.Conflict {
				s.play(conflictsSoon)
				if n := len(s.driver.starts); n < 20 || n > 40 {
					t.Errorf("want 20 to 40 tries in the first %s of conflicts, got %d", conflictsSoon, n)
				}
				s.driver.starts, s.driver.observes = nil, nil
			}
			s.play(time.Hour)
			if n := len(s.driver.starts); n < 10 || n > oneHourOfErrors {
				t.Errorf("want 10 to %d tries an hour, got %d", oneHourOfErrors, n)
			}
			if n := len(s.driver.observes); n > 100 {
				t.Errorf("want at most 100 reads an hour while a step is refused, got %d", n)
			}
			if out := s.pass(); !reflect.DeepEqual(out.Refused, map[pool.StepKind]error{pool.Resize: err}) || out.Err != nil {
				t.Errorf("want the refusal shown, got %v and %v", out.Refused, out.Err)
			}
			delete(s.driver.refusing, pool.Resize)
			if out := s.after(5 * time.Minute); !out.Started || out.Refused != nil {
				t.Errorf("want the step begun once the cloud takes it, got %+v", out)
			}
		})
	}
}

// A step that is refused keeps no other from being begun, each has a back-off of its own.
func TestOneRefusalDoesNotStopOthers(t *testing.T) {
	s := rest(t)
	s.driver.observed.Wanted.Content = "v1:b"
	s.driver.observed.Group.Drift = []string{"tags"}
	s.facts.Desired.Replicas = 5
	denied := &cloud.Error{Kind: cloud.Denied, Message: "not allowed"}
	s.driver.refusing = map[pool.StepKind]error{pool.PutTemplate: denied, pool.UpdateGroup: denied}
	s.pass()
	s.after(10 * time.Millisecond)
	out := s.after(10 * time.Millisecond)
	check(t, "steps", "PutTemplate UpdateGroup Resize", s.driver.began())
	if !out.Started || len(out.Refused) != 2 {
		t.Errorf("want the size set and both refusals shown, got %+v", out)
	}
}

// What is said about a refused step is the same in the pass that tries it again and in those that wait.
func TestWaitingDoesNotFlap(t *testing.T) {
	for name, change := range map[string]func(*scene){
		"growing":  func(s *scene) { s.facts.Desired.Replicas = 3 },
		"draining": func(s *scene) { s.facts.Desired.Replicas = 1 },
		"deleting": func(s *scene) { s.facts.Desired.Deleting = true },
		"updating and growing": func(s *scene) {
			s.facts.Desired.Replicas = 3
			s.driver.observed.Group.Drift = []string{"tags"}
		},
		"creating": func(s *scene) { s.driver.observed.Group = nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := rest(t)
			change(s)
			refusal := &cloud.Error{Kind: cloud.Denied, Message: "not allowed"}
			for _, kind := range []pool.StepKind{pool.Resize, pool.CreateGroup, pool.UpdateGroup, pool.DeleteGroup} {
				s.driver.refusing[kind] = refusal
			}
			s.cluster.refuses = refusal
			s.play(30 * time.Second)
			messages := map[string]bool{}
			for range 600 {
				messages[fmt.Sprint(s.after(time.Second).Plan.Waiting)] = true
			}
			if len(messages) != 1 || messages["[]"] {
				t.Errorf("want one thing said, got %q", slices.Sorted(maps.Keys(messages)))
			}
		})
	}
}

// What another client put right is no error any more.
func TestErrorsOfObsoleteStepsEnd(t *testing.T) {
	s := rest(t)
	s.facts.Desired.Replicas = 3
	s.driver.refusing[pool.Resize] = &cloud.Error{Kind: cloud.Conflict, Message: "a scaling activity is in progress"}
	s.play(time.Minute)
	s.driver.observed.Group.Size = 3
	s.driver.observed.Instances = append(s.driver.observed.Instances,
		pool.Instance{ID: "i-3", ProviderID: "aws:///z/i-3", State: pool.Running})
	s.play(5 * time.Minute)
	if out := s.pass(); out.Refused != nil {
		t.Errorf("want no refusal left of a step that no client wants, got %v", out.Refused)
	}
}

func TestAChangeEndsEveryBackoff(t *testing.T) {
	t.Run("observing", func(t *testing.T) {
		s := rest(t)
		s.driver.failing = &cloud.Error{Kind: cloud.Invalid, Field: "spec.x", Message: "no"}
		s.play(10 * time.Minute)
		before := len(s.driver.observes)
		s.facts.Generation = "2"
		out := s.pass()
		check(t, "calls", before+1, len(s.driver.observes))
		check(t, "back-off", time.Second, out.RequeueAfter)
		check(t, "the same error after a change is news", s.driver.failing, out.NewError)
	})
	t.Run("starting", func(t *testing.T) {
		s := rest(t)
		s.facts.Desired.Replicas = 5
		s.driver.refusing[pool.Resize] = &cloud.Error{Kind: cloud.Invalid, Message: "no"}
		s.play(10 * time.Minute)
		before := len(s.driver.starts)
		s.facts.Generation, s.facts.Desired.Replicas = "2", 4
		s.pass()
		check(t, "tries", before+1, len(s.driver.starts))
	})
	t.Run("not before its time", func(t *testing.T) {
		s := rest(t)
		s.pass()
		s.facts.Generation = "2"
		s.after(time.Second)
		check(t, "age that an event takes", 10*time.Second, s.driver.observes[1].Cache.MaxAge)
	})
	t.Run("an owner that is forgotten", func(t *testing.T) {
		s := rest(t)
		s.driver.failing = errors.New("no")
		s.play(10 * time.Minute)
		before := len(s.driver.observes)
		s.engine.Forget("owner")
		s.pass()
		check(t, "calls", before+1, len(s.driver.observes))
	})
	t.Run("another owner", func(t *testing.T) {
		s := rest(t)
		s.driver.failing = errors.New("no")
		s.pass()
		s.facts.Target.Owner.ID = "another"
		s.pass()
		check(t, "calls", 2, len(s.driver.observes))
	})
}

// A pass that the clock asked for accepts what was read for other pools a moment ago; one that an event asked for takes what was seen a
// moment ago, and does not push the next look away.
func TestEventsTakeARecentObservation(t *testing.T) {
	s := rest(t)
	check(t, "first pass: steady", 100*time.Second, s.pass().RequeueAfter)
	for k := range 5 {
		check(t, "time left to the next look", 100*time.Second-time.Duration(k+1)*10*time.Second, s.after(10*time.Second).RequeueAfter)
	}
	s.after(70 * time.Second)
	var ages []time.Duration
	var byEvent []bool
	for _, o := range s.driver.observes {
		ages, byEvent = append(ages, o.Cache.MaxAge), append(byEvent, o.Cache.ByEvent)
	}
	ten := 10 * time.Second
	check(t, "asked for by events", []bool{false, true, true, true, true, true, false}, byEvent)
	check(t, "ages", []time.Duration{20 * time.Second, ten, ten, ten, ten, ten, 20 * time.Second}, ages)
}

func TestHowOftenIsLooked(t *testing.T) {
	t.Run("at rest", func(t *testing.T) {
		s := rest(t)
		s.play(time.Hour)
		check(t, "reads an hour", 36, len(s.driver.observes))
		check(t, "writes", "", s.driver.began())
	})
	t.Run("as told", func(t *testing.T) {
		s := rest(t)
		s.engine = engine.New[int](s.driver, engine.Options{Steady: 10 * time.Minute})
		check(t, "wait", 10*time.Minute, s.pass().RequeueAfter)
	})
	t.Run("waiting for capacity", func(t *testing.T) {
		s := rest(t)
		s.driver.observed.Group.Size, s.facts.Desired.Replicas = 3, 3
		waits := s.play(time.Hour)
		check(t, "first look again", 3*time.Second, waits[0])
		check(t, "last", time.Minute, waits[len(waits)-1])
		if len(waits) > 80 {
			t.Errorf("want at most 80 reads in an hour of waiting, got %d", len(waits))
		}
		s.driver.observed.Group.Size, s.facts.Desired.Replicas = 2, 2
		s.pass()
		s.driver.observed.Group.Size, s.facts.Desired.Replicas = 3, 3
		check(t, "after rest it is looked soon again", 3*time.Second, s.after(3*time.Minute).RequeueAfter)
	})
	t.Run("never faster than that", func(t *testing.T) {
		s := rest(t)
		s.facts.Desired.Replicas = 3
		s.driver.refusing[pool.Resize] = &cloud.Error{Kind: cloud.Unavailable}
		s.pass()
		if out := s.after(time.Second - time.Nanosecond); out.RequeueAfter < 100*time.Millisecond {
			t.Errorf("want at least 100ms between passes, got %v", out.RequeueAfter)
		}
	})
}

func TestNodesAreJoinedByMeaning(t *testing.T) {
	s := rest(t)
	s.driver.observed.Instances = append(s.driver.observed.Instances,
		pool.Instance{ID: "i-3", ProviderID: "aws:///elsewhere/i-3", State: pool.Running, Marked: true},
		pool.Instance{ID: "unborn", State: pool.Pending})
	s.driver.observed.Group.Size, s.facts.Desired.Replicas = 4, 4
	s.cluster.nodes[""] = pool.Node{Name: "unrelated"}
	s.facts.Marked = map[string]bool{"aws://i-2": true, "": true}
	before := slices.Clone(s.driver.observed.Instances)
	out := s.pass()
	check(t, "keys asked for", [][]string{{"aws://i-1", "aws://i-2", "aws://i-3"}}, s.cluster.lookups)
	var got []string
	for _, i := range out.Observed.Instances {
		name := "none"
		if i.Node != nil {
			name = i.Node.Name
		}
		got = append(got, fmt.Sprintf("%s %s %t", i.ID, name, i.Marked))
	}
	check(t, "instances, nodes, marks", []string{"i-1 node-i-1 false", "i-2 node-i-2 true", "i-3 none true", "unborn none false"}, got)
	check(t, "the driver's own observation", before, s.driver.observed.Instances)
}

func TestAWorkloadClusterThatIsAway(t *testing.T) {
	t.Run("nothing is removed", func(t *testing.T) {
		s := rest(t)
		s.cluster.away = errors.New("dial tcp: connection refused")
		s.facts.Desired.Replicas = 1
		s.play(10 * time.Minute)
		out := s.pass()
		if !out.Observed.NodesUnknown || out.Err != nil || len(s.driver.starts)+len(s.cluster.starts) > 0 {
			t.Errorf("want nodes unknown and no step, got %+v, %s, %v", out, s.driver.began(), s.cluster.starts)
		}
	})
	t.Run("nothing is deleted", func(t *testing.T) {
		s := rest(t)
		s.cluster.away = errors.New("dial tcp: connection refused")
		s.facts.Desired.Deleting = true
		s.play(10 * time.Minute)
		check(t, "steps", "", s.driver.began())
		s.facts.Desired.NoDrain = &pool.Cause{Reason: "ClusterDeleted", Message: "x"}
		s.after(time.Minute)
		check(t, "steps once the cluster goes as a whole", "DeleteGroup", s.driver.began())
	})
	t.Run("it is not asked about an empty list", func(t *testing.T) {
		s := rest(t)
		s.driver.observed.Instances, s.driver.observed.Group.Size, s.facts.Desired.Replicas = nil, 0, 0
		s.cluster.away = errors.New("dial tcp: connection refused")
		if out := s.pass(); out.Observed.NodesUnknown || len(s.cluster.lookups) > 0 {
			t.Errorf("want no question, got %v, unknown: %t", s.cluster.lookups, out.Observed.NodesUnknown)
		}
	})
}

func TestDrainBelongsToTheNodes(t *testing.T) {
	s := rest(t)
	s.facts.Desired.Replicas = 1
	out := s.pass()
	if !out.Started || len(s.driver.starts) > 0 || len(s.cluster.starts) != 1 || s.cluster.starts[0].Kind != pool.Drain {
		t.Fatalf("want the drain begun by the nodes, got %v and %v", s.driver.starts, s.cluster.starts)
	}
	check(t, "its progress is looked at soon", 3*time.Second, out.RequeueAfter)
	s.cluster.nodes["aws://i-1"] = pool.Node{Name: "node-i-1", DrainStarted: s.facts.Now}
	s.after(3 * time.Second)
	if s.driver.began() != "Remove" || s.driver.starts[0].Targets[0].ID != "i-1" {
		t.Errorf("want the drained machine removed, got %+v", s.driver.starts)
	}
	s.facts.Desired.Replicas = 2
	s.after(3 * time.Second)
	if got := s.cluster.starts[len(s.cluster.starts)-1].Kind; got != pool.Undrain {
		t.Errorf("want the node given back by the nodes, got %s", got)
	}
}

// A Node that another client has just written is read again by the next pass: that is no news, and the other targets have begun.
func TestConflictsOfDrainsAreNoNews(t *testing.T) {
	conflict := &engine.ConflictError{Err: errors.New("modified")}
	for _, r := range []struct {
		why   string
		err   error
		fresh bool
	}{
		{"one conflict", conflict, false},
		{"two conflicts", errors.Join(fmt.Errorf("node a: %w", conflict), fmt.Errorf("node b: %w", conflict)), false},
		{"a conflict hides no other error", errors.Join(conflict, errors.New("forbidden")), true},
		{"another error", errors.New("forbidden"), true},
	} {
		s := rest(t)
		s.facts.Desired.Replicas = 1
		s.cluster.refuses = &engine.PartialError{Failed: map[string]bool{"i-1": true}, Err: r.err}
		out := s.pass()
		if out.Started || (out.NewError != nil) != r.fresh || !out.Failed["i-1"] {
			t.Errorf("%s: want news %v and i-1 not begun, got %v and %v", r.why, r.fresh, out.NewError, out.Failed)
		}
	}
}

func TestAnEffectIsLookedAtSoon(t *testing.T) {
	s := rest(t)
	s.driver.observed.Wanted.Content = "v1:b"
	check(t, "after a version", 100*time.Millisecond, s.pass().RequeueAfter)
	s = rest(t)
	s.facts.Desired.Replicas = 3
	check(t, "after a size", 3*time.Second, s.pass().RequeueAfter)
	check(t, "an event before that does not push it away", 2900*time.Millisecond, func() time.Duration {
		s.driver.observed.Group.Size = 3
		return s.after(100 * time.Millisecond).RequeueAfter
	}())
}

// Passes of different owners run at the same time.
func TestOwnersAtTheSameTime(t *testing.T) {
	e := engine.New[int](&calm{}, engine.Options{})
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() {
			f := engine.Input[int]{Target: cloud.Target[int]{Owner: cloud.Owner{ID: fmt.Sprint(k)}}, Desired: pool.Desired{Replicas: 1, Max: 1},
				Now: epoch}
			for range 100 {
				f.Now = f.Now.Add(e.Run(t.Context(), f, &cluster{}, nil).RequeueAfter)
			}
			e.Forget(f.Target.Owner.ID)
		})
	}
	wg.Wait()
}

// calm is a cloud without state, which refuses.
type calm struct{}

func (*calm) Traits() pool.Traits { return pool.Traits{Group: "group", Template: "template"} }

func (*calm) Observe(context.Context, cloud.Target[int]) (pool.Observed, error) {
	return pool.Observed{Wanted: pool.Template{Content: "v1:a"}}, nil
}

func (*calm) Start(context.Context, cloud.Target[int], pool.Step) error { return errors.New("no") }

// An instance that was given the ID of one that is gone is not the one that was asked to go, and the guard of that one says nothing of it.
func TestCondemnedAreNotThoseWithTheSameID(t *testing.T) {
	for uid, want := range map[string]bool{"new": false, "old": true, "": true} {
		s := rest(t)
		s.facts.DeletionRequested = map[string]pool.Cause{"aws://i-2": {Reason: "MachineDeleted", Message: "its Machine was deleted"}}
		s.facts.Guards = map[string]pool.Guard{"aws://i-2": {Requested: true, Released: true}}
		s.facts.UIDs = map[string]string{"aws://i-2": "old"}
		s.driver.observed.Instances[1].State, s.driver.observed.Instances[1].UID = pool.Running, uid
		out := s.pass()
		if i := out.Observed.Instances[1]; (i.DeletionRequested != nil) != want || (i.Guard != nil) != want {
			t.Errorf("UID %q: want condemned and guarded %t, got %v and %v", uid, want, i.DeletionRequested, i.Guard)
		}
	}
}

// A Node that has joined or turned Ready again after its Machine was drained holds pods that have not been evicted: the pool drains it.
func TestGuardThatDrainedAnEarlierNode(t *testing.T) {
	for name, c := range map[string]struct {
		ended, ready time.Duration
		guarded      bool
	}{
		"drained after it joined":                     {2 * time.Second, time.Second, true},
		"drained before it joined":                    {-time.Second, time.Second, false},
		"drained before another machine took it over": {2 * time.Second, time.Minute, false},
	} {
		s := rest(t)
		s.facts.DeletionRequested = map[string]pool.Cause{"aws://i-2": {Reason: "MachineDeleted", Message: "its Machine was deleted"}}
		s.driver.observed.Instances[1].State = pool.Running
		node := s.cluster.nodes["aws://i-2"]
		node.Cordoned, node.Ready, node.ReadySince = true, true, node.Joined.Add(c.ready)
		s.cluster.nodes["aws://i-2"] = node
		s.facts.Guards = map[string]pool.Guard{"aws://i-2": {Requested: true, Released: true, DrainEnded: node.Joined.Add(c.ended)}}
		out := s.pass()
		want := pool.Replace
		if !c.guarded {
			want = pool.Drain
		}
		if guarded := out.Observed.Instances[1].Guard != nil; guarded != c.guarded || out.Plan.Step == nil || out.Plan.Step.Kind != want {
			t.Errorf("%s: want guarded %t and %s, got %t and %+v", name, c.guarded, want, guarded, out.Plan.Step)
		}
	}
}

// A machine that was asked to go by name carries the reason with it, wherever its node is.
func TestCondemnedReachTheDecision(t *testing.T) {
	s := rest(t)
	s.facts.DeletionRequested = map[string]pool.Cause{"aws://i-2": {Reason: "MachineDeleted", Message: "its Machine was deleted"}}
	s.driver.observed.Instances[1].State = pool.Running
	node := s.cluster.nodes["aws://i-2"]
	node.Cordoned = true
	s.cluster.nodes["aws://i-2"] = node
	out := s.pass()
	if !out.Started || out.Plan.Step.Kind != pool.Drain || len(out.Plan.Step.Targets) != 1 || out.Plan.Step.Targets[0].ID != "i-2" {
		t.Fatalf("want i-2 drained, got %+v", out.Plan.Step)
	}
	if got := out.Plan.Step.Cause; got != s.facts.DeletionRequested["aws://i-2"] {
		t.Errorf("want its own reason, got %v", got)
	}
	if s.driver.observed.Instances[1].DeletionRequested != nil {
		t.Errorf("want the driver's observation unchanged")
	}
}

// TestLookupsAreStored holds that what an observation resolved is stored before a step of the driver starts, which does not start
// otherwise.
func TestLookupsAreStored(t *testing.T) {
	resized := func(s *scene) { s.facts.Desired.Replicas = 3 }
	for name, c := range map[string]struct {
		why      string
		change   func(*scene)
		resolved map[string]string
		failing  error
		stored   string
		started  bool
	}{
		"resolved": {"the step may rest on it", resized, map[string]string{"image": "ami-1"}, nil, "[map[image:ami-1] after 0]", true},
		"not stored": {"the next pass could resolve another image", resized, map[string]string{"image": "ami-1"}, errors.New("conflict"),
			"[map[image:ami-1] after 0]", false},
		"none":    {"there is nothing to store", resized, nil, nil, "[]", true},
		"no step": {"the object is written at the end of the pass", func(*scene) {}, map[string]string{"image": "ami-1"}, nil, "[]", false},
		"step on nodes": {"a drain does not rest on it", func(s *scene) { s.facts.Desired.Replicas = 1 }, map[string]string{"image": "ami-1"},
			nil, "[]", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := rest(t)
			s.driver.observed.ResolvedLookups, s.lookups.failing = c.resolved, c.failing
			c.change(s)
			out := s.pass()
			if got := fmt.Sprint(s.lookups.stored); got != c.stored || out.Started != c.started {
				t.Errorf("%s: want %s stored and the step started %t, got %s and %t", c.why, c.stored, c.started, got, out.Started)
			}
			if c.failing != nil && (len(s.driver.starts) > 0 || !errors.Is(out.NewError, c.failing)) {
				t.Errorf("%s: want the error and no step, got %v and %q", c.why, out.NewError, s.driver.began())
			}
		})
	}
}

// A scale set is gone with its machines, and their Nodes stay Ready for as long as nothing has been heard from their kubelets. Machines of
// the same names can't join meanwhile.
func TestFormerNodesHoldTheNextGroup(t *testing.T) {
	s := rest(t)
	s.driver.observed.Group, s.driver.observed.Instances = nil, nil
	s.driver.observed.InstancesBelow = "azure:///Sets/a/virtualMachines/"
	s.facts.KnownIDs = func() []string {
		return []string{"azure://sets/a/virtualmachines/1", "azure://sets/a/virtualmachines/2", "azure://sets/b/virtualmachines/1"}
	}
	s.cluster.nodes = map[string]pool.Node{
		"azure://sets/a/virtualmachines/1": {Name: "node-1", Ready: true}, "azure://sets/a/virtualmachines/2": {Name: "node-2"},
		"azure://sets/b/virtualmachines/1": {Name: "node-of-another-set", Ready: true},
	}
	out := s.pass()
	if out.Started || len(out.Plan.Waiting) != 1 || out.Plan.Waiting[0].Reason != "FormerNodesReady" ||
		!strings.Contains(out.Plan.Waiting[0].Message, ": node-1. ") {
		t.Fatalf("want no group made while node-1 is Ready, got %+v", out.Plan)
	}
	if out.RequeueAfter > 3*time.Second {
		t.Errorf("want it looked at again soon, got after %s", out.RequeueAfter)
	}
	s.cluster.nodes["azure://sets/a/virtualmachines/1"] = pool.Node{Name: "node-1"}
	if out = s.after(out.RequeueAfter); !out.Started || s.driver.began() != "CreateGroup" {
		t.Errorf("want the group made once no Node is Ready whose name it takes, got %+v", out.Plan)
	}

	s = rest(t)
	s.driver.observed.Group, s.driver.observed.Instances = nil, nil
	s.driver.observed.InstancesBelow = "azure:///Sets/a/virtualMachines/"
	s.facts.KnownIDs = func() []string { return []string{"azure://sets/a/virtualmachines/1"} }
	s.cluster.away = errors.New("out of reach")
	if out = s.pass(); !out.Started || s.driver.began() != "CreateGroup" {
		t.Errorf("want a workload cluster that can't be asked to keep no group from being made, got %+v", out.Plan)
	}
}
