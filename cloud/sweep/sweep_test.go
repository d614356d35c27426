package sweep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/cloud"
)

// account is a cloud whose objects have versions. Each call takes a moment, and sees them as they are when it begins.
type account struct {
	mu       sync.Mutex
	versions map[string]int
	// calls are the keys of each call; a listing has none.
	calls [][]string
	// fails lists the calls that are rejected, and the number of their objects that are read before.
	fails func(keys []string) (after int, err error)
	takes time.Duration
}

func (a *account) read(ctx context.Context, keys []string, found func(string, int)) error {
	a.mu.Lock()
	a.calls = append(a.calls, slices.Clone(keys))
	seen := maps.Clone(a.versions)
	fails, takes := a.fails, a.takes
	a.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return ctx.Err()
	}
	if keys == nil {
		keys = slices.Sorted(maps.Keys(seen))
	}
	limit, err := len(keys), error(nil)
	if fails != nil {
		if after, refused := fails(keys); refused != nil {
			limit, err = after, refused
		}
	}
	for _, key := range keys[:limit] {
		if version, ok := seen[key]; ok {
			found(key, version)
		}
	}
	return err
}

// slowBy sets how long the calls take that begin from now on.
func (a *account) slowBy(takes time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.takes = takes
}

func (a *account) set(key string, version int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.versions[key] = version
}

// sizes are the numbers of keys of the calls so far.
func (a *account) sizes() []int {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []int
	for _, keys := range a.calls {
		out = append(out, len(keys))
	}
	return out
}

// keys are so many names of objects, which all exist.
func (a *account) keys(n int) []string {
	out := make([]string, n)
	for k := range out {
		out[k] = fmt.Sprintf("group-%04d", k)
		a.versions[out[k]] = 1
	}
	return out
}

func newAccount() *account { return &account{versions: map[string]int{}, takes: time.Millisecond} }

func (a *account) sweep(chunk int) *Sweep[int] { return New(Options[int]{Some: a.read, Chunk: chunk}) }

// together asks for keys at one moment, with an age each, and returns the errors.
func together(s *Sweep[int], keys []string, maxAge time.Duration) []error {
	failed := make([]error, len(keys))
	var passes sync.WaitGroup
	for k, key := range keys {
		passes.Go(func() { _, failed[k] = s.Get(context.Background(), key, maxAge) })
	}
	passes.Wait()
	return failed
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if fmt.Sprint(want) != fmt.Sprint(got) {
		t.Errorf("%s: want %v, got %v", what, want, got)
	}
}

func TestCollects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		s, keys := a.sweep(100), a.keys(251)
		same(t, "errors", make([]error, 251), together(s, keys, 0))
		same(t, "one alone, the others in chunks", []int{1, 50, 100, 100}, slices.Sorted(slices.Values(a.sizes())))
		answer, err := s.Get(t.Context(), "none", 0)
		same(t, "what does not exist", "false <nil>", fmt.Sprint(answer.Found, err))
	})
}

func TestAges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		s, keys := a.sweep(100), a.keys(3)
		together(s, keys, 0)
		for _, c := range []struct {
			reason string
			after  time.Duration
			maxAge time.Duration
			touch  bool
			want   []int
		}{
			{reason: "an answer that is fresh enough", after: 3 * time.Second, maxAge: 10 * time.Second},
			{reason: "a new one is wanted: the other keys are not read", maxAge: 0, want: []int{1}},
			{reason: "after a write", touch: true, maxAge: time.Minute, want: []int{1}},
			{reason: "too old: the keys of the other pools, which come again, are read too", after: time.Minute, maxAge: 10 * time.Second,
				want: []int{3}},
			{reason: "alone", maxAge: cloud.NoSharedCache, want: []int{1}},
		} {
			a.calls = nil
			time.Sleep(c.after)
			if c.touch {
				s.Touch(keys[0])
			}
			_, err := s.Get(t.Context(), keys[0], c.maxAge)
			same(t, c.reason, fmt.Sprint(c.want, nil), fmt.Sprint(a.sizes(), err))
		}
		same(t, "the age that it accepts when it accepts one", 10*time.Second, s.entries[keys[0]].accepts)
	})
}

// A write while a call is under way makes the call's answer useless for all who ask later, whatever age they accept.
func TestWriteBesideACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		a.takes = time.Second
		s, keys := a.sweep(100), a.keys(2)
		var passes sync.WaitGroup
		passes.Go(func() { together(s, keys, 0) })
		time.Sleep(1500 * time.Millisecond)
		s.Touch(keys[1])
		a.set(keys[1], 2)
		s.Touch(keys[1])
		passes.Wait()
		answer, err := s.Get(t.Context(), keys[1], time.Hour)
		same(t, "version", "2 <nil>", fmt.Sprint(answer.Value, err))
	})
}

func TestFailedCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		s, keys := a.sweep(10), a.keys(30)
		together(s, keys, 0)
		time.Sleep(time.Minute)
		refused := errors.New("throttled")
		a.fails = func(call []string) (int, error) {
			if slices.Contains(call, keys[15]) {
				return slices.Index(call, keys[15]), refused
			}
			return 0, nil
		}
		failed := together(s, keys, time.Second)
		unknown := 0
		for k, err := range failed {
			if err != nil {
				unknown++
			}
			if err != nil && !errors.Is(err, refused) {
				t.Errorf("%s: want the refusal, got %v", keys[k], err)
			}
		}
		if unknown == 0 || unknown > 10 || failed[15] == nil {
			t.Errorf("want the keys behind the failure unknown, and no others: %v", failed)
		}
		a.fails = nil
		answer, err := s.Get(t.Context(), keys[15], 0)
		same(t, "later", "true <nil>", fmt.Sprint(answer.Found, err))
	})
}

func TestFill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		s := New(Options[int]{Some: a.read, Chunk: 3, MaxWeight: 4, Weight: func(version int) int { return version }})
		keys := a.keys(6)
		a.set(keys[1], 3)
		for _, key := range keys {
			_, _ = s.Get(t.Context(), key, 0)
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		a.calls = nil
		a.set(keys[5], 2)
		_, _ = s.Get(t.Context(), keys[5], time.Second)
		same(t, "those who asked longest ago come along, while there is room for them", [][]string{{keys[5], keys[0]}}, a.calls)
		a.set(keys[1], 1)
		_, _ = s.Get(t.Context(), keys[1], 0)
		time.Sleep(time.Second)
		a.calls = nil
		_, _ = s.Get(t.Context(), keys[5], time.Millisecond)
		same(t, "and not what was just read", [][]string{{keys[5], keys[2], keys[3]}}, a.calls)
	})
}

// A pool that comes between the looks of others, because a user has edited it, does not wait for what they would not take: read that soon,
// an answer is too old when they come.
func TestEditOfAnIdleFleet(t *testing.T) {
	t.Parallel()
	const period, accepts = 100 * time.Second, 20 * time.Second
	for _, c := range []struct {
		reason string
		lists  bool
		after  time.Duration
		want   int
	}{
		{reason: "long before the others come", after: period / 2, want: 1},
		{reason: "when they come soon", after: period - accepts/2, want: 50},
		{reason: "long before the others come, where a listing would name all", lists: true, after: period / 2, want: 1},
		{reason: "when they come soon, where a listing names all", lists: true, after: period - accepts/2, want: 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := newAccount()
			o, keys := Options[int]{Some: a.read, Chunk: 100}, a.keys(50)
			if c.lists {
				o.Chunk, o.All = 1, func(ctx context.Context, found func(string, int)) (int, error) { return 1, a.read(ctx, nil, found) }
			}
			s := New(o)
			for range 3 {
				for _, err := range together(s, keys, accepts) {
					same(t, "look", "<nil>", fmt.Sprint(err))
				}
				time.Sleep(period)
			}
			_ = together(s, keys, accepts)
			time.Sleep(c.after)
			a.calls = nil
			_, err := s.Get(t.Context(), keys[7], accepts/2)
			same(t, "edited", "<nil>", fmt.Sprint(err))
			same(t, c.reason, []int{c.want}, a.sizes())
		})
	}
}

// Who gives up waiting does not end the call for others. Without anyone who waits it ends.
func TestCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		s, keys := a.sweep(10), a.keys(2)
		together(s, keys, 0)
		a.takes = time.Hour
		start := time.Now()
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var passes sync.WaitGroup
		passes.Go(func() {
			_, err := s.Get(short, keys[0], 0)
			same(t, "who gave up", true, errors.Is(err, context.DeadlineExceeded) || err == nil)
		})
		passes.Go(func() {
			_, err := s.Get(t.Context(), keys[1], 0)
			same(t, "who waits", "<nil>", fmt.Sprint(err))
		})
		passes.Wait()
		if took := time.Since(start); took < time.Hour || took > 2*time.Hour {
			t.Errorf("want the call to go on for an hour, took %s", took)
		}
		start = time.Now()
		last, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := s.Get(last, keys[0], 0)
		same(t, "every caller has given up", "true 1m0s", fmt.Sprint(errors.Is(err, context.DeadlineExceeded),
			time.Since(start).Truncate(time.Second)))
	})
}

// An idle fleet costs few calls: each pool looks every two minutes, and accepts an answer of the last fifteen seconds. Only the first look
// of a pool may cost one of its own.
func TestIdleFleet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pools int
		limit float64
	}{{1, 1}, {100, 0.08}, {1000, 0.015}} {
		synctest.Test(t, func(t *testing.T) {
			a := newAccount()
			s, keys := a.sweep(100), a.keys(c.pools)
			var pools sync.WaitGroup
			const looks, period = 10, 2 * time.Minute
			for k, key := range keys {
				pools.Go(func() {
					time.Sleep(period * time.Duration(k) / time.Duration(c.pools))
					for range looks {
						if answer, err := s.Get(t.Context(), key, 15*time.Second); err != nil || !answer.Found {
							t.Errorf("want %s found, got %v", key, err)
						}
						time.Sleep(period)
					}
				})
			}
			pools.Wait()
			if per := float64(len(a.calls)-c.pools) / float64(looks*c.pools); per > c.limit {
				t.Errorf("%d pools: want at most %.2f calls a look, got %.3f", c.pools, c.limit, per)
			}
		})
	}
}

// Pools that the cloud works on come twice a second, a few at a time, and each accepts an answer of half of that time: they share calls
// all the same, and pools at rest cost none meanwhile.
func TestMovingFleet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		a.takes = 60 * time.Millisecond
		s, keys := a.sweep(100), a.keys(150)
		moving, resting := keys[:80], keys[80:]
		for _, key := range resting {
			_, _ = s.Get(t.Context(), key, 15*time.Second)
		}
		time.Sleep(time.Minute)
		before := len(a.sizes())
		const workers, looks, period = 10, 40, 600 * time.Millisecond
		var pools sync.WaitGroup
		turns := make(chan struct{}, workers)
		for k, key := range moving {
			pools.Go(func() {
				time.Sleep(period * time.Duration(k) / time.Duration(len(moving)))
				for range looks {
					turns <- struct{}{}
					if answer, err := s.Get(t.Context(), key, period/2); err != nil || !answer.Found {
						t.Errorf("want %s found, got %v", key, err)
					}
					<-turns
					time.Sleep(period)
				}
			})
		}
		pools.Wait()
		if perSecond := float64(len(a.sizes())-before) / (looks * period).Seconds(); perSecond > 4 {
			t.Errorf("want at most four calls a second, got %.1f", perSecond)
		}
	})
}

// Whatever comes together, an answer is no older than was asked for and knows the pool's own writes.
func TestFreshness(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			a := newAccount()
			a.takes = 80 * time.Millisecond
			broken := errors.New("broken")
			s, keys := New(Options[int]{Some: a.read, Chunk: 5, All: func(ctx context.Context, found func(string, int)) (int, error) {
				return 3, a.read(ctx, nil, found)
			}}), a.keys(12)
			faults := rand.New(rand.NewPCG(seed, 1))
			a.fails = func(call []string) (int, error) {
				if a.mu.Lock(); faults.IntN(10) == 0 {
					defer a.mu.Unlock()
					return faults.IntN(len(call)), broken
				}
				a.mu.Unlock()
				return 0, nil
			}
			var pools sync.WaitGroup
			for k, key := range keys {
				pools.Go(func() { life(t, a, s, key, rand.New(rand.NewPCG(seed, uint64(k)+2)), broken) })
			}
			pools.Wait()
		})
	}
}

// life is a pool that looks and writes; only its own writes change its object.
func life(t *testing.T, a *account, s *Sweep[int], key string, draw *rand.Rand, broken error) {
	type change struct {
		at      time.Time
		version int
	}
	changes := []change{{time.Time{}, 1}}
	byOthers := 0
	for range 60 {
		time.Sleep(time.Duration(draw.IntN(1500)) * time.Millisecond)
		if draw.IntN(4) == 0 {
			next := change{time.Now(), changes[len(changes)-1].version + 1}
			if own := draw.IntN(2) == 0; own {
				s.Touch(key)
				a.set(key, next.version)
				s.Touch(key)
				byOthers = len(changes)
			} else {
				a.set(key, next.version)
			}
			changes = append(changes, next)
		}
		maxAge := []time.Duration{0, cloud.NoSharedCache, time.Second, 10 * time.Second}[draw.IntN(4)]
		asked := time.Now()
		answer, err := s.Get(t.Context(), key, maxAge)
		if err != nil {
			if !errors.Is(err, broken) {
				t.Errorf("want the cloud's error, got %v", err)
			}
			continue
		}
		minimum := changes[byOthers].version
		for _, c := range changes {
			if c.at.Before(asked.Add(-max(maxAge, 0))) {
				minimum = max(minimum, c.version)
			}
		}
		if !answer.Found || answer.Value < minimum {
			t.Errorf("%s with an age of %s: want version %d or later, got %+v", key, maxAge, minimum, answer)
		}
	}
}

// A call has the priority of the most urgent pass that waits for it, and the place in line of one that was held back.
func TestPriority(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		var asked []string
		s := New(Options[int]{Chunk: 100, Some: func(ctx context.Context, keys []string, found func(string, int)) error {
			asked = append(asked, fmt.Sprint(len(keys), cloud.PriorityOf(ctx), cloud.HasTurn(ctx)))
			return a.read(ctx, keys, found)
		}})
		keys := a.keys(4)
		idle, rollout := cloud.WithPriority(t.Context(), cloud.PriorityIdle), cloud.WithPriority(t.Context(), cloud.PriorityRollout)
		_, _ = s.Get(idle, keys[3], 0) // a sweep that serves one key collects nothing
		for _, c := range []struct {
			reason   string
			contexts []context.Context
			want     []string
		}{
			{"the first of a process", []context.Context{idle}, []string{"1 idle false"}},
			{"idle looks", []context.Context{idle, idle}, []string{"2 idle false"}},
			{"an urgent look among them", []context.Context{idle, cloud.WithTurn(rollout), idle}, []string{"3 rollout true"}},
		} {
			asked = nil
			var passes sync.WaitGroup
			for k, ctx := range c.contexts {
				passes.Go(func() { _, _ = s.Get(ctx, keys[k], 0) })
			}
			passes.Wait()
			same(t, c.reason, c.want, asked)
		}
		s.Touch(keys[0])
		go func() { _, _ = s.Get(idle, keys[0], time.Second) }()
		time.Sleep(DefaultCollect + time.Microsecond)
		_, _ = s.Get(rollout, keys[0], time.Second)
		same(t, "an urgent look does not wait for an idle call under way", "rollout", strings.Fields(asked[len(asked)-1])[1])
	})
}

// Each pass of a call that was refused has an error of its own: what one puts to it another does not see.
func TestOwnErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		keys := a.keys(3)
		s := a.sweep(100)
		together(s, keys, 0)
		a.fails = func([]string) (int, error) { return 0, &cloud.Error{Kind: cloud.Denied, Message: "no"} }
		failed := together(s, keys, 0)
		_ = cloud.AsConflict(failed[0])
		same(t, "the other passes", []cloud.ErrorKind{cloud.Conflict, cloud.Denied, cloud.Denied},
			[]cloud.ErrorKind{cloud.KindOf(failed[0]), cloud.KindOf(failed[1]), cloud.KindOf(failed[2])})
	})
}

// A call that a rate budget holds back has one place in line for all requests for its key: later ones wait for that place, and
// one call then answers them. What is more urgent asks at once.
func TestHeldBackCallHasOnePlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		s, key := a.sweep(1), a.keys(1)[0]
		a.fails = func([]string) (int, error) {
			return 0, &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited, After: 2 * time.Second}
		}
		idle := cloud.WithPriority(t.Context(), cloud.PriorityIdle)
		ask := func(ctx context.Context) time.Duration {
			_, err := s.Get(ctx, key, time.Second)
			var held *cloud.Error
			if !errors.As(err, &held) || held.Code != cloud.CodeClientRateLimited {
				t.Fatalf("want the read held back, got %v", err)
			}
			return held.After
		}
		same(t, "the first", 2*time.Second, ask(idle))
		for range 3 {
			time.Sleep(500 * time.Millisecond)
			ask(idle)
		}
		same(t, "the fourth waits for the rest of the same time", 500*time.Millisecond, ask(cloud.WithTurn(idle)))
		same(t, "calls", 1, len(a.sizes()))
		ask(cloud.WithPriority(t.Context(), cloud.PriorityRollout))
		same(t, "calls with a more urgent one", 2, len(a.sizes()))
		ask(cloud.WithTurn(idle))
		same(t, "calls with one that waits for something else", 2, len(a.sizes()))
		a.fails = nil
		time.Sleep(2 * time.Second)
		same(t, "one that was not held back, at the place", time.Second, ask(idle))
		same(t, "calls until then", 2, len(a.sizes()))
		time.Sleep(time.Second)
		same(t, "at the place", make([]error, 5), together(s, []string{key, key, key, key, key}, time.Second))
		same(t, "calls at last", 3, len(a.sizes()))
	})
}
