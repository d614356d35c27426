// Package clock is the moment of a decision.
package clock

import "time"

// Clock is the moment of a decision. It records which later moment may change the decision.
type Clock struct {
	now, next time.Time
}

// At returns the clock of a decision at a moment.
func At(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the moment of the decision.
func (v *Clock) Now() time.Time { return v.now }

// Next returns the earliest moment that was asked about and is still to come; zero if there is none.
func (v *Clock) Next() time.Time { return v.next }

// Reached reports whether a moment has come. It records the earliest one still to come, so that the plan can tell when to decide again.
func (v *Clock) Reached(at time.Time) bool {
	if !v.now.Before(at) {
		return true
	}
	if v.next.IsZero() || at.Before(v.next) {
		v.next = at
	}
	return false
}

// Passed reports whether a moment is over.
func (v *Clock) Passed(at time.Time) bool { return v.Reached(at.Add(1)) }
