package rollouts_test

import (
	"testing"

	"github.com/muster-project/muster/pool/rollouts"
)

func TestFailure(t *testing.T) {
	t.Parallel()
	halted := func(change func(*rollouts.Trial)) rollouts.Trial {
		out := rollouts.Trial{Verdict: rollouts.Verdict{Record: in(1), State: rollouts.Halted, Failed: true}, Template: "b", Last: "a",
			RollsBack: true, Halted: rollouts.Cause{Reason: "RolloutHalted", Message: "x"}}
		change(&out)
		return out
	}
	for _, c := range []struct {
		why   string
		trial rollouts.Trial
		want  string
	}{
		{"what failed for good", halted(func(*rollouts.Trial) {}), "x"},
		{"a machine that never joined", halted(func(r *rollouts.Trial) { r.State, r.Failed = rollouts.Replacing, false }), "x"},
		{"what may pass", halted(func(r *rollouts.Trial) { r.Failed = false }), ""},
		{"no policy asks for it", halted(func(r *rollouts.Trial) { r.RollsBack = false }), ""},
		{"it goes on", halted(func(r *rollouts.Trial) { r.Halted = rollouts.Cause{} }), ""},
		{"it was tried again", halted(func(r *rollouts.Trial) { r.Retried = "b" }), ""},
		{"another one was tried again", halted(func(r *rollouts.Trial) { r.Retried = "other" }), "x"},
		{"a restart", halted(func(r *rollouts.Trial) { r.Last = "b" }), ""},
		{"the first rollout", halted(func(r *rollouts.Trial) { r.Last = "" }), "x"},
		{"it has ended", halted(func(r *rollouts.Trial) { r.Record.Ended, r.Aborted = true, true }), ""},
		{"a user aborts", halted(func(r *rollouts.Trial) { r.Aborted, r.RollsBack, r.Halted = true, false, rollouts.Cause{} }),
			"a user aborted it"},
	} {
		if got := c.trial.Failure(); got != c.want {
			t.Errorf("%s: want %q, got %q", c.why, c.want, got)
		}
	}
}

// TestReturn holds that a return to a former template knows no waves and gates, and windows and budgets all the same.
func TestReturn(t *testing.T) {
	t.Parallel()
	gate := rollouts.Cause{Reason: "GateFailed", Message: "x"}
	l := rollouts.Limits{Returns: true, BeforeWave: gate, DuringSoak: gate, Approvals: []rollouts.Approval{{Cause: gate}}, Settle: 1 << 40}
	p := rollouts.Pool{ID: "b", Size: 10, Plan: rollouts.Plan{Targets: []int{1, 10}, Soak: soaks}, Limits: l}
	if a := rollouts.Allow(rollouts.Record{}, p, old(10), now); a.Begins != 10 || a.Of != 1 {
		t.Errorf("want all to go back, got %+v", a)
	}
	p.Limits.AtOnce, p.Limits.Budget = 2, rollouts.Cause{Reason: "BudgetSpent", Message: "x"}
	if a := rollouts.Allow(rollouts.Record{}, p, old(10), now); a.Begins != 2 {
		t.Errorf("want a budget to hold, got %+v", a)
	}
	p.Limits.Closed = map[rollouts.Reason]rollouts.Closure{rollouts.Template: {Cause: gate}}
	if a := rollouts.Allow(rollouts.Record{}, p, old(10), now); a.Begins != 0 {
		t.Errorf("want a window to hold, got %+v", a)
	}
}
