package bench

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/test/long"
)

const (
	// left is how many machines a measured scale-in leaves.
	left = 5
	// heldMost is how many instances may be held in termination at a time, whatever the size of the pool: those of a removal, and what a
	// rate budget kept of the one before.
	heldMost = 70
	// grace is how long pods run on after their eviction that use all the time which Kubernetes gives a pod that asks for nothing else,
	// undisturbed how long those do that end when they are asked to.
	grace, undisturbed = 30 * time.Second, time.Second
	// callsEach is how many calls a scale-in may cost for each machine that goes: its termination, its release, and its share of
	// the reads.
	callsEach = 4.0
	// removalsPerSecond is the rate that a scale-in reaches at least. Two calls a machine use up the account's budget at twice this
	// rate.
	removalsPerSecond = 6.0
)

// scaledIn is what a scale-in was like.
type scaledIn struct {
	took        time.Duration
	calls, gone int
	// held is the largest number of instances that were held in termination at a time.
	held int
}

// A scale-in frees each machine as soon as it is drained: its calls and its time grow with the number of machines that go, and the
// number of instances that are held in termination does not.
func TestScaleIn(t *testing.T) { scaleIn(t, small) }

// TestLongScaleIn is TestScaleIn for a large pool.
func TestLongScaleIn(t *testing.T) {
	long.Only(t)
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

// faults say what a scale-in did that it must not.
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
	// callsSettled and settledWithin are what a scale-in of any size costs beside: the looks while pods end, and until the last instance
	// is gone.
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
