package bench

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/test/testrun"
)

const (
	// left is the number of machines after a measured scale-in.
	left = 5
	// heldMost bounds how many instances may be held in termination at a time, for pools of any size: those of one removal, and those of the
	// previous one that a rate limit has delayed.
	heldMost = 70
	// grace is the time that pods use until they end, which is the full default grace period of Kubernetes. undisturbed is that of pods that
	// end when they get the signal.
	grace, undisturbed = 30 * time.Second, time.Second
	// callsEach bounds the calls of a scale-in for each removed machine: its termination, its release, and its share of the reads.
	callsEach = 4.0
	// removalsPerSecond is the least rate of a scale-in. With two calls a machine, the account's rate limit allows twice this rate.
	removalsPerSecond = 6.0
)

// scaledIn holds the measurements of a scale-in.
type scaledIn struct {
	took        time.Duration
	calls, gone int
	// held is the largest number of instances held in termination at a time.
	held int
}

// A scale-in frees each machine as soon as it is drained: its calls and its time grow with the number of machines that go, and the
// number of instances that are held in termination does not.
func TestScaleIn(t *testing.T) { scaleIn(t, small) }

// TestLongScaleIn is TestScaleIn for a large pool.
func TestLongScaleIn(t *testing.T) {
	testrun.LongOnly(t)
	scaleIn(t, large)
}

func scaleIn(t *testing.T, size int) {
	t.Helper()
	t.Parallel()
	is := shrink(t, size, drain)
	t.Logf("%d gone in %s, %d calls, at most %d held", is.gone, is.took, is.calls, is.held)
	for _, fault := range is.faults(size) {
		t.Error(fault)
	}
}

// BenchmarkScaleIn is TestScaleIn for a large pool.
func BenchmarkScaleIn(b *testing.B) {
	for _, size := range []int{large, 1000} {
		for _, pods := range []time.Duration{undisturbed, grace, drain} {
			b.Run(fmt.Sprintf("%d/drain=%s", size, pods), func(b *testing.B) {
				var is scaledIn
				for b.Loop() {
					is = inBubble(b, "ScaleIn", func(t *testing.T) scaledIn { return shrink(t, size, pods) })
				}
				for _, fault := range is.faults(size) {
					b.Error(fault)
				}
				b.ReportMetric(is.took.Seconds(), "virtual_s")
				b.ReportMetric(float64(is.calls), "calls")
				b.ReportMetric(float64(is.held), "held")
			})
		}
	}
}

// shrink makes a pool of the given size, whose pods end so long after their eviction, and scales it in.
func shrink(t *testing.T, size int, pods time.Duration) (is scaledIn) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, plan{size: size, surge: number(1)})
		w.drain = pods
		defer w.close()
		w.until("made", 2*time.Hour, w.rests)
		began := time.Now()
		w.shrinkTo(left)
		w.until("scaled in", 2*time.Hour, func() bool { return w.rests() && len(w.last.Observed.Instances) == left })
		is = scaledIn{took: time.Since(began), calls: w.calls, gone: len(w.off), held: w.held}
	})
	return is
}

// faults lists the violations of a scale-in.
func (s scaledIn) faults(size int) (list []string) {
	if s.gone != size-left {
		list = append(list, fmt.Sprintf("want %d machines gone, got %d", size-left, s.gone))
	}
	if s.held > heldMost {
		list = append(list, fmt.Sprintf("want at most %d instances held in termination at a time, got %d", heldMost, s.held))
	}
	if limit := int(callsEach*float64(s.gone)) + callsSettled; s.calls > limit {
		list = append(list, fmt.Sprintf("want at most %d calls for %d machines, got %d", limit, s.gone, s.calls))
	}
	if limit := drain + time.Duration(float64(s.gone)/removalsPerSecond)*time.Second + settledWithin; s.took > limit {
		list = append(list, fmt.Sprintf("want %d machines gone within %s, took %s", s.gone, limit, s.took))
	}
	return list
}

const (
	// callsSettled and settledWithin bound the calls and the time that a scale-in of any size needs in addition: the looks while pods end, and
	// until the last instance is gone.
	callsSettled  = 60
	settledWithin = 2 * time.Minute
)

// shrinkTo asks for fewer machines.
func (w *world) shrinkTo(size int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.plan.size, w.calls, w.passes, w.held, w.lowest = size, 0, 0, 0, size
	clear(w.off)
}

// countHeld notes how many instances are held in termination now.
func (w *world) countHeld() {
	held := 0
	for _, i := range w.last.Observed.Instances {
		if i.State == pool.Terminating && i.LifecycleHook != nil {
			held++
		}
	}
	w.held = max(w.held, held)
}
