package core_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/sim/core"
)

// An alarm rings once at the earliest time set last, never after Close, and leaves nothing running.
func TestAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rang atomic.Int32
		a := core.NewAlarm(func() { rang.Add(1) })
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
	var b core.Buckets
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	rate := core.Rate{Size: 3, Refill: 2}
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
	if !b.Take("y", core.Rate{}, 1000, start) {
		t.Errorf("a rate of size zero: want no limit")
	}
}
