package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// aged is a node that has been Ready for so long.
func (s *scene) aged(key string, ready time.Duration) {
	s.cluster.nodes[key] = pool.Node{Name: "node", Joined: epoch.Add(-time.Hour), Ready: true, ReadySince: epoch.Add(-ready)}
}

// A node counts once it has been Ready for long enough. Nothing tells of that moment: the engine looks again at it.
func TestADeadlineIsLookedAtWhenItEnds(t *testing.T) {
	s := rest(t)
	s.facts.Desired.MinReady = 10 * time.Minute
	s.aged("aws://i-1", time.Hour)
	s.aged("aws://i-2", 9*time.Minute)
	check(t, "look at the end of the deadline", time.Minute, s.pass().RequeueAfter)
	check(t, "and as at rest when it has ended", 100*time.Second, s.after(time.Minute).RequeueAfter)
	s.aged("aws://i-2", 0)
	check(t, "a deadline further away than the next look changes nothing", 100*time.Second, s.pass().RequeueAfter)
}

// What one call may not name at once follows at once, for nothing has to be seen before it.
func TestTheRestOfABatchFollowsAtOnce(t *testing.T) {
	s := rest(t)
	s.facts.Desired.Replicas = 0
	s.driver.observed.Instances, s.driver.observed.Group.Size = nil, 11
	for k := range 11 {
		i := pool.Instance{ID: string(rune('a' + k)), State: pool.Running, Template: s.driver.observed.Versions[0]}
		s.driver.observed.Instances = append(s.driver.observed.Instances, i)
	}
	check(t, "ten of eleven removed", 100*time.Millisecond, s.pass().RequeueAfter)
	s.driver.observed.Instances, s.driver.observed.Group.Size = s.driver.observed.Instances[10:], 1
	check(t, "the last one", 3*time.Second, s.pass().RequeueAfter)
	check(t, "steps", "Remove Remove", s.driver.began())
}

// What nothing waits for is done at leisure, however much of it there is: looks and calls have budgets.
func TestProtectionIsUnhurried(t *testing.T) {
	s := rest(t)
	exposed := func(n int) {
		for k := range s.driver.observed.Instances {
			s.driver.observed.Instances[k].ScaleInUnprotected = k >= len(s.driver.observed.Instances)-n
		}
	}
	s.facts.Desired.Replicas, s.driver.observed.Group.Size = 7, 7
	for k := range 5 {
		i := s.driver.observed.Instances[0]
		i.ID = string(rune('a' + k))
		s.driver.observed.Instances = append(s.driver.observed.Instances, i)
	}
	exposed(7)
	check(t, "five of seven protected", 10*time.Second, s.pass().RequeueAfter)
	exposed(2)
	check(t, "the last two", 3*time.Second, s.after(10*time.Second).RequeueAfter)
	exposed(0)
	check(t, "at rest", 100*time.Second, s.after(3*time.Second).RequeueAfter)
	check(t, "steps", "Protect Protect", s.driver.began())
}

// A drain that does not show as begun is not begun again without a pause, whatever else there is to do.
func TestADrainThatDoesNotBeginIsNoLoop(t *testing.T) {
	s := rest(t)
	s.facts.Desired.Replicas = 1
	for _, ref := range []string{"t:-1", "t:-2", "t:-3"} {
		s.driver.observed.Versions = append(s.driver.observed.Versions, pool.Template{Ref: ref, Content: ref})
	}
	check(t, "what else there is follows at once", 100*time.Millisecond, s.pass().RequeueAfter)
	for range 3 {
		check(t, "the same drain again", 3*time.Second, s.after(100*time.Millisecond).RequeueAfter)
	}
	check(t, "drains", 4, len(s.cluster.starts))
}

// The longer a drain takes, the rarer its rounds, but for the one at which its time is up.
func TestLongDrainIsReadLessOften(t *testing.T) {
	s := rest(t)
	s.facts.Desired.Replicas, s.facts.Desired.DrainTimeout = 1, 8*time.Minute
	s.cluster.nodes["aws://i-2"] = pool.Node{
		Name: "node", Joined: epoch.Add(-time.Hour), Ready: true, ReadySince: epoch.Add(-time.Hour), Cordoned: true, DrainStarted: epoch,
		Remaining: 1,
	}
	waits := []time.Duration{s.pass().RequeueAfter}
	for len(s.driver.began()) == 0 && len(waits) < 200 {
		waits = append(waits, s.after(waits[len(waits)-1]).RequeueAfter)
	}
	check(t, "the first round", 3*time.Second, waits[0])
	check(t, "the longest pause", 15*time.Second, slices.Max(waits))
	check(t, "the machine goes when its drain's time is up", epoch.Add(8*time.Minute), s.facts.Now)
}

// What a group needs is made and then looked for after a while: a cloud may show it late, and the next step rests on it.
func TestPrerequisitesGetTime(t *testing.T) {
	s := rest(t)
	s.driver.observed.MissingPrerequisites = []string{"role"}
	check(t, "look again", 3*time.Second, s.pass().RequeueAfter)
	s.driver.observed.MissingPrerequisites = nil
	check(t, "at rest", 100*time.Second, s.after(3*time.Second).RequeueAfter)
	check(t, "steps", "EnsurePrerequisites", s.driver.began())
}

// While the cloud is at work on the group it is asked again and again, the more rarely the longer it takes, and nothing is begun.
func TestABusyGroupIsWatched(t *testing.T) {
	s := rest(t)
	s.facts.Desired.Replicas = 5
	s.driver.observed.Group.Busy = &pool.Cause{Reason: "Updating", Message: "at work"}
	check(t, "at first", 3*time.Second, s.pass().RequeueAfter)
	check(t, "after an hour", time.Minute, s.after(time.Hour).RequeueAfter)
	check(t, "steps", "", s.driver.began())
	s.driver.observed.Group.Busy = nil
	_ = s.after(time.Minute)
	check(t, "then", "Resize", s.driver.began())
}

// After a write the cloud is looked at again after three seconds, and then ever more rarely. Where pools share reads the first look comes
// soon, the next after twice the time each, up to a small share of the time that the movement has taken, and each accepts an answer of a
// half of its wait.
func TestLooksAfterAWrite(t *testing.T) {
	for _, c := range []struct {
		why    string
		shared bool
		waits  []time.Duration
		most   int
		age    time.Duration
	}{
		{"a read for each pool", false, milliseconds(3000, 3000, 3000, 3000, 4000), 90, 0},
		{"reads that pools share", true, milliseconds(300, 600, 600, 600, 600, 600), 400, 300 * time.Millisecond},
	} {
		s := rest(t)
		s.driver.observed.Cache.Shared = c.shared
		s.facts.Desired.Replicas = 3
		waits := []time.Duration{s.pass().RequeueAfter}
		s.driver.observed.Group.Size = 3
		for len(waits) < len(c.waits) {
			waits = append(waits, s.after(waits[len(waits)-1]).RequeueAfter)
		}
		check(t, c.why, c.waits, waits)
		check(t, c.why+": age", c.age, s.driver.observes[len(s.driver.observes)-1].Cache.MaxAge)
		if n := len(s.play(time.Hour)); n > c.most {
			t.Errorf("%s: want at most %d looks in an hour of waiting, got %d", c.why, c.most, n)
		}
	}
}

// At rest a look accepts what was read for other pools a moment ago, and the first one whatever the process has read. A size that is set
// elsewhere is looked at more often.
func TestLooksAtRest(t *testing.T) {
	for _, c := range []struct {
		why              string
		external, shared bool
		again            time.Duration
		ages             []time.Duration
	}{
		{"a read for each pool", false, false, 100 * time.Second, milliseconds(20000, 20000, 20000)},
		{"reads that pools share", false, true, 95 * time.Second, milliseconds(20000, 20000, 20000)},
		{"an autoscaler sizes the group", true, false, 20 * time.Second, milliseconds(20000, 5000, 5000)},
		{"an autoscaler sizes the group, shared", true, true, 20 * time.Second, milliseconds(20000, 4000, 4750)},
	} {
		s := rest(t)
		s.driver.observed.Cache.Shared, s.facts.Desired.ReplicasManagedExternally = c.shared, c.external
		again := s.pass().RequeueAfter
		for range 2 {
			again = s.after(again).RequeueAfter
		}
		var ages []time.Duration
		for _, o := range s.driver.observes {
			ages = append(ages, o.Cache.MaxAge)
		}
		check(t, c.why, c.again, again)
		check(t, c.why+": ages", c.ages, ages)
	}
}

// Pools at rest that share their reads are looked at at the same moments after some looks, whenever the first was: one reading answers
// all. No wait is longer than that of a pool alone, or so short that the age which a look accepts becomes small.
func TestLooksAtRestMeet(t *testing.T) {
	const steady = 100 * time.Second
	for _, offset := range []time.Duration{0, time.Second, 19 * time.Second, 50 * time.Second, 81 * time.Second, 99 * time.Second} {
		s := rest(t)
		s.driver.observed.Cache.Shared, s.facts.Now = true, epoch.Truncate(steady).Add(offset)
		wait := s.pass().RequeueAfter
		for range 5 {
			if wait < 80*time.Second || wait > steady {
				t.Errorf("first look %s after a multiple: want the next after 80 to 100 s, got %s", offset, wait)
			}
			wait = s.after(wait).RequeueAfter
		}
		check(t, "a look after some rounds", s.facts.Now.Truncate(steady), s.facts.Now)
		check(t, "and then always", steady, wait)
	}
}

func milliseconds(list ...int) (all []time.Duration) {
	for _, n := range list {
		all = append(all, time.Duration(n)*time.Millisecond)
	}
	return all
}

// A rate budget that is used up is no failure: what was seen before holds, however long it lasts, and no event tells of it.
func TestHeldBackIsNoNews(t *testing.T) {
	held := fmt.Errorf("observe: %w", &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited, After: 5 * time.Second})
	s := rest(t)
	s.pass()
	s.driver.failing = held
	for _, c := range []struct {
		why   string
		later time.Duration
		want  bool
	}{
		{"the first time", 2 * time.Minute, true},
		{"a pass that waits for the back-off", time.Second, true},
		{"again, within the minute", 50 * time.Second, true},
		{"for an hour", time.Hour, true},
	} {
		if out := s.after(c.later); out.RateLimited != c.want || out.Seen || out.NewError != nil {
			t.Errorf("%s: want held back %v and no news, got %+v", c.why, c.want, out)
		}
	}
	s.driver.failing = nil
	if out := s.after(time.Hour); !out.Seen || out.RateLimited {
		t.Errorf("want a look, got %+v", out)
	}
	s.driver.failing = held
	if out := s.after(time.Hour); !out.RateLimited {
		t.Errorf("want a moment counted anew after a look, got %+v", out)
	}
	s.driver.failing = &cloud.Error{Kind: cloud.Throttled, Code: "TooManyRequests"}
	if out := s.after(time.Hour); !out.RateLimited {
		t.Errorf("want what was seen before to hold when the cloud throttles for a moment, got %+v", out)
	}
	if out := s.after(2 * time.Minute); out.RateLimited {
		t.Errorf("want the cloud's own refusal reported when it lasts, got %+v", out)
	}
	s.driver.failing = held
	if out := s.after(time.Hour); !out.RateLimited {
		t.Errorf("want the pass held back, got %+v", out)
	}
	s.driver.failing = nil
	s.after(time.Hour)
	for _, failing := range []error{&cloud.Error{Kind: cloud.Throttled, Code: "TooManyRequests"}, held,
		&cloud.Error{Kind: cloud.Throttled, Code: "TooManyRequests"}} {
		s.driver.failing = failing
		if out := s.after(10 * time.Minute); !out.RateLimited {
			t.Errorf("want the time of the rate budget not counted as the cloud's refusal, got %+v", out)
		}
	}
	s.driver.failing = &cloud.Error{Kind: cloud.Throttled, Code: "TooManyRequests"}
	if out := s.after(time.Hour); out.NewError != nil {
		t.Errorf("want what the cloud said before the budget was used up to be no news, got %+v", out)
	}
}

// A request that was held back is sent again at its place in line, however often that happened: a later one would leave its tokens unused.
func TestHeldBackWaitsForItsPlace(t *testing.T) {
	s := rest(t)
	s.driver.failing = &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited, After: 2 * time.Second}
	for range 10 {
		check(t, "again", 2*time.Second, s.after(time.Hour).RequeueAfter)
	}
	s.driver.failing = &cloud.Error{Kind: cloud.Unavailable}
	check(t, "a failure after them is the first", time.Second, s.after(time.Hour).RequeueAfter)
}

// A step that waits for a rate budget is not refused: what the cloud said of it before stays.
func TestAStepThatIsHeldBackIsNotRefused(t *testing.T) {
	s := rest(t)
	s.facts.Desired.Replicas = 3
	held := &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited, Message: "held back", After: 4 * time.Second}
	s.driver.refusing = map[pool.StepKind]error{pool.Resize: held}
	out := s.pass()
	check(t, "refusals", 0, len(out.Refused))
	check(t, "waits for", []pool.Cause{{Reason: "ClientRateLimited", Message: "Resize waits: held back"}}, out.Plan.Waiting)
	check(t, "other steps go on", 3*time.Second, out.RequeueAfter)
	full := &cloud.Error{Kind: cloud.Capacity, Message: "no room"}
	s.driver.refusing[pool.Resize] = full
	_ = s.after(time.Hour)
	s.driver.refusing[pool.Resize] = held
	out = s.after(time.Hour)
	check(t, "the cloud's answer", "no room", out.Refused[pool.Resize].Error())
}

// While a rate budget holds back a step, a look would take its call from the same budget. A step with many targets waits until the budget
// has room for several of them.
func TestAStepThatIsHeldBackIsNotLookedAfter(t *testing.T) {
	for _, c := range []struct {
		why     string
		place   time.Duration
		targets int
		shared  bool
		want    time.Duration
	}{
		{"a shared look would come sooner", time.Second, 1, true, time.Second},
		{"a batch has its look for itself", 100 * time.Millisecond, 5, true, 2 * time.Second},
		{"one target has not", 100 * time.Millisecond, 1, true, 100 * time.Millisecond},
		{"the place in line is further away: something else may be noticed", time.Minute, 5, true, 2 * time.Second},
		{"a look that reads for the pool alone is rare anyway", time.Minute, 5, false, 3 * time.Second},
	} {
		s := rest(t)
		s.facts.Desired.Replicas = 0
		s.driver.observed.Instances, s.driver.observed.Group.Size, s.driver.observed.Cache.Shared = nil, c.targets, c.shared
		for k := range c.targets {
			i := pool.Instance{ID: string(rune('a' + k)), State: pool.Running, Template: s.driver.observed.Versions[0]}
			s.driver.observed.Instances = append(s.driver.observed.Instances, i)
		}
		s.driver.refusing = map[pool.StepKind]error{pool.Remove: &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited,
			After: c.place}}
		check(t, c.why, c.want, s.pass().RequeueAfter)
	}
}
