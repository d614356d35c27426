package core

import "time"

// Schedule is when something happens next by itself in a part of a cloud. The zero Schedule has nothing to do.
type Schedule struct {
	due     time.Time
	touched bool
}

// Touch notes that an operation has changed something, so that the next Pass looks at everything.
func (s *Schedule) Touch() { s.touched = true }

// Pass calls tick if something is due by now or was changed. It returns when something is due next; the zero time means never.
func (s *Schedule) Pass(now time.Time, tick func(time.Time) time.Time) time.Time {
	if s.touched || Due(s.due, now) {
		s.touched = false
		s.due = tick(now)
	}
	return s.due
}

// Due reports a time that is set and has come.
func Due(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

// Earliest returns the earliest of some times; the zero time stands for never.
func Earliest(times ...time.Time) (first time.Time) {
	for _, at := range times {
		if first.IsZero() || !at.IsZero() && at.Before(first) {
			first = at
		}
	}
	return first
}
