package wire

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
)

// fleet is many callers of one bucket in virtual time. Those that are held back come again at their place.
type fleet struct {
	budgets budgets
	now     time.Time
	budget  Budget
	// refuse is the cloud: it reports whether it throttles a call.
	refuse func(now time.Time) bool
	// waiting are those that were held back.
	waiting []waiter
	// sent are the times of calls by level, throttled those of the calls that the cloud refused.
	sent      map[level][]time.Time
	throttled []time.Time
}

type waiter struct {
	level level
	at    time.Time
}

// call sends one call, or has it wait.
func (f *fleet) call(of level, turn bool) {
	if _, wait := f.budgets.take(ask{calls: 1, list: []Budget{f.budget}, level: of, turn: turn}, f.now); wait > 0 {
		f.waiting = append(f.waiting, waiter{of, f.now.Add(wait)})
		return
	}
	if f.sent == nil {
		f.sent = map[level][]time.Time{}
	}
	f.sent[of] = append(f.sent[of], f.now)
	if f.refuse != nil && f.refuse(f.now) {
		f.throttled = append(f.throttled, f.now)
		f.budgets.throttled([]Budget{f.budget}, f.now, f.now)
	}
}

// play lets the waiting callers come until a time.
func (f *fleet) play(until time.Time) {
	for {
		next := -1
		for i, w := range f.waiting {
			if !w.at.After(until) && (next < 0 || w.at.Before(f.waiting[next].at)) {
				next = i
			}
		}
		if next < 0 {
			f.now = until
			return
		}
		w := f.waiting[next]
		f.waiting = slices.Delete(f.waiting, next, next+1)
		f.now = w.at
		f.call(w.level, true)
	}
}

var idleRead = levelOf(cloud.PriorityIdle, true)

// Callers that are held back at once come back one by one, each at its own place, and each once.
func TestLine(t *testing.T) {
	f := &fleet{now: newClock().at, budget: Budget{Key: "k", Burst: 10, PerSecond: 8}}
	start := f.now
	for range 300 {
		f.call(idleRead, false)
	}
	places := map[time.Time]bool{}
	for _, w := range f.waiting {
		places[w.at] = true
	}
	if sent := len(f.sent[idleRead]); sent != 3 || len(places) != 297 {
		t.Fatalf("want 3 sent at once and 297 places, got %d and %d", sent, len(places))
	}
	f.play(start.Add(297 * time.Second / 8).Add(time.Millisecond))
	if len(f.waiting) > 0 || len(f.sent[idleRead]) != 300 {
		t.Errorf("want all sent at 8 a second, got %d sent and %d waiting", len(f.sent[idleRead]), len(f.waiting))
	}
}

// Who comes later stands behind those who wait, and takes nothing that they wait for.
func TestNewcomersWaitBehindTheLine(t *testing.T) {
	f := &fleet{now: newClock().at, budget: Budget{Key: "k", Burst: 1, PerSecond: 1}}
	start := f.now
	for range 3 {
		f.call(0, false)
	}
	f.now = start.Add(1100 * time.Millisecond)
	f.call(0, false)
	var got []time.Duration
	for _, w := range f.waiting {
		got = append(got, w.at.Sub(start))
	}
	if want := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}; !slices.Equal(got, want) {
		t.Errorf("want the newcomer last: %v, got %v", want, got)
	}
}

// While a long line of less urgent calls waits, a user's operation is sent at once, and so are those of each class before those after it.
func TestPriorities(t *testing.T) {
	f := &fleet{now: newClock().at, budget: Budget{Key: "k", Burst: 60, PerSecond: 8}}
	rotation := levelOf(cloud.PriorityRotation, false)
	for range 900 {
		f.call(idleRead, false)
		f.call(rotation, false)
	}
	f.play(f.now.Add(20 * time.Second))
	for p := range cloud.PriorityRotation {
		for _, readOnly := range []bool{true, false} {
			of := levelOf(p, readOnly)
			f.play(f.now.Add(time.Second))
			if f.call(of, false); len(f.sent[of]) != 1 {
				t.Errorf("%s, read only %v: want the call sent at once", p, readOnly)
			}
		}
	}
	before := len(f.sent[idleRead])
	f.play(f.now.Add(80 * time.Second))
	if len(f.sent[rotation]) < 600 || len(f.sent[idleRead]) > before {
		t.Errorf("want rotations before idle looks, got %d and %d", len(f.sent[rotation]), len(f.sent[idleRead])-before)
	}
	f.play(f.now.Add(300 * time.Second))
	if len(f.waiting) > 0 {
		t.Errorf("want everything sent in the end, got %d waiting", len(f.waiting))
	}
}

// A published limit is never exceeded, whatever comes, and used whole while there is work.
func TestPublishedLimitIsKept(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := &fleet{now: newClock().at, budget: Budget{Key: "k", Burst: 1 + r.IntN(50), PerSecond: 0.5 + 10*r.Float64()}}
		start := f.now
		for range 200 {
			for range r.IntN(10) {
				f.call(level(r.IntN(levels)), false)
			}
			f.play(f.now.Add(time.Duration(r.IntN(1000)) * time.Millisecond))
		}
		var all []time.Time
		for _, list := range f.sent {
			all = append(all, list...)
		}
		slices.SortFunc(all, time.Time.Compare)
		for i := range all {
			for k := i; k < len(all); k += 7 {
				if limit := float64(f.budget.Burst) + all[k].Sub(all[i]).Seconds()*f.budget.PerSecond + 0.01; float64(k-i+1) > limit {
					t.Fatalf("seed %d: want at most %.1f calls in %s, got %d", seed, limit, all[k].Sub(all[i]), k-i+1)
				}
			}
		}
		if minimum := 0.8 * f.budget.PerSecond * f.now.Sub(start).Seconds(); len(f.waiting) > 100 && float64(len(all)) < minimum {
			t.Errorf("seed %d: want at least %.0f calls with work waiting, got %d", seed, minimum, len(all))
		}
	}
}

// trueBucket is the limit that a cloud does not publish.
type trueBucket struct {
	burst, rate, tokens float64
	last                time.Time
}

func (b *trueBucket) refuses(now time.Time) bool {
	if b.last.IsZero() {
		b.tokens = b.burst
	} else {
		b.tokens = min(b.tokens+now.Sub(b.last).Seconds()*b.rate, b.burst)
	}
	b.last = now
	if b.tokens < 1 {
		return true
	}
	b.tokens--
	return false
}

// A limit that is not published is found by its refusals: most of it is used, few calls are refused, and a change of it is found again.
func TestAdaptiveBudget(t *testing.T) {
	for _, c := range []struct {
		why         string
		burst, rate float64
	}{
		{"a limit of a default account", 60, 8},
		{"a small one", 5, 2},
		{"others use most of it", 5, 1},
		{"one near the generous start", 100, 20},
	} {
		limit := &trueBucket{burst: c.burst, rate: c.rate}
		f := &fleet{now: newClock().at, refuse: limit.refuses, budget: Budget{Key: "k", Burst: 100, PerSecond: 25, Adaptive: true}}
		minutes := func(n int) (sent, refused float64) {
			before, bad := len(f.sent[0]), len(f.throttled)
			for range n * 600 {
				for len(f.waiting) < 10 {
					f.call(0, false)
				}
				f.play(f.now.Add(100 * time.Millisecond))
			}
			return float64(len(f.sent[0]) - before), float64(len(f.throttled) - bad)
		}
		minutes(1)
		sent, refused := minutes(10)
		if good := sent - refused; good < 0.6*c.rate*600 || refused > 0.05*sent {
			t.Errorf("%s (%.0f a second): want most of it used and few refused, got %.0f a minute used, %.0f of %.0f refused", c.why, c.rate,
				good/10, refused, sent)
		}
		limit.burst, limit.rate = 30, 15
		minutes(2)
		if sent, refused = minutes(5); sent-refused < 0.6*15*300 || refused > 0.05*sent {
			t.Errorf("%s: want a limit of 15 found again, got %.0f sent, %.0f of them refused, in five minutes", c.why, sent, refused)
		}
	}
}

// A cloud that throttles nothing is used as generously as the budget begins, and one refusal of many calls under way lowers the rate once.
func TestAdaptiveBudgetAtFirst(t *testing.T) {
	f := &fleet{now: newClock().at, budget: Budget{Key: "k", Burst: 100, PerSecond: 25, Adaptive: true}}
	start := f.now
	for range 600 {
		f.call(0, false)
	}
	f.play(start.Add(20*time.Second + time.Millisecond))
	if sent := len(f.sent[0]); sent != 600 {
		t.Errorf("want 100 and then 25 a second, got %d in 20 s", sent)
	}
	for range 10 {
		f.budgets.throttled([]Budget{f.budget}, start, f.now)
	}
	if got := f.budgets.buckets["k"].learned.rate(); got < 17 || got > 18 {
		t.Errorf("want the rate lowered once to 17.5, got %.1f", got)
	}
	f.budgets.throttled([]Budget{f.budget}, f.now.Add(time.Millisecond), f.now.Add(time.Second))
	if got := f.budgets.buckets["k"].learned.rate(); got < 12 || got > 13 {
		t.Errorf("want it lowered again by a call that was sent since, got %.1f", got)
	}
}

// Calls that come before their place, as a pass does that an event asked for, keep their place: the line gets no longer with each try than
// what waits in it, and tokens that nothing claims are given to newcomers.
func TestLineIsAsLongAsWhatWaits(t *testing.T) {
	const waiting, rate = 40, 8
	f := &fleet{now: newClock().at, budget: Budget{Key: "k", Burst: 20, PerSecond: rate}}
	a := ask{calls: 1, list: []Budget{f.budget}}
	for range f.budget.Burst + waiting {
		_, _ = f.budgets.take(a, f.now)
	}
	again := a
	again.turn = true
	for range 10 * waiting {
		_, _ = f.budgets.take(again, f.now)
	}
	if _, wait := f.budgets.take(a, f.now); wait > (10*waiting+1)*time.Second/rate {
		t.Errorf("want a newcomer behind those that came again, got it held back for %s", wait)
	}
	f.now = f.now.Add(3 * time.Second)
	if _, wait := f.budgets.take(a, f.now); wait > 0 {
		t.Errorf("want a call sent from a full bucket that none of the others has used for three seconds, got it held back for %s", wait)
	}
}

// The refusals of one burst lower the rate once, and by no more than a refusal does: the burst used the whole rate, whatever was used
// before it.
func TestBurstIsRefusedOnce(t *testing.T) {
	limit := &trueBucket{burst: 100, rate: 20}
	f := &fleet{now: newClock().at, refuse: limit.refuses, budget: Budget{Key: "k", Burst: 100, PerSecond: 25, Adaptive: true}}
	for range 5 {
		f.call(0, false)
		f.play(f.now.Add(time.Minute))
	}
	for range 300 {
		f.call(0, false)
	}
	f.play(f.now.Add(3 * time.Second))
	if got := float64(f.budgets.of(f.budget, f.now).limiter.Limit()); len(f.throttled) > 1 || got < 25*cubicBeta {
		t.Errorf("want at most one refusal and a rate of at least %.1f a second, got %d and %.1f", 25*cubicBeta, len(f.throttled), got)
	}
}
