package core

import (
	"sync"
	"time"
)

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
