package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/pool"
)

// ranked is a cloud that notes the priority of each call.
type ranked struct {
	*driver
	observed, started []cloud.Priority
	turns             []bool
	// places are the steps that came at their place in line.
	places []pool.StepKind
}

func (r *ranked) Observe(ctx context.Context, t cloud.Target[int]) (pool.Observed, error) {
	r.observed, r.turns = append(r.observed, cloud.PriorityOf(ctx)), append(r.turns, cloud.HasTurn(ctx))
	return r.driver.Observe(ctx, t)
}

func (r *ranked) Start(ctx context.Context, t cloud.Target[int], s pool.Step) error {
	if r.started = append(r.started, cloud.PriorityOf(ctx)); cloud.HasTurn(ctx) {
		r.places = append(r.places, s.Kind)
	}
	return r.driver.Start(ctx, t, s)
}

// ranks puts the noting driver into a scene.
func ranks(t *testing.T) (*scene, *ranked) {
	s := rest(t)
	r := &ranked{driver: s.driver}
	s.engine = engine.New[int](r, engine.Options{})
	s.facts.ContentGeneration = "1"
	return s, r
}

// rotated gives the pool bootstrap data of the same content, which a version of its own has to bring.
func rotated(s *scene, r *ranked) {
	s.facts.Generation += "'"
	r.driver.observed.Wanted.Data = "e"
}

// Calls have the priority of what they are for: of a look what the pass before it or a change of what is asked for says, of a step its own.
func TestPriorities(t *testing.T) {
	for _, c := range []struct {
		why         string
		change      func(*scene, *ranked)
		look, begun cloud.Priority
		none        bool
	}{
		{"nothing moves", func(*scene, *ranked) {}, cloud.PriorityIdle, 0, true},
		{"a user scales", func(s *scene, _ *ranked) {
			s.facts.Generation, s.facts.ContentGeneration, s.facts.Desired.Replicas = "2", "2", 5
		}, cloud.PriorityOperation, cloud.PriorityOperation, false},
		{"a user deletes", func(s *scene, _ *ranked) {
			s.facts.Desired.Deleting, s.facts.Desired.NoDrain = true, &pool.Cause{Reason: "ClusterDeleting"}
		}, cloud.PriorityOperation, cloud.PriorityOperation, false},
		{"a template changes", func(s *scene, r *ranked) {
			s.facts.Generation, s.facts.ContentGeneration, r.driver.observed.Wanted.Content = "2", "2", "v1:b"
		}, cloud.PriorityOperation, cloud.PriorityRollout, false},
		{"tokens are rotated", rotated, cloud.PriorityRotation, cloud.PriorityRotation, false},
		{"tokens are rotated while the pool is scaled", func(s *scene, r *ranked) {
			rotated(s, r)
			s.facts.ContentGeneration, s.facts.Desired.Replicas = "2", 5
		}, cloud.PriorityOperation, cloud.PriorityOperation, false},
	} {
		s, r := ranks(t)
		s.pass()
		check(t, c.why+": first look of the process", cloud.PriorityRollout, r.observed[0])
		c.change(s, r)
		s.after(time.Hour)
		check(t, c.why+": look", c.look, r.observed[1])
		if c.none {
			check(t, c.why+": steps", 0, len(r.started))
			continue
		}
		if len(r.started) == 0 {
			t.Fatalf("%s: want a step begun", c.why)
		}
		check(t, c.why+": step", c.begun, r.started[0])
	}
}

// After a start of the process a pool of which a user has asked something comes before those of which nothing is known.
func TestEditedComesFirst(t *testing.T) {
	s, r := ranks(t)
	s.facts.Edited = true
	s.pass()
	check(t, "first look of the process", cloud.PriorityOperation, r.observed[0])
}

// Passes that are held back come at their place, and are promoted one class after another.
func TestHeldBackIsPromoted(t *testing.T) {
	s, r := ranks(t)
	s.pass()
	s.after(2 * time.Minute)
	s.driver.failing = &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited, After: 100 * time.Millisecond}
	from := len(r.observed)
	for range 45 {
		s.after(10 * time.Second)
	}
	at := func(d time.Duration) cloud.Priority { return r.observed[from+int(d/(10*time.Second))] }
	check(t, "at first", cloud.PriorityIdle, at(0))
	check(t, "after half a minute", cloud.PriorityRotation, at(30*time.Second))
	check(t, "after a minute", cloud.PriorityRollout, at(time.Minute))
	check(t, "after four", cloud.PriorityRollout, at(4*time.Minute))
	check(t, "after five", cloud.PriorityOperation, at(5*time.Minute))
	check(t, "the first has no turn", false, r.turns[from])
	check(t, "the second has", true, r.turns[from+1])
	s.driver.failing = nil
	s.after(10 * time.Second)
	s.after(2 * time.Minute)
	check(t, "once it was let through", cloud.PriorityIdle, r.observed[len(r.observed)-1])
	check(t, "it has no turn", false, r.turns[len(r.turns)-1])
}

// A step that a rate budget holds back comes at its place in line, with the look before it, however often the pool was looked at meanwhile.
// These looks, and other steps that they find, come at no place.
func TestHeldBackStepKeepsItsPlace(t *testing.T) {
	s, r := ranks(t)
	s.pass()
	s.after(2 * time.Minute)
	s.driver.observed.Cache.Shared, s.facts.Desired.Replicas = true, 3
	s.driver.refusing[pool.Resize] = &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited, After: 10 * time.Second}
	from, place := len(r.turns), s.facts.Now.Add(10*time.Second)
	wait := s.pass().RequeueAfter
	for _, ref := range []string{"t:-1", "t:-2", "t:-3"} {
		s.driver.observed.Versions = append(s.driver.observed.Versions, pool.Template{Ref: ref, Content: ref})
	}
	for s.facts.Now.Add(wait).Before(place) {
		wait = s.after(wait).RequeueAfter
	}
	check(t, "steps before the place has come", "Resize PruneTemplates PruneTemplates PruneTemplates", s.driver.began())
	for i, turn := range r.turns[from:] {
		check(t, fmt.Sprintf("look %d before the place has come", i), false, turn)
	}
	check(t, "steps at a place before it has come", 0, len(r.places))
	s.after(wait)
	check(t, "the look at the place", true, r.turns[len(r.turns)-1])
	check(t, "the step at its place", []pool.StepKind{pool.Resize}, r.places)
	delete(s.driver.refusing, pool.Resize)
	s.after(10 * time.Second)
	check(t, "the step again", []pool.StepKind{pool.Resize, pool.Resize}, r.places)
	s.facts.Desired.Replicas = 4
	s.after(10 * time.Second)
	check(t, "what is wanted after it", []pool.StepKind{pool.Resize, pool.Resize}, r.places)
}

// slow is a cloud of several reads whose budget allows one a second. What was read is kept for passes that accept its age.
type slow struct {
	*driver
	now   *time.Time
	read  []time.Time
	last  time.Time
	calls int
}

func (d *slow) Observe(ctx context.Context, t cloud.Target[int]) (pool.Observed, error) {
	for k := range d.read {
		if !d.read[k].IsZero() && t.Cache.MaxAge > 0 && d.now.Sub(d.read[k]) <= t.Cache.MaxAge {
			continue
		}
		if d.now.Sub(d.last) < time.Second {
			return pool.Observed{}, &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited,
				After: d.last.Add(time.Second).Sub(*d.now)}
		}
		d.last, d.read[k] = *d.now, *d.now
		d.calls++
	}
	return d.driver.Observe(ctx, t)
}

// A look that is held back goes on where it stopped: its reads are made once each, and a step that is no removal may rest on them.
func TestHeldBackKeepsWhatItHasRead(t *testing.T) {
	s := rest(t)
	d := &slow{driver: s.driver, now: &s.facts.Now, read: make([]time.Time, 8)}
	s.engine = engine.New[int](d, engine.Options{})
	s.facts.Desired.Replicas = 3
	for passes := 0; len(s.driver.starts) == 0; passes++ {
		if passes > 20 {
			t.Fatalf("want the pool scaled, got %d calls in %d passes", d.calls, passes)
		}
		s.facts.Now = s.facts.Now.Add(s.pass().RequeueAfter)
	}
	check(t, "calls", 8, d.calls)
	s.driver.observed.Group.Size = 3
	s.facts.Desired.Replicas = 1
	s.facts.Desired.NoDrain = &pool.Cause{Reason: "ClusterDeleting"}
	s.after(time.Hour)
	for range 60 {
		s.facts.Now = s.facts.Now.Add(s.pass().RequeueAfter)
	}
	for _, step := range s.driver.starts {
		if step.Kind == pool.Remove {
			t.Errorf("want no removal on what was read in several passes, got one")
		}
	}
}

// shared is a cloud that other pools read each ten seconds. Once it is crowded nothing is read for this pool alone.
type shared struct {
	*driver
	now     *time.Time
	crowded bool
}

func (d *shared) Observe(ctx context.Context, t cloud.Target[int]) (pool.Observed, error) {
	if age := d.now.Sub(d.now.Truncate(10 * time.Second)); d.crowded && t.Cache.MaxAge <= age {
		return pool.Observed{}, &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited, After: 45 * time.Second}
	}
	return d.driver.Observe(ctx, t)
}

// A look that is held back for longer than reads are kept takes what was read for others since, although the pool's pace asks for a newer
// answer: each pool of a fleet would have the same read for itself.
func TestHeldBackTakesWhatOthersHaveRead(t *testing.T) {
	s := rest(t)
	d := &shared{driver: s.driver, now: &s.facts.Now}
	s.engine = engine.New[int](d, engine.Options{})
	s.driver.observed.Cache.Shared = true
	s.facts.Desired.Replicas = 3
	check(t, "started", true, s.pass().Started)
	s.driver.observed.Group.Size, d.crowded = 3, true
	s.facts.Now = s.facts.Now.Add(time.Second)
	out := s.pass()
	for passes := 0; !out.Seen; passes++ {
		if passes > 2 {
			t.Fatalf("want the third look answered by what others have read, got %v", out.Err)
		}
		s.facts.Now = s.facts.Now.Add(out.RequeueAfter)
		out = s.pass()
	}
}

// A look that is held back goes on with what was read since, also if an earlier look of its pass was answered by what others had read.
func TestHeldBackGoesOnAfterASharedLook(t *testing.T) {
	s := rest(t)
	d := &slow{driver: s.driver, now: &s.facts.Now, read: make([]time.Time, 3)}
	s.engine = engine.New[int](d, engine.Options{})
	for k := range d.read {
		d.read[k] = s.facts.Now
	}
	s.facts.Desired.Replicas = 3
	for passes := 0; len(s.driver.starts) == 0; passes++ {
		if passes > 20 {
			t.Fatalf("want the pool scaled, got %d calls in %d passes", d.calls, passes)
		}
		s.facts.Now = s.facts.Now.Add(s.pass().RequeueAfter)
	}
}

// A group is not made smaller on what was read for others, however long its looks are held back: the cloud would choose the instances that
// go.
func TestHeldBackLowersNothing(t *testing.T) {
	for _, c := range []struct{ size, starts int }{{size: 6}, {size: 2, starts: 1}} {
		s := rest(t)
		d := &shared{driver: s.driver, now: &s.facts.Now, crowded: true}
		s.engine = engine.New[int](d, engine.Options{})
		s.driver.observed.Cache.Shared, s.driver.observed.Group.Size, s.facts.Desired.Replicas = true, c.size, 3
		for range 10 {
			s.facts.Now = s.facts.Now.Add(s.pass().RequeueAfter)
			if len(s.driver.starts) > 0 {
				s.driver.observed.Group.Size = 3
			}
		}
		if len(s.driver.starts) != c.starts {
			t.Errorf("of the size %d: want %d steps, got %+v", c.size, c.starts, s.driver.starts)
		}
	}
}

// narrow is a cloud of which a look takes two calls and a step one, of a budget that is refilled with two in a tenth of a second.
type narrow struct {
	*driver
	now    *time.Time
	tokens float64
	filled time.Time
}

const narrowRate = 20

func (d *narrow) Observe(ctx context.Context, t cloud.Target[int]) (pool.Observed, error) {
	d.tokens = min(3, d.tokens+narrowRate*d.now.Sub(d.filled).Seconds())
	d.filled = *d.now
	if d.tokens < 2 {
		return pool.Observed{}, &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited, After: 100 * time.Millisecond}
	}
	d.tokens -= 2
	return d.driver.Observe(ctx, t)
}

func (d *narrow) Start(ctx context.Context, t cloud.Target[int], s pool.Step) error {
	if d.tokens < 1 {
		return &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited, After: 50 * time.Millisecond}
	}
	d.tokens--
	return d.driver.Start(ctx, t, s)
}

// A step whose look takes all that flows into the budget until its place in line is begun all the same.
func TestHeldBackWaitsForItsLookToo(t *testing.T) {
	s := rest(t)
	d := &narrow{driver: s.driver, now: &s.facts.Now, filled: s.facts.Now}
	s.engine = engine.New[int](d, engine.Options{})
	s.facts.Desired.Replicas = 3
	for passes := 0; len(s.driver.starts) == 0; passes++ {
		if passes > 60 {
			t.Fatal("want the pool scaled within 60 passes")
		}
		s.facts.Now = s.facts.Now.Add(s.pass().RequeueAfter)
	}
}

// paged is a cloud whose list of machines takes several calls, which are not shared, of a budget that is refilled with one in five seconds.
type paged struct {
	*driver
	now    *time.Time
	tokens float64
	filled time.Time
}

const pages, bucket = 8, 12

func (d *paged) Observe(ctx context.Context, t cloud.Target[int]) (pool.Observed, error) {
	d.tokens, d.filled = min(bucket, d.tokens+d.now.Sub(d.filled).Seconds()/5), *d.now
	if d.tokens < pages {
		d.tokens -= float64(int(d.tokens))
		return pool.Observed{}, &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited, After: 40 * time.Second}
	}
	d.tokens -= pages
	return d.driver.Observe(ctx, t)
}

// saving is a cloud whose budget takes some time to have room for an exact look, and begins anew when another look is made.
type saving struct {
	*driver
	now   *time.Time
	since time.Time
}

func (d *saving) Observe(ctx context.Context, t cloud.Target[int]) (pool.Observed, error) {
	if t.Cache.MaxAge > 0 {
		d.since = *d.now
	}
	if left := d.since.Add(time.Minute).Sub(*d.now); t.Cache.MaxAge == 0 && left > 0 {
		return pool.Observed{}, &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited, After: 30 * time.Second}
	}
	return d.driver.Observe(ctx, t)
}

// An exact look that is held back twice is still made first: a look that takes what it finds would use up what was saved for it.
func TestHeldBackStaysExact(t *testing.T) {
	s := rest(t)
	d := &saving{driver: s.driver, now: &s.facts.Now}
	s.engine = engine.New[int](d, engine.Options{})
	s.driver.observed.Cache.Shared = true
	s.after(time.Hour)
	s.facts.Desired.Replicas, s.facts.Desired.NoDrain = 1, &pool.Cause{Reason: "ClusterDeleting"}
	for passes := 0; len(s.driver.starts) == 0; passes++ {
		if passes > 20 {
			t.Fatal("want a removal begun within 20 passes")
		}
		s.facts.Now = s.facts.Now.Add(s.pass().RequeueAfter)
	}
	check(t, "step", pool.Remove, s.driver.starts[0].Kind)
}

// So is one that a doubt asked for.
func TestHeldBackStaysExactInDoubt(t *testing.T) {
	s := rest(t)
	s.engine = engine.New[int](&saving{driver: s.driver, now: &s.facts.Now}, engine.Options{})
	s.driver.observed.Cache.Shared = true
	s.after(time.Hour)
	s.facts.NeedsFreshRead = func(pool.Observed) bool { return true }
	for looks := len(s.driver.observes); len(s.driver.observes) == looks || s.driver.observes[len(s.driver.observes)-1].Cache.MaxAge > 0; {
		if len(s.driver.observes)-looks > 20 {
			t.Fatal("want an exact look after at most 20 others")
		}
		s.facts.Now = s.facts.Now.Add(s.pass().RequeueAfter)
	}
}

// An exact look that is held back is made first in the next pass: a removal begins although the budget has no room for two looks in one
// pass.
func TestHeldBackBeginsWithTheExactLook(t *testing.T) {
	s := rest(t)
	d := &paged{driver: s.driver, now: &s.facts.Now, filled: s.facts.Now}
	s.engine = engine.New[int](d, engine.Options{})
	s.after(time.Hour)
	s.facts.Desired.Replicas, s.facts.Desired.NoDrain = 1, &pool.Cause{Reason: "ClusterDeleting"}
	for passes := 0; len(s.driver.starts) == 0; passes++ {
		if passes > 20 {
			t.Fatal("want a removal begun within 20 passes")
		}
		s.facts.Now = s.facts.Now.Add(s.pass().RequeueAfter)
	}
	check(t, "step", pool.Remove, s.driver.starts[0].Kind)
	check(t, "age of the read it rests on", time.Duration(0), s.driver.observes[len(s.driver.observes)-1].Cache.MaxAge)
}
