package account

import (
	"time"
)

// Due reports a time that is set and has come.
func Due(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

// Earliest is the earlier of two times; the zero time stands for never.
func Earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
