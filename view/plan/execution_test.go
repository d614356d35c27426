package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/rollouts"
)

// execution is a closed loop of decisions and a cloud: passes come when a decision asks for one, when a machine has booted, and every few
// minutes.
type execution struct {
	*idealCloud
	l preview.Look
	// launchedAt are the times at which machines were launched.
	launchedAt []time.Time
}

const (
	// steady is the longest time between two passes; it is no divisor of the times that policies have.
	steady = 7*time.Minute + 13*time.Second
	// executes bounds the time of an execution. Windows are open for half an hour a day at least, in which a machine is replaced.
	executes = 40 * 24 * time.Hour
)

// execute replaces all machines, and lists them by the time at which their successors were launched.
func execute(t *rapid.T, l preview.Look) []string {
	e := &execution{idealCloud: newIdealCloud(l), l: l}
	for e.now.Before(l.Now.Add(executes)) {
		next := e.pass(t)
		if e.d.Progress.Ended {
			return e.waves(t)
		}
		e.now = next
	}
	t.Fatalf("want an end within %s, got %+v", executes, e.d.Progress)
	return nil
}

// pass does all steps that may be done now, and returns when the next pass is.
func (e *execution) pass(t *rapid.T) time.Time {
	for k := range e.o.Instances {
		if i := &e.o.Instances[k]; i.State == pool.Pending && !e.now.Before(i.Created.Add(boot)) {
			e.join(i)
		}
	}
	for range 1000 {
		e.d.Limits = e.l.Limits(e.now)
		p := pool.Decide(e.d, e.o, e.t, e.now)
		e.d.Progress = p.Progress.Record
		if p.Step == nil {
			return e.next(p)
		}
		e.do(p)
		for range len(e.launched) - len(e.launchedAt) {
			e.launchedAt = append(e.launchedAt, e.now)
		}
	}
	t.Fatalf("want rest after a thousand steps at %s", e.now)
	return time.Time{}
}

// next returns when the next pass is.
func (e *execution) next(p pool.Plan) time.Time {
	next := e.now.Add(steady)
	for _, i := range e.o.Instances {
		if i.State == pool.Pending && i.Created.Add(boot).Before(next) {
			next = i.Created.Add(boot)
		}
	}
	if p.Next.After(e.now) && p.Next.Before(next) {
		next = p.Next
	}
	return next
}

// waves lists the machines that went by the time at which their successors were launched.
func (e *execution) waves(t *rapid.T) []string {
	if len(e.left) != len(e.launchedAt) {
		t.Fatalf("want as many to go as come, got %d and %d", len(e.left), len(e.launchedAt))
	}
	at := map[string][]string{}
	for k, m := range e.left {
		when := e.launchedAt[k].UTC().Format(time.RFC3339)
		at[when] = append(at[when], m.ID)
	}
	return said(at)
}

// foreseen lists the machines of a forecast in the same way.
func foreseen(out Forecast) []string {
	at := map[string][]string{}
	for _, w := range out.Waves {
		when := w.Begin.At.Format(time.RFC3339)
		for _, target := range w.Targets {
			at[when] = append(at[when], target.Instance.ID)
		}
	}
	return said(at)
}

// said lists the machines by time.
func said(at map[string][]string) (list []string) {
	for when, ids := range at {
		slices.Sort(ids)
		list = append(list, when+" "+strings.Join(ids, " "))
	}
	slices.Sort(list)
	return list
}

// governed draws what delays the rollout of a pool: waves and soaks, windows, exclusions, a budget, and the time for which a change rests.
func governed(t *rapid.T, l *preview.Look) {
	n := l.Desired.Replicas
	last := 0
	for range rapid.IntRange(0, 3).Draw(t, "waves") {
		last += rapid.IntRange(1, 4).Draw(t, "wave")
		l.Desired.Strategy.Waves = append(l.Desired.Strategy.Waves, pool.IntOrPercent{Value: last})
	}
	soak := func(name string) time.Duration {
		return time.Duration(rapid.IntRange(0, 90).Draw(t, name)) * time.Minute
	}
	if rapid.Bool().Draw(t, "soaks") {
		l.Desired.Strategy.Soak = rollouts.Soak{First: soak("first"), Wave: soak("soak"), Final: soak("final")}
	}
	spec := musterv1.RolloutPolicySpec{Settle: &metav1.Duration{Duration: soak("settle")}}
	for range rapid.IntRange(0, 2).Draw(t, "windows") {
		spec.Windows = append(spec.Windows, musterv1.RolloutWindow{
			Start:    fmt.Sprintf("%02d:%02d", rapid.IntRange(0, 23).Draw(t, "hour"), rapid.IntRange(0, 59).Draw(t, "minute")),
			Duration: metav1.Duration{Duration: time.Duration(rapid.IntRange(30, 600).Draw(t, "open")) * time.Minute},
			Grace:    &metav1.Duration{Duration: time.Duration(rapid.IntRange(0, 60).Draw(t, "grace")) * time.Minute}})
	}
	for range rapid.IntRange(0, 2).Draw(t, "exclusions") {
		from := now.Add(time.Duration(rapid.IntRange(-300, 3000).Draw(t, "from")) * time.Minute)
		to := from.Add(time.Duration(rapid.IntRange(1, 3000).Draw(t, "lasts")) * time.Minute)
		spec.Exclusions = append(spec.Exclusions, musterv1.RolloutExclusion{From: musterv1.ExclusionDate(from.Format(time.RFC3339)),
			To: musterv1.ExclusionDate(to.Format(time.RFC3339)), Scope: musterv1.ExcludeAll})
	}
	p := policy.Compile(&metav1.ObjectMeta{Name: "p", Namespace: "n"}, &spec)
	if p.Invalid() != nil {
		t.Fatalf("want a policy that can be used, got %v", p.Invalid())
	}
	budget := rapid.IntRange(0, n).Draw(t, "budget")
	effective := policy.Merge([]*policy.Policy{p})
	under(func(at time.Time) rollouts.Limits {
		limits := effective.Limits(at)
		if budget > 0 {
			limits.AtOnce, limits.Budget = budget, rollouts.Cause{Reason: "BudgetSpent", Message: "p"}
		}
		return limits
	})(l)
}

// TestForecastIsExecution holds that a forecast names the machines that go and when their replacement begins, as a closed loop replaces
// them under the same policies. Gates are not drawn, because no time is known once one decides.
func TestForecastIsExecution(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 10).Draw(t, "replicas")
		surge, unavailable := rapid.IntRange(0, 4).Draw(t, "surge"), rapid.IntRange(0, 4).Draw(t, "unavailable")
		l := stocked(n, by(surge, unavailable))
		switch rapid.IntRange(0, 2).Draw(t, "cloud") {
		case 0:
			l.Traits.SupportsStandby = true
		case 1:
			scaleSets(&l)
		}
		l.Desired.DeletePolicy = rapid.SampledFrom([]pool.DeletePolicy{pool.Oldest, pool.Newest, pool.Random}).Draw(t, "policy")
		l.Desired.MinReady = time.Duration(rapid.IntRange(0, 600).Draw(t, "min ready")) * time.Second
		if surge+unavailable == 0 {
			l.Desired.Strategy.MaxSurge.Value = 1
		}
		if governed(t, &l); !newPace(l).delays {
			t.Skip("a rollout that nothing delays has no times")
		}
		out := Simulate(l)
		planned, happened := foreseen(out), execute(t, l)
		if !out.Converges || !slices.Equal(planned, happened) {
			t.Fatalf("want what happens:\n%s\ngot, converging %v:\n%s", strings.Join(happened, "\n"), out.Converges, strings.Join(planned, "\n"))
		}
	})
}
