package wire

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// Each level leaves tokens to the more urgent ones: a share of the bucket, at least one for each of them, and not all of it.
func TestFloors(t *testing.T) {
	for _, c := range []struct {
		burst int
		level level
		sole  bool
		want  int
	}{
		{burst: 100, level: 0, want: 100},
		{burst: 100, level: 1, want: 95},
		{burst: 100, level: 7, want: 80},
		{burst: 100, level: 7, sole: true, want: 100},
		{burst: 50, level: 5, want: 43},
		{burst: 10, level: 7, want: 3},
		{burst: 1, level: 7, want: 1},
		{burst: 1000, level: 7, want: 810},
	} {
		var b budgets
		now, sent := newClock().at, 0
		a := ask{calls: 1, level: c.level, list: []Budget{{Key: "k", Burst: c.burst, PerSecond: 1, Sole: c.sole}}}
		for wait := time.Duration(0); wait == 0; sent++ {
			_, wait = b.take(a, now)
		}
		if sent--; sent != c.want {
			t.Errorf("a bucket of %d, level %d, sole %v: want %d calls at once, got %d", c.burst, c.level, c.sole, c.want, sent)
		}
	}
}

// What a call waits for is the longest of what holds it back.
func TestWaits(t *testing.T) {
	now := newClock().at
	slow, fast := Budget{Key: "slow", Burst: 1, PerSecond: 0.1}, Budget{Key: "fast", Burst: 1, PerSecond: 1}
	rare := Budget{Key: "rare", Burst: 1, PerSecond: 0.01}
	seconds := func(n time.Duration) time.Time { return now.Add(n * time.Second) }
	for _, c := range []struct {
		reason string
		before func(b *budgets, take func(level, ...Budget))
		list   []Budget
		level  level
		want   time.Duration
	}{
		{reason: "nothing", list: []Budget{slow, fast}},
		{
			reason: "the longer wait comes first", list: []Budget{slow, fast}, want: 10,
			before: func(_ *budgets, take func(level, ...Budget)) { take(0, slow, fast) },
		},
		{
			reason: "the longer wait comes last", list: []Budget{fast, slow}, want: 10,
			before: func(_ *budgets, take func(level, ...Budget)) { take(0, slow, fast) },
		},
		{
			reason: "a long line counts as one of two minutes", list: []Budget{rare}, want: 220,
			before: func(_ *budgets, take func(level, ...Budget)) { take(0, rare); take(0, rare); take(0, rare) },
		},
		{
			reason: "the end of the line is that of the more urgent ones", list: []Budget{fast}, level: 7, want: 4,
			before: func(_ *budgets, take func(level, ...Budget)) {
				take(0, fast)
				take(7, fast)
				for range 3 {
					take(0, fast)
				}
			},
		},
		{
			reason: "a later request of the cloud to wait", list: []Budget{fast}, want: 60,
			before: func(b *budgets, _ func(level, ...Budget)) {
				b.shut([]Budget{fast}, nil, seconds(30))
				b.shut([]Budget{fast}, nil, seconds(60))
			},
		},
		{
			reason: "a shorter request of the cloud to wait than an earlier one", list: []Budget{fast}, want: 60,
			before: func(b *budgets, _ func(level, ...Budget)) {
				b.shut([]Budget{fast}, nil, seconds(60))
				b.shut([]Budget{fast}, nil, seconds(30))
			},
		},
		{
			reason: "a request of the cloud beyond the line", list: []Budget{fast}, want: 60,
			before: func(b *budgets, take func(level, ...Budget)) {
				take(0, fast)
				take(0, fast)
				b.shut([]Budget{fast}, nil, seconds(60))
			},
		},
	} {
		var b budgets
		take := func(of level, list ...Budget) { b.take(ask{calls: 1, level: of, list: list}, now) }
		if c.before != nil {
			c.before(&b, take)
		}
		if _, got := b.take(ask{calls: 1, level: c.level, list: c.list}, now); got != c.want*time.Second {
			t.Errorf("%s: want a wait of %s, got %s", c.reason, c.want*time.Second, got)
		}
	}
}

// A budget without a size is none, whatever replies say.
func TestNoBudget(t *testing.T) {
	var b budgets
	now, none := newClock().at, []Budget{{Key: "none", Adaptive: true}}
	b.throttled(none, now, now)
	b.reportRemaining(none, []Remaining{{Key: "none"}}, now)
	b.shut(none, nil, now.Add(time.Minute))
	if _, wait := b.take(ask{calls: 1, list: none}, now); wait != 0 || len(b.buckets) > 0 {
		t.Errorf("want the call sent without a bucket, got a wait of %s and %d buckets", wait, len(b.buckets))
	}
}

// A refusal empties an adaptive bucket once: what it gains afterwards is not taken by refusals of calls from before.
func TestRefusalEmptiesTheBucket(t *testing.T) {
	var b budgets
	now, list := newClock().at, []Budget{{Key: "k", Burst: 100, PerSecond: 10, Adaptive: true}}
	wait := func(at time.Time) time.Duration {
		_, wait := b.take(ask{calls: 1, list: list}, at)
		return wait
	}
	b.take(ask{calls: 50, list: list}, now)
	b.throttled(list, now, now.Add(time.Second))
	if wait(now.Add(time.Second)) == 0 {
		t.Error("want a bucket that was refused empty, got a call sent")
	}
	if got, want := float64(b.buckets["k"].limiter.Limit()), b.buckets["k"].learned.rate(); got != want || got >= 10 {
		t.Errorf("want the bucket refilled at the lower rate of %.1f at once, got %.1f", want, got)
	}
	b.throttled(list, now, now.Add(3*time.Second))
	if got := wait(now.Add(3 * time.Second)); got > 0 {
		t.Errorf("want nothing taken by another refusal of a call from before, got a wait of %s", got)
	}
	for k := range 20 {
		at := now.Add(time.Duration(10+k) * time.Second)
		b.throttled(list, at, at)
	}
	if got := b.buckets["k"].limiter.Burst(); got != levels {
		t.Errorf("want a slow bucket to have room for each level, got a size of %d", got)
	}
	small := []Budget{{Key: "small", Burst: 4, PerSecond: 10, Adaptive: true}}
	b.throttled(small, now, now)
	if got := b.buckets["small"].limiter.Burst(); got != 4 {
		t.Errorf("want a small bucket no larger than it was, got a size of %d", got)
	}
}

// The rate stays between its bounds, grows with use alone, and is lowered by what a refusal says of it.
func TestLearnedRate(t *testing.T) {
	now := newClock().at
	rate := func(l learner) string { return fmt.Sprintf("%.1f", l.rate()) }
	cut := learner{max: 20, cut: now, peak: 10}
	used, gap, idle, early := cut, cut, learner{max: 24}, cut
	used.active, gap.last = time.Hour, now
	gap.sent(now.Add(time.Hour))
	idle.sent(now)
	idle.throttled(now.Add(time.Minute), now.Add(time.Minute))
	early.throttled(now, now.Add(time.Second))
	for _, c := range []struct {
		reason    string
		want, got string
	}{
		{"at first", "20.0", rate(learner{max: 20})},
		{"after a refusal", "7.0", rate(cut)},
		{"never beyond the most", "20.0", rate(used)},
		{"never too low to find out", "0.5", rate(learner{max: 20, cut: now, peak: 0.5})},
		{"an hour without calls counts as a second of use", "7.9", rate(gap)},
		{"one that was hardly used is halved first", "8.4", rate(idle)},
		{"a call of the moment of the refusal says nothing", "7.0", rate(early)},
	} {
		if c.got != c.want {
			t.Errorf("%s: want a rate of %s, got %s", c.reason, c.want, c.got)
		}
	}
}

// A list goes on although others wait in line: its pages were counted when it began.
func TestListGoesOnBesideALine(t *testing.T) {
	c := newClock()
	transport := New(Options{Base: &base{status: http.StatusOK}, Now: c.now, Budgets: func(Call) []Budget {
		return []Budget{{Key: "k", Burst: 4, PerSecond: 1}}
	}})
	list, pages := Paged(t.Context(), 4)
	for k, want := range []bool{true, false, true, true, true} {
		ctx := list
		if !want {
			ctx = t.Context()
		}
		if err := send(ctx, t, transport, Call{}); (err == nil) != want {
			t.Errorf("call %d: want it sent: %v, got %v", k, want, err)
		}
	}
	c.at = c.at.Add(3 * time.Second)
	if err := send(t.Context(), t, transport, Call{}); err != nil || pages.Sent() != 4 {
		t.Errorf("want the pages counted once, got %d, %v", pages.Sent(), err)
	}
}

// What gathers for those in line is kept for them, and no more than that.
func TestKeptForTheLine(t *testing.T) {
	for after, sent := range map[time.Duration]bool{10 * time.Second: false, 11500 * time.Millisecond: true} {
		var b budgets
		now, list := newClock().at, []Budget{{Key: "k", Burst: 20, PerSecond: 1}}
		for range 2 {
			b.take(ask{calls: 20, list: list}, now)
		}
		if _, wait := b.take(ask{calls: 1, list: list}, now.Add(after)); (wait == 0) != sent {
			t.Errorf("%s after the bucket was empty, with a call in line for all of it at 20s: want a newcomer sent: %v, got a wait of %s", after,
				sent, wait)
		}
	}
}
