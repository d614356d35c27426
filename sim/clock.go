package sim

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultSpeed is how much faster than life machines boot and stop unless told otherwise: a node is ready within ten seconds.
const DefaultSpeed = 10

// Speed turns the time that something takes in life into the time that it takes here. API rates are never sped up: clients
// meet the limits that they would meet in life.
type Speed struct{ bits atomic.Uint64 }

// Set changes the factor for what starts from now on; zero or less means DefaultSpeed.
func (s *Speed) Set(factor float64) {
	if factor <= 0 {
		factor = DefaultSpeed
	}
	s.bits.Store(math.Float64bits(factor))
}

// Factor is how much faster than life things go.
func (s *Speed) Factor() float64 {
	if f := math.Float64frombits(s.bits.Load()); f > 0 {
		return f
	}
	return DefaultSpeed
}

// Of is how long something takes here that takes life in life.
func (s *Speed) Of(life time.Duration) time.Duration {
	return time.Duration(float64(life) / s.Factor())
}

// Alarm calls one function at the earliest of the times it is set to. It uses one timer and no goroutine of its own, and
// so runs in virtual time as well.
type Alarm struct {
	ring func()

	mu     sync.Mutex
	timer  *time.Timer
	closed bool
	wg     sync.WaitGroup
}

// NewAlarm makes an alarm that is not set.
func NewAlarm(ring func()) *Alarm { return &Alarm{ring: ring} }

// Set replaces the time of the next ring; the zero time means never.
func (a *Alarm) Set(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cancel()
	if at.IsZero() || a.closed {
		return
	}
	a.wg.Add(1)
	a.timer = time.AfterFunc(max(0, time.Until(at)), func() {
		defer a.wg.Done()
		a.ring()
	})
}

func (a *Alarm) cancel() {
	if a.timer != nil && a.timer.Stop() {
		a.wg.Done()
	}
	a.timer = nil
}

// Close stops the alarm and waits for a ring that is under way.
func (a *Alarm) Close() {
	a.mu.Lock()
	a.closed = true
	a.cancel()
	a.mu.Unlock()
	a.wg.Wait()
}
