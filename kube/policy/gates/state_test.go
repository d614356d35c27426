package gates

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var begin = time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)

func TestNext(t *testing.T) {
	t.Parallel()
	const p, n, u = Positive, Negative, Undecided
	for _, c := range []struct {
		why           string
		answers       []Verdict
		failures      int
		unknownFails  bool
		phase, known  Phase
		wantsFailures int
	}{
		{why: "no answer yet, also after a restart", phase: Unknown},
		{why: "one positive answer is enough", answers: []Verdict{p}, phase: Passed, known: Passed},
		{why: "one negative answer does not fail, and does not pass", answers: []Verdict{p, n}, phase: Pending, known: Pending, wantsFailures: 1},
		{why: "as many as are tolerated fail", answers: []Verdict{n, n, n}, phase: Failed, known: Failed, wantsFailures: 3},
		{why: "a positive answer begins the count again", answers: []Verdict{n, n, p, n}, phase: Pending, known: Pending, wantsFailures: 1},
		{why: "a failed gate can pass again", answers: []Verdict{n, n, n, p}, phase: Passed, known: Passed},
		{why: "the count does not grow without end", answers: []Verdict{n, n, n, n, n}, phase: Failed, known: Failed, wantsFailures: 3},
		{why: "one failure is enough where the gate has it so", answers: []Verdict{n}, failures: 1, phase: Failed, known: Failed,
			wantsFailures: 1},
		{why: "no data is not passed", answers: []Verdict{u}, phase: Unknown},
		{why: "what was known before stays known", answers: []Verdict{p, u}, phase: Unknown, known: Passed},
		{why: "a source that is down between two failures hides none", answers: []Verdict{n, n, u, n}, phase: Failed, known: Failed,
			wantsFailures: 3},
		{why: "a source that is down is no failure", answers: []Verdict{n, u, u, u}, phase: Unknown, known: Pending, wantsFailures: 1},
		{why: "unless the gate has it so", answers: []Verdict{u, u, u}, unknownFails: true, phase: Failed, known: Failed, wantsFailures: 3},
		{why: "then as many are tolerated", answers: []Verdict{p, u, u}, unknownFails: true, phase: Pending, known: Pending, wantsFailures: 2},
	} {
		s := NotAsked()
		for k, v := range c.answers {
			s = Next(s, Sample{Verdict: v}, Rules{Failures: c.failures, UnknownFails: c.unknownFails}, begin.Add(time.Duration(k)*time.Minute))
		}
		if s.Phase != c.phase || s.LastKnown != c.known || s.Failures != c.wantsFailures {
			t.Errorf("%s: %v: want %s, last known %q, %d failures, got %s, %q, %d", c.why, c.answers, c.phase, c.known, c.wantsFailures, s.Phase,
				s.LastKnown, s.Failures)
		}
	}
}

// TestNextHolds holds for random answers what a rollout rests on.
func TestNextHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := Rules{Failures: rapid.IntRange(0, 5).Draw(t, "failures"), UnknownFails: rapid.Bool().Draw(t, "unknown fails")}
		answers := rapid.SliceOfN(rapid.SampledFrom([]Verdict{Positive, Negative, Undecided}), 1, 20).Draw(t, "answers")
		s, tolerated := NotAsked(), r.WithDefaults().Failures
		row := 0 // negative answers since the last positive one
		for _, v := range answers {
			s = Next(s, Sample{Verdict: v}, r, begin)
			switch {
			case v == Positive:
				row = 0
			case v == Negative || r.UnknownFails:
				row++
			}
			if (s.Phase == Passed) != (v == Positive) {
				t.Fatalf("want Passed after a positive answer alone, got %s after %s", s.Phase, v)
			}
			if s.Phase == Failed && row < tolerated {
				t.Fatalf("failed after %d negative answers, %d are tolerated", row, tolerated)
			}
			if row >= tolerated && s.LastKnown != Failed {
				t.Fatalf("want a failure known after %d negative answers, got %q", row, s.LastKnown)
			}
		}
	})
}

func TestAt(t *testing.T) {
	t.Parallel()
	r := Rules{Interval: time.Minute}
	s := Next(NotAsked(), Sample{Verdict: Positive, Value: "1"}, r, begin)
	if got := r.At(s, begin.Add(3*time.Minute)); got != s {
		t.Errorf("want a recent answer kept, got %+v", got)
	}
	got := r.At(s, begin.Add(3*time.Minute+time.Second))
	if got.Phase != Unknown || got.LastKnown != Passed || got.Value != "" || got.Message == "" {
		t.Errorf("want an old answer unknown, with what was known, got %+v", got)
	}
	if got := r.At(NotAsked(), begin); got != NotAsked() {
		t.Errorf("want a gate that was not asked left as it is, got %+v", got)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why      string
		in, want Rules
	}{
		{"nothing is set", Rules{}, Rules{Interval: time.Minute, Failures: 3}},
		{"no server is asked all the time", Rules{Interval: time.Second, Failures: 1}, Rules{Interval: 10 * time.Second, Failures: 1}},
		{"a negative number is none", Rules{Interval: time.Hour, Failures: -1}, Rules{Interval: time.Hour, Failures: 3}},
	} {
		if got := c.in.WithDefaults(); got != c.want {
			t.Errorf("%s: want %+v, got %+v", c.why, c.want, got)
		}
	}
}
