package driverkit

import (
	"errors"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// CauseOf returns an error as the cause of an issue in an observation.
func CauseOf(err error) pool.Cause {
	var e *cloud.Error
	if errors.As(err, &e) {
		return pool.Cause{Reason: string(e.Kind), Message: e.Error()}
	}
	return pool.Cause{Reason: string(cloud.Unavailable), Message: err.Error()}
}

// Transient reports whether the same request may be answered later: it was held back or throttled, or got no answer.
func Transient(err error) bool {
	return cloud.KindOf(err) == cloud.Throttled || cloud.KindOf(err) == cloud.Unavailable
}

// KeepsFromCreation reports whether an error of a look keeps a group that does not exist from being created: nothing of it exists, or the
// look-up can succeed the next time. As an issue of a pool in which nothing moves it would be met by each idle look again, whose first read
// takes all that a small rate budget leaves to such looks.
func KeepsFromCreation(err error, nothing bool) bool { return nothing || Transient(err) }

// MayHaveHappened reports whether a write with this outcome may have had its effect: it succeeded, or its reply was lost.
func MayHaveHappened(err error) bool { return err == nil || cloud.KindOf(err) == cloud.Unavailable }

// Confirm returns the outcome of a create that the cloud refused because the object exists: nil if a new read shows the object and it is
// the pool's, which an earlier request whose reply was lost has created, else the refusal.
func Confirm(refused, readErr error, created func() bool) error {
	switch {
	case readErr != nil:
		return readErr
	case created():
		return nil
	default:
		return refused
	}
}

// Refusal is the cloud's last refusal of a read that an observation can do without.
type Refusal struct {
	// Err is nil if there was none.
	Err error
	// At is when the read was refused.
	At time.Time
}

// Tolerate runs a read and keeps a refusal for lack of permission instead of returning it. While the refusal is younger than the period,
// the read is not tried again.
func (r *Refusal) Tolerate(now time.Time, period time.Duration, read func() error) error {
	if r.Err != nil && now.Sub(r.At) < period {
		return nil
	}
	err := read()
	*r = Refusal{}
	if err != nil && cloud.KindOf(err) == cloud.Denied {
		*r = Refusal{Err: err, At: now}
		return nil
	}
	return err
}
