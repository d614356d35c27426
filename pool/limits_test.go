package pool

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/muster-project/muster/pool/rollouts"
)

// policies are what a pool of a property is limited by: windows that open every period for a while, waves, a soak and a budget.
type policies struct {
	period, open, grace time.Duration
	waves               []IntOrPercent
	soak                rollouts.Soak
	atOnce              int
	version             bool
}

func somePolicies() *rapid.Generator[policies] {
	return rapid.Custom(func(t *rapid.T) policies {
		p := policies{
			period: time.Hour, open: rapid.SampledFrom([]time.Duration{time.Hour, 5 * time.Minute, 20 * time.Minute}).Draw(t, "open"),
			grace: rapid.SampledFrom([]time.Duration{0, time.Minute, 10 * time.Minute}).Draw(t, "grace"),
			waves: rapid.SampledFrom([][]IntOrPercent{nil, {{Value: 1}}, {{Value: 1}, percent(30), percent(50)}, {percent(1), {Value: 20}}}).
				Draw(t, "waves"),
			atOnce:  rapid.IntRange(0, 3).Draw(t, "at once"),
			version: rapid.Bool().Draw(t, "version"),
		}
		if rapid.Bool().Draw(t, "soaks") {
			p.soak = rollouts.Soak{First: 10 * time.Minute, Wave: 3 * time.Minute, Final: time.Minute}
		}
		return p
	})
}

// at returns the limits of a moment.
func (p policies) at(moment time.Time) rollouts.Limits {
	var l rollouts.Limits
	if p.atOnce > 0 {
		l.AtOnce, l.Budget = p.atOnce, rollouts.Cause{Reason: "BudgetUsed", Message: "x"}
	}
	begin := moment.Truncate(p.period)
	l.Changes = begin.Add(p.period)
	if end := begin.Add(p.open); moment.Before(end) {
		l.Changes = end
	} else {
		l.Closed = map[rollouts.Reason]rollouts.Closure{}
		for _, why := range rollouts.Reasons {
			l.Closed[why] = rollouts.Closure{Cause: rollouts.Cause{Reason: "OutsideWindow", Message: "x"}, GraceUntil: end.Add(p.grace)}
		}
	}
	return l
}

// begins returns the serving stale instances whose replacement a step begins.
func begins(o Observed, s Step) (ids []string) {
	if s.Kind != Drain && s.Kind != EnterStandby && s.Kind != StartProviderRollout && s.Kind != Replace && s.Kind != Remove {
		return nil
	}
	for _, i := range o.Instances {
		fresh := i.Node != nil && i.Node.Ready && i.Node.DrainStarted.IsZero() && !i.Standby
		if fresh && i.Template.Content != o.Wanted.Content && slices.ContainsFunc(s.Targets, func(r InstanceRef) bool { return r.ID == i.ID }) {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// early reports whether more instances have begun than a wave replaces, or the machines of the wave before it have not been watched for as
// long as they should.
func (p policies) early(c *ideal, n, begun, wave int) bool {
	var targets []int
	for _, w := range p.waves {
		targets = append(targets, w.Up(n))
	}
	targets = rollouts.Targets(targets, n)
	if begun > targets[wave-1] {
		return true
	}
	watched := 0
	for _, i := range c.o.Instances {
		soak := p.soak.Wave
		if wave == 2 {
			soak = p.soak.First
		}
		if i.Template.Content == "v1:b" && i.Node != nil && i.Node.Ready && !c.now.Before(i.Node.ReadySince.Add(soak)) {
			watched++
		}
	}
	return wave > 1 && watched < targets[wave-2]
}

// Whatever windows, waves and budgets are: outside of a window nothing begins, a wave replaces no more than it may, no more are replaced at
// a time than the budget allows, the floor of the strategy holds, and in the end all are replaced.
func TestRolloutWithinPolicies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "machines")
		p := somePolicies().Draw(t, "policies")
		tr := clouds[rapid.SampledFrom([]string{"replaces", "sets aside", "only removes", "scale set"}).Draw(t, "cloud")]
		d := wants(n, unlimited)
		d.Strategy = aStrategy().Draw(t, "strategy")
		d.Strategy.Waves, d.Strategy.Soak = p.waves, p.soak
		if d.Strategy.bothZero() != nil {
			d.Strategy.MaxSurge = IntOrPercent{Value: 1}
		}
		c := &ideal{o: fleet(serving(n)), now: now, tr: tr}
		c.o.Group.Max, c.o.Wanted.Content = 1000, "v1:b"
		begun, idle, done := map[string]bool{}, 0, false
		lost := rapid.IntRange(0, 600).Draw(t, "record lost")
		for pass := range 3000 {
			d.Limits = p.at(c.now)
			if pass == lost {
				d.Progress = rollouts.Record{}
			}
			plan := Decide(d, c.o, c.tr, c.now)
			d.Progress = plan.Progress.Record
			if plan.Step != nil {
				ids := begins(c.o, *plan.Step)
				for _, id := range ids {
					begun[id] = true
				}
				switch {
				case len(ids) > 0 && len(d.Limits.Closed) > 0:
					t.Fatalf("%v begin outside of the window by %s", ids, say(plan))
				case len(ids) > p.atOnce && p.atOnce > 0:
					t.Fatalf("%v begin at once, want %d at most", ids, p.atOnce)
				case len(ids) > 0 && pass < lost && p.early(c, n, len(begun), plan.Progress.Record.Wave):
					t.Fatalf("%v begin in wave %d of %d after %d, want fewer or later", ids, plan.Progress.Record.Wave, plan.Progress.Of, len(begun))
				}
				if fault := unsafeStep(d, c.o, c.tr, c.now, *plan.Step); fault != "" {
					t.Fatalf("%s: %s", say(plan), fault)
				}
				c.do(t, *plan.Step)
				idle = 0
			}
			if idle++; idle > 3 && plan.Next.After(c.now) {
				c.now, idle = plan.Next, 0
			}
			c.tick()
			if done = d.Progress.Ended || d.Progress.ID == "" && pass > lost && !c.isStale(d); done {
				break
			}
		}
		if !done || len(begun) != n || c.isStale(d) {
			t.Fatalf("want all %d replaced and the rollout ended, got %d and %+v of %+v", n, len(begun), d.Progress, c.o.Instances)
		}
	})
}

// TestScaleInOutsideOfWindows: a closed window keeps what was launched before it closed, and no instance of a pool that has become smaller.
func TestScaleInOutsideOfWindows(t *testing.T) {
	closed := policies{period: 24 * time.Hour, open: 0}.at(now)
	for _, c := range []struct {
		why       string
		instances []Instance
		want      int
	}{
		{"nothing was launched", serving(5), 2},
		{"one was launched for a machine that waits", append(serving(4), machine("n-1", 1, current)), 1},
	} {
		d := wants(3, rolls(1, 0))
		d.Limits = closed
		p := Decide(d, fleet(c.instances, newTemplate, sized(5)), clouds["scale set"], now)
		if p.Step == nil || p.Step.Kind != Drain || len(p.Step.Targets) != c.want {
			t.Errorf("%s: want %d drained, got %s", c.why, c.want, say(p))
		}
	}
}
