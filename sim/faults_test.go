package sim_test

import (
	"encoding/json"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/sim"
)

// Skip, Times and Probability choose among the matches, and the same seed chooses the same.
func TestFaultsAreCountedAndDrawn(t *testing.T) {
	played := func(seed sim.Seed, f sim.Fault) []int {
		faults := sim.NewFaults(seed)
		if err := faults.Add(f); err != nil {
			t.Fatal(err)
		}
		var out []int
		for n := range 40 {
			if len(faults.ForRequest(sim.Request{Service: "ec2", Action: "RunInstances"})) > 0 {
				out = append(out, n)
			}
		}
		return out
	}
	if got, want := played(1, sim.Fault{Kind: sim.Throttle, Skip: 3, Times: 2}), []int{3, 4}; !slices.Equal(got, want) {
		t.Errorf("skip 3, times 2: want %v, got %v", want, got)
	}
	half := played(1, sim.Fault{Kind: sim.Throttle, Probability: 0.5})
	if len(half) < 10 || len(half) > 30 {
		t.Errorf("a chance of one half: want about 20 of 40, got %d", len(half))
	}
	if again := played(1, sim.Fault{Kind: sim.Throttle, Probability: 0.5}); !slices.Equal(half, again) {
		t.Errorf("the same seed: want %v, got %v", half, again)
	}
	if other := played(2, sim.Fault{Kind: sim.Throttle, Probability: 0.5}); slices.Equal(half, other) {
		t.Errorf("another seed: want another choice than %v", half)
	}
}

func TestFaultsAreChecked(t *testing.T) {
	for _, f := range []sim.Fault{{}, {Kind: "sleepy"}, {Kind: sim.Throttle, Probability: 2}, {Kind: sim.Throttle, Action: "["},
		{Kind: sim.PageLimit}} {
		if err := sim.NewFaults(0).Add(sim.Fault{Kind: sim.Throttle}, f); err == nil {
			t.Errorf("%+v: want it refused", f)
		}
	}
	list, err := sim.ParseFaults([]byte(`{"kind":"delay","delay":"1m30s"}`))
	if err != nil || len(list) != 1 || time.Duration(list[0].Delay) != 90*time.Second {
		t.Errorf("one rule: got %v, %v", list, err)
	}
	b, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := sim.ParseFaults(b); err != nil || again[0] != list[0] {
		t.Errorf("want it read as it was written, got %v, %v", again, err)
	}
	if _, err := sim.ParseFaults([]byte(`{"kind":"delay","delay":"soon"}`)); err == nil {
		t.Errorf("want a duration that is none refused")
	}
}

// An alarm rings once at the earliest time set last, never after Close, and leaves nothing running.
func TestAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rang atomic.Int32
		a := sim.NewAlarm(func() { rang.Add(1) })
		a.Set(time.Now().Add(time.Second))
		a.Set(time.Now().Add(3 * time.Second))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if rang.Load() != 0 {
			t.Errorf("want the first time replaced, it rang %d times", rang.Load())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if rang.Load() != 1 {
			t.Errorf("want it to ring once, got %d", rang.Load())
		}
		a.Set(time.Now().Add(time.Second))
		a.Close()
		a.Set(time.Now().Add(time.Second))
		time.Sleep(time.Minute)
		synctest.Wait()
		if rang.Load() != 1 {
			t.Errorf("want silence after Close, got %d rings", rang.Load())
		}
	})
}

func TestBuckets(t *testing.T) {
	var b sim.Buckets
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	rate := sim.Rate{Size: 3, Refill: 2}
	for n, c := range []struct {
		after time.Duration
		take  float64
		want  bool
	}{
		{0, 2, true}, {0, 2, false}, {0, 1, true}, {0, 1, false}, {500 * time.Millisecond, 1, true}, {500 * time.Millisecond, 1, false},
		{time.Hour, 3, true}, {time.Hour, 1, false},
	} {
		if got := b.Take("x", rate, c.take, start.Add(c.after)); got != c.want {
			t.Errorf("step %d: want %v, got %v", n, c.want, got)
		}
	}
	if !b.Take("y", sim.Rate{}, 1000, start) {
		t.Errorf("a rate of size zero: want no limit")
	}
}

func TestSpeed(t *testing.T) {
	var s sim.Speed
	if s.Of(10*time.Second) != time.Second {
		t.Errorf("by default: want a tenth, got %v", s.Of(10*time.Second))
	}
	s.Set(100)
	if s.Of(10*time.Second) != 100*time.Millisecond {
		t.Errorf("at 100: want a hundredth, got %v", s.Of(10*time.Second))
	}
	s.Set(-1)
	if s.Factor() != sim.DefaultSpeed {
		t.Errorf("nonsense: want the default, got %v", s.Factor())
	}
}
