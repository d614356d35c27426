package bench

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/test/testrun"
)

const (
	// most bounds the time of a rollout as a multiple of the lower bound.
	most = 1.1
	// small is the size of the pools in tests, large that in long tests. Larger ones take minutes and are left to the benchmark.
	small, large = 30, 100
)

// plans lists the measured rollouts.
var plans = []plan{
	{size: 10, surge: number(1)},
	{size: 10, unavailable: number(1)},
	{size: 10, surge: percent(25), unavailable: number(1)},
	{size: 100, surge: percent(25)},
	{size: 100, unavailable: percent(20)},
	{size: 100, surge: percent(25), unavailable: percent(10)},
	{size: 1000, surge: percent(25)},
	{size: 1000, unavailable: percent(20)},
	{size: 1000, surge: percent(25), unavailable: percent(10)},
}

func number(n int) pool.IntOrPercent  { return pool.IntOrPercent{Value: n} }
func percent(n int) pool.IntOrPercent { return pool.IntOrPercent{Value: n, Percent: true} }

// plan is one rollout: so many machines, by such a strategy.
type plan struct {
	size               int
	surge, unavailable pool.IntOrPercent
}

func (p plan) String() string {
	return fmt.Sprintf("D=%d/surge=%s/unavailable=%s", p.size, words(p.surge), words(p.unavailable))
}

func words(v pool.IntOrPercent) string {
	if v.Percent {
		return fmt.Sprintf("%d%%", v.Value)
	}
	return fmt.Sprint(v.Value)
}

// limits returns the strategy's numbers for the size.
func (p plan) limits() (surge, unavailable int) {
	of := func(v pool.IntOrPercent, round int) int {
		if v.Percent {
			return (v.Value*p.size + round) / 100
		}
		return v.Value
	}
	return of(p.surge, 99), min(p.size, of(p.unavailable, 0))
}

// bound returns the least possible time of a rollout: in each wave one machine boots and another is drained.
func (p plan) bound() time.Duration {
	surge, unavailable := p.limits()
	waves := (p.size + surge + unavailable - 1) / (surge + unavailable)
	return time.Duration(waves) * (boot + drain)
}

// BenchmarkRolloutMakespan measures the virtual time of a rollout at the engine's own pace, with the AWS driver and a simulated cloud with
// latencies and limits. x_bound is the ratio to the lower bound.
func BenchmarkRolloutMakespan(b *testing.B) {
	for _, p := range plans {
		b.Run(p.String(), func(b *testing.B) {
			var is outcome
			for b.Loop() {
				is = play(b, p)
			}
			for _, fault := range is.faults(p) {
				b.Error(fault)
			}
			b.ReportMetric(is.took.Seconds()/p.bound().Seconds(), "x_bound")
			b.ReportMetric(is.took.Seconds(), "virtual_s")
			b.ReportMetric(float64(is.passes), "passes")
			b.ReportMetric(float64(is.calls), "calls")
		})
	}
}

// play measures a rollout.
func play(b *testing.B, p plan) outcome {
	return inBubble(b, p.String(), func(t *testing.T) outcome { return measure(t, p) })
}

// inBubble measures in a bubble of virtual time. Only a test can have one, so that the benchmark runs a test.
func inBubble[T any](b *testing.B, name string, measure func(*testing.T) T) (is T) {
	var once sync.Once
	all := func(string, string) (bool, error) { return true, nil }
	passed := testing.RunTests(all, []testing.InternalTest{{Name: name, F: func(t *testing.T) {
		once.Do(func() { is = measure(t) })
	}}})
	if !passed {
		b.Fatalf("%s did not end well", name)
	}
	return is
}

// No rollout takes longer than it has to, exceeds what its strategy allows, or makes a machine too many.
func TestRolloutMakespan(t *testing.T) {
	skipIfShort(t)
	rollout(t, 0, small)
}

// TestLongRolloutMakespan is TestRolloutMakespan for large pools.
func TestLongRolloutMakespan(t *testing.T) {
	testrun.LongOnly(t)
	rollout(t, small, large)
}

// rollout measures the plans of pools of more machines than over, and of at most so many.
func rollout(t *testing.T, over, most int) {
	t.Helper()
	for _, p := range plans {
		if p.size <= over || p.size > most {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			is := measure(t, p)
			t.Logf("%s of %s, %d passes, %d calls", is.took, p.bound(), is.passes, is.calls)
			for _, fault := range is.faults(p) {
				t.Error(fault)
			}
		})
	}
}

// faults lists the violations of a rollout.
func (o outcome) faults(p plan) (list []string) {
	if o.took.Seconds() > most*p.bound().Seconds() {
		list = append(list, fmt.Sprintf("want at most %.2f times %s, took %s", most, p.bound(), o.took))
	}
	surge, unavailable := p.limits()
	if o.made != p.size || o.lowest < p.size-unavailable || o.highest > p.size+surge {
		list = append(list, fmt.Sprintf("want %d made, at least %d serving and at most %d existing, got %d, %d and %d",
			p.size, p.size-unavailable, p.size+surge, o.made, o.lowest, o.highest))
	}
	return list
}

// measure plays one rollout.
func measure(t *testing.T, p plan) (is outcome) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, p)
		defer w.close()
		w.until("made", 2*time.Hour, w.rests)
		began := time.Now()
		w.change()
		w.until("rolled", 20*p.bound(), w.rests)
		is = w.outcome(time.Since(began))
	})
	return is
}
