package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// An error says nothing about what exists: an object whose cloud can't be read must not go, or everything that it owns
// would stay behind and cost money.
func TestErrorsWhileDeleting(t *testing.T) {
	for name, err := range errorsOfEveryKind() {
		t.Run(name, func(t *testing.T) {
			s := rest(t)
			s.facts.Desired.Deleting = true
			s.driver.observed, s.driver.failing = pool.Observed{}, err
			for range 20 {
				if out := s.after(time.Minute); out.Plan.DeletionComplete || out.Seen || out.Err == nil {
					t.Fatalf("want the object kept until the cloud has answered, got %+v", out)
				}
			}
			s.driver.failing = nil
			s.after(5 * time.Minute)
			if out := s.after(10 * time.Second); !out.Plan.DeletionComplete {
				t.Errorf("want it gone once the cloud reports that nothing is left, got %+v", out)
			}
		})
	}
}

// TestALostReplyOfACreationIsCounted holds that a creation counts from the request that may have reached the cloud, and not from one that
// was refused: a group whose creation was not answered may appear after a look that shows none.
func TestALostReplyOfACreationIsCounted(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		waits bool
	}{
		{"accepted", nil, true},
		{"reply lost", &cloud.Error{Kind: cloud.Unavailable, Code: cloud.CodeNoReply}, true},
		{"an error that no cloud answered", errors.New("connection reset"), true},
		{"refused", &cloud.Error{Kind: cloud.Denied}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := rest(t)
			there := s.driver.observed
			s.pass()
			s.driver.observed = pool.Observed{Versions: there.Versions, Wanted: there.Wanted}
			if c.err != nil {
				s.driver.refusing[pool.CreateGroup] = c.err
			}
			s.after(time.Minute)
			if !strings.Contains(s.driver.began(), "CreateGroup") {
				t.Fatalf("want the group asked for, got %s", s.driver.began())
			}
			s.facts.Desired.Deleting, s.facts.Generation, s.driver.observed = true, "2", pool.Observed{Versions: there.Versions}
			out := s.after(time.Second)
			if waits := !out.Started && out.RequeueAfter == 9*time.Second; waits != c.waits {
				t.Errorf("want it waited for a second look %t, got %+v", c.waits, out)
			}
		})
	}
}

// TestACreationEndsWhatADeletionHasProven holds that a group which was seen to be deleted proves nothing about the one created after it.
func TestACreationEndsWhatADeletionHasProven(t *testing.T) {
	s := rest(t)
	there := s.driver.observed
	s.driver.observed = pool.Observed{Versions: there.Versions, Wanted: there.Wanted, Group: &pool.Group{ID: "g", Deleting: true}}
	s.pass()
	s.driver.observed.Group = nil
	if s.after(time.Second); s.driver.began() != "CreateGroup" {
		t.Fatalf("want the group created, got %s", s.driver.began())
	}
	s.facts.Desired.Deleting, s.facts.Generation, s.driver.observed = true, "2", pool.Observed{}
	if out := s.after(time.Minute); out.Plan.DeletionComplete {
		t.Errorf("want a second look before the object goes, got %+v", out)
	}
}

// A process that ended a moment ago may have created what reads do not show yet, so one look that finds nothing does not end a deletion,
// unless this process has seen the group deleted.
func TestDeletionIsConfirmed(t *testing.T) {
	s := rest(t)
	there := s.driver.observed
	s.facts.Desired.Deleting, s.driver.observed = true, pool.Observed{}
	out := s.pass()
	if out.Plan.DeletionComplete || len(out.Plan.Waiting) != 1 || out.Plan.Waiting[0].Reason != "ConfirmingDeletion" ||
		out.RequeueAfter != 10*time.Second {
		t.Fatalf("want the object kept for ten seconds, got %+v", out)
	}
	s.driver.observed = pool.Observed{Versions: there.Versions}
	if out = s.after(out.RequeueAfter); !out.Started || s.driver.began() != "DeleteTemplates" {
		t.Fatalf("want what the second look shows deleted, got %+v", out)
	}
	s.driver.observed = pool.Observed{}
	if out = s.after(time.Second); out.Plan.DeletionComplete {
		t.Errorf("want the ten seconds counted from the last look that found something, got %+v", out)
	}
	if out = s.after(10 * time.Second); !out.Plan.DeletionComplete {
		t.Errorf("want it gone, got %+v", out)
	}

	s = rest(t)
	s.pass()
	s.facts.Desired.Deleting, s.facts.Generation, s.driver.observed = true, "2", pool.Observed{}
	if out := s.after(10 * time.Second); out.Plan.DeletionComplete {
		t.Errorf("want a second look where the group was there a moment ago, got %+v", out)
	}
	s.driver.observed = pool.Observed{Group: &pool.Group{ID: "g", Deleting: true}}
	s.after(time.Second)
	s.driver.observed = pool.Observed{}
	if out := s.after(time.Second); !out.Plan.DeletionComplete {
		t.Errorf("want no second look where the group was seen to be deleted, got %+v", out)
	}
}

// A read that finds no group may be from before its creation, although a later one has shown the group or its deletion: the template and
// the object stay until a read can't be that old.
func TestNoGroupIsBelievedWhileItsCreationMayBeMissed(t *testing.T) {
	s := rest(t)
	there := s.driver.observed
	s.driver.observed = pool.Observed{Versions: there.Versions, Wanted: there.Wanted}
	if out := s.pass(); !out.Started || s.driver.began() != "CreateGroup" {
		t.Fatalf("want the group created, got %+v", out)
	}
	s.facts.Desired.Deleting, s.facts.Generation = true, "2"
	s.driver.observed = pool.Observed{Versions: there.Versions, Group: &pool.Group{ID: "g", Deleting: true}}
	s.after(time.Second)
	s.driver.observed = pool.Observed{Versions: there.Versions}
	out := s.after(time.Second)
	if out.Started || len(out.Plan.Waiting) != 1 || out.Plan.Waiting[0].Reason != "ConfirmingDeletion" || out.RequeueAfter != 8*time.Second {
		t.Errorf("want no step before ten seconds have passed since the creation, got %+v", out)
	}
	if out = s.after(8 * time.Second); !out.Started || s.driver.began() != "CreateGroup DeleteTemplates" {
		t.Fatalf("want the template deleted then, got %+v after %s", out, s.driver.began())
	}
	s.driver.observed = pool.Observed{}
	if out = s.after(time.Second); !out.Plan.DeletionComplete {
		t.Errorf("want it gone, got %+v", out)
	}
}

// A process that ended a moment ago may have created the group too: to the next one its first look is as late as that may have been.
func TestNoGroupIsBelievedSoonAfterARestart(t *testing.T) {
	s := rest(t)
	s.facts.Desired.Deleting = true
	s.driver.observed = pool.Observed{Versions: s.driver.observed.Versions}
	out := s.pass()
	if out.Started || len(out.Plan.Waiting) != 1 || out.Plan.Waiting[0].Reason != "ConfirmingDeletion" || out.RequeueAfter != 10*time.Second {
		t.Fatalf("want no step before ten seconds have passed since the first look, got %+v", out)
	}
	if out = s.after(out.RequeueAfter); !out.Started || s.driver.began() != "DeleteTemplates" {
		t.Errorf("want the template deleted then, got %+v after %s", out, s.driver.began())
	}
}

// What the specification wants no longer counts when the pool is deleted.
func TestASpecificationThatCanNotBeMetIsDeleted(t *testing.T) {
	unmet := fmt.Errorf("observe: %w", &cloud.SpecUnsatisfiableError{Err: cloud.Invalidf("spec.x", "no such thing")})
	s := rest(t)
	s.driver.observed, s.driver.failing = pool.Observed{}, unmet
	if out := s.pass(); out.Seen || cloud.KindOf(out.Err) != cloud.Invalid {
		t.Errorf("want the field named while the pool stays, got %+v", out)
	}
	s.facts.Desired.Deleting, s.facts.Generation = true, "2"
	s.pass()
	if out := s.after(10 * time.Second); !out.Plan.DeletionComplete || out.Err != nil {
		t.Errorf("want it gone: everything was read, and nothing was there; got %+v", out)
	}
	s = rest(t)
	s.pass()
	s.facts.Desired.Deleting, s.facts.Generation = true, "2"
	s.driver.observed.Group, s.driver.observed.Instances, s.driver.failing = nil, nil, unmet
	if out := s.after(10 * time.Second); !out.Started || s.driver.began() != "DeleteTemplates" {
		t.Errorf("want what is left deleted, got %+v", out)
	}
}

// Each step of a deletion has its own back-off, and the deletion goes on where it stood.
func TestRefusalsWhileDeleting(t *testing.T) {
	s := rest(t)
	s.facts.Desired.Deleting = true
	s.cluster.refuses = errors.New("nodes is forbidden")
	s.play(time.Hour)
	if n := len(s.cluster.starts); n > oneHourOfErrors || len(s.driver.starts) > 0 {
		t.Errorf("want at most %d tries to drain and nothing deleted undrained, got %d and %q", oneHourOfErrors, n, s.driver.began())
	}
	s.cluster.refuses = nil
	if out := s.after(5 * time.Minute); !out.Started || out.Plan.Step.Kind != pool.Drain {
		t.Fatalf("want nodes drained once that is allowed, got %+v", out)
	}
	for key, node := range s.cluster.nodes {
		node.DrainStarted = s.facts.Now
		s.cluster.nodes[key] = node
	}
	s.driver.refusing[pool.DeleteGroup] = &cloud.Error{Kind: cloud.Conflict, Message: "an activity is in progress"}
	s.play(conflictsSoon)
	s.driver.starts = nil
	s.play(time.Hour)
	if n := len(s.driver.starts); n < 10 || n > oneHourOfErrors {
		t.Errorf("want 10 to %d tries to delete the group, got %d", oneHourOfErrors, n)
	}
	delete(s.driver.refusing, pool.DeleteGroup)
	s.after(5 * time.Minute)
	s.driver.observed = pool.Observed{Versions: s.driver.observed.Versions}
	s.after(time.Minute)
	s.driver.observed = pool.Observed{}
	if out := s.after(time.Minute); !out.Plan.DeletionComplete {
		t.Errorf("want nothing left, got %+v", out)
	}
	if got := s.driver.starts[len(s.driver.starts)-1].Kind; got != pool.DeleteTemplates {
		t.Errorf("want the template deleted last, got %s", got)
	}
}
