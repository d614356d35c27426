package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/pool"
)

// reports reports whether an outcome names a reason among what the pool waits for.
func reports(out engine.Outcome, reason string) bool {
	return slices.ContainsFunc(out.Plan.Waiting, func(c pool.Cause) bool { return c.Reason == reason })
}

// TestUnfilledGroup holds that a group that rests with fewer instances than its size is reported after a while in every cloud, and that its
// size is requested again where the cloud launches on a write alone: rarely where that has no effect, and not while instances come.
func TestUnfilledGroup(t *testing.T) {
	for _, c := range []struct {
		why                      string
		launchesOnWrite          bool
		change                   func(*pool.Observed, time.Duration)
		minRequests, maxRequests int
		overdue                  bool
	}{
		{"a cloud that launches by itself", false, nil, 0, 0, true},
		{"a cloud that launches on a write, which has no effect", true, nil, 5, 14, true},
		{"the cloud is at work", true, func(o *pool.Observed, _ time.Duration) { o.Group.Busy = &pool.Cause{Reason: "Scaling"} }, 0, 0, false},
		{"instances come, one after the other", true, func(o *pool.Observed, at time.Duration) {
			o.Instances[0].Created = epoch.Add(at.Truncate(30 * time.Second))
		}, 0, 0, false},
		{"the list of instances is newer than the size for a moment", true, func(o *pool.Observed, at time.Duration) {
			if at > 20*time.Second {
				o.Group.Size = 2
			}
		}, 0, 0, false},
	} {
		s := rest(t)
		s.driver.launchesOnWrite, s.facts.Desired.Replicas = c.launchesOnWrite, 3
		s.driver.observed.Group.Size = 3
		overdue := false
		for at := time.Duration(0); at < 30*time.Minute; at += 10 * time.Second {
			if c.change != nil {
				c.change(&s.driver.observed, at)
				s.facts.Desired.Replicas = s.driver.observed.Group.Size
			}
			overdue = reports(s.after(10*time.Second), "LaunchOverdue")
		}
		n := 0
		for _, step := range s.driver.starts {
			if step.Kind != pool.Resize || step.Size != 3 {
				t.Errorf("%s: want nothing started but requests of the size, got %+v", c.why, step)
			}
			n++
		}
		if n < c.minRequests || n > c.maxRequests || overdue != c.overdue {
			t.Errorf("%s: want %d to %d requests and overdue %t, got %d and %t", c.why, c.minRequests, c.maxRequests, c.overdue, n, overdue)
		}
	}
}
