package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/rollouts"
)

// under has policies apply to a pool.
func under(limits func(time.Time) rollouts.Limits) func(*preview.Look) {
	return func(l *preview.Look) { l.Limits, l.Desired.Limits = limits, limits(l.Now) }
}

// closed are limits that admit no reason until a time.
func closed(reason string, until time.Time) rollouts.Limits {
	l := rollouts.Limits{Closed: map[rollouts.Reason]rollouts.Closure{}, Changes: until, OpensAt: until}
	for _, r := range rollouts.Reasons {
		l.Closed[r] = rollouts.Closure{Cause: rollouts.Cause{Reason: reason, Message: "closed"}}
	}
	return l
}

// nightly opens at 22:00 for a time.
func nightly(open time.Duration) func(time.Time) rollouts.Limits {
	return func(at time.Time) rollouts.Limits {
		opens := time.Date(at.Year(), at.Month(), at.Day(), 22, 0, 0, 0, time.UTC)
		switch {
		case at.Before(opens):
			return closed("OutsideWindow", opens)
		case at.Before(opens.Add(open)):
			return rollouts.Limits{Changes: opens.Add(open)}
		}
		return closed("OutsideWindow", opens.AddDate(0, 0, 1))
	}
}

// always are limits that no time changes.
func always(l rollouts.Limits) func(time.Time) rollouts.Limits {
	return func(time.Time) rollouts.Limits { return l }
}

// begins lists when the waves of a plan begin, as differences to the present, and what holds the rollout.
func (p Plan) beginsOf() string {
	var out []string
	for _, w := range p.Waves {
		switch {
		case w.WaitsFor != nil:
			out = append(out, w.WaitsFor.Reason)
		case w.Earliest.IsZero():
			out = append(out, "-")
		default:
			out = append(out, w.Earliest.Sub(now).String())
		}
	}
	for _, h := range p.Holds {
		out = append(out, "held: "+h.Reason)
		if !h.Until.IsZero() {
			out = append(out, h.Until.Sub(now).String())
		}
	}
	for _, b := range p.Blocked {
		out = append(out, "blocked: "+b.Reason)
	}
	return strings.Join(out, " ")
}

// TestPace holds when the waves of a plan begin. It is 03:04:05.
func TestPace(t *testing.T) {
	t.Parallel()
	gate := rollouts.Cause{Reason: "AwaitingApproval", Message: "gate go"}
	young := func(l *preview.Look) { // the first machine is 100 hours old
		l.Observed.Wanted.Content = "v1:a"
	}
	for _, c := range []struct {
		why   string
		facts preview.Look
		want  string
	}{
		{"nothing delays it", stocked(2, by(1, 0)), "- -"},
		{"a window opens in the evening", stocked(2, by(1, 0), under(nightly(time.Hour))), "18h55m55s 18h58m55s held: OutsideWindow 18h55m55s"},
		{"one machine a night", stocked(3, by(1, 0), under(nightly(time.Minute))),
			"18h55m55s 42h55m55s 66h55m55s held: OutsideWindow 18h55m55s"},
		{"more machines than the forecast waits without policies", stocked(20, by(1, 0), under(nightly(time.Minute))), "*"},
		{"a soak", stocked(2, waves(1)), "0s 1h3m0s"},
		{"an approval decides", stocked(2, by(1, 0), under(always(rollouts.Limits{Approvals: []rollouts.Approval{{Cause: gate}}}))),
			"AwaitingApproval AwaitingApproval held: AwaitingApproval"},
		{"a gate decides once a window is open", stocked(1, by(1, 0), under(func(at time.Time) rollouts.Limits {
			l := nightly(time.Hour)(at)
			l.BeforeWave = rollouts.Cause{Reason: "GateUnknown", Message: "not asked"}
			return l
		})), "GateUnknown held: OutsideWindow 18h55m55s held: GateUnknown"},
		{"a change rests", stocked(1, by(1, 0), under(always(rollouts.Limits{Settle: 10 * time.Minute}))), "10m0s held: Settling 10m0s"},
		{"policies never open", stocked(1, by(1, 0), under(always(closed("PolicyNeverOpens", time.Time{})))), "blocked: PolicyNeverOpens"},
		{"others use up a budget", stocked(1, by(1, 0), under(always(rollouts.Limits{Budget: rollouts.Cause{Reason: "BudgetSpent",
			Message: "others"}}))), "blocked: BudgetSpent"},
		{"policies that may not be read hold back nothing", stocked(1, by(1, 0), under(always(closed(policy.ReasonPoliciesForbidden,
			time.Time{})))), "0s"},
		{"a machine is too old", stocked(2, by(1, 0), young, under(always(rollouts.Limits{MaxAge: 100 * time.Hour}))), "-"},
		{"a machine grows too old later", stocked(2, by(1, 0), young, under(always(rollouts.Limits{MaxAge: 200 * time.Hour}))), ""},
	} {
		p := Plan{}
		out := p.follow(c.facts)
		got := p.beginsOf()
		if c.want == "*" {
			got, c.want = fmt.Sprint(p.Replaced, out.Converges), "20 true"
		}
		if got != c.want {
			t.Errorf("%s: want %s, got %s", c.why, c.want, got)
		}
	}
}

// TestPaceText holds the column of times, and what is written of holds.
func TestPaceText(t *testing.T) {
	t.Parallel()
	p := Plan{Namespace: "n", Name: "p", Desired: 2, Headline: "h", Waves: []Wave{
		{LowestReady: 2, Machines: []MachineChange{{ID: "i-1", Reason: "R", Message: "m"}, {ID: "i-2", Reason: "R", Message: "m"}},
			Begins: Begins{Earliest: now}},
		{LowestReady: 2, Machines: []MachineChange{{ID: "i-3", Reason: "R", Message: "m"}},
			Begins: Begins{WaitsFor: &Cause{Reason: "GateUnknown"}}}},
		Holds: []Hold{{Cause{"OutsideWindow", "closed"}, now}, {Cause: Cause{"GateUnknown", "not asked"}}}}
	var out strings.Builder
	if err := Text(&out, []Plan{p}); err != nil {
		t.Fatal(err)
	}
	const want = `MachinePool n/p ( )
h
Held: OutsideWindow: closed (until 2030-01-02T03:04:05Z)
Held: GateUnknown: not asked

WAVE   INSTANCE   NODE   ZONE   WHY   LOWEST READY   EARLIEST
1      i-1        -      -      R     2 of 2         2030-01-02T03:04:05Z
1      i-2        -      -      R
2      i-3        -      -      R     2 of 2         no time known (GateUnknown)

R: m
`
	if out.String() != want {
		t.Errorf("want\n%s\ngot\n%s", want, out.String())
	}
}

// TestGateThatHasPassed holds that machines of a wave that has begun have a time, and those of the next one do not.
func TestGateThatHasPassed(t *testing.T) {
	t.Parallel()
	l := stocked(2, waves(1), under(always(rollouts.Limits{BeforeWave: rollouts.Cause{Reason: "GateUnknown", Message: "not asked"}})))
	first := pool.Decide(newIdealCloud(l).d, l.Observed, l.Traits, l.Now).Progress.Record
	l.Desired.Progress = rollouts.Record{ID: first.ID, Wave: 1, Entered: true, StartedAt: now.Add(-time.Hour)}
	p := Plan{}
	p.follow(l)
	if got := p.beginsOf(); got != "0s GateUnknown held: GateUnknown" {
		t.Errorf("got %s", got)
	}
}
