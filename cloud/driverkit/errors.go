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

// AddUnresolved adds to an observation why a part of the specification could not be compared with what exists.
func AddUnresolved(out *pool.Observed, err error) {
	cause := CauseOf(err)
	out.Issues, out.Unresolved = append(out.Issues, cause), append(out.Unresolved, cause)
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

// Tolerance decides without which reads an observation goes on. A driver keeps one for each pool, or for each of its secondary reads.
type Tolerance struct{ throttled, last time.Time }

const (
	// throttledBriefly is for how long a look is tried again whose secondary reads are throttled: what they show is known again soon then.
	throttledBriefly = time.Minute
	// throttledApart is the time after which the next throttled read is not counted as a continuation of the last one.
	throttledApart = 5 * time.Minute
)

// Tolerate returns nil for the error of a read that an observation can do without: what the read shows is unknown then. It returns the
// errors after which the whole look is repeated: a rate budget of Muster's own held the read back, the cloud has throttled such reads for
// less than a minute, or something is not as it was read a moment ago.
func (t *Tolerance) Tolerate(now time.Time, err error) error {
	switch {
	case err == nil || cloud.KindOf(err) == cloud.Conflict || cloud.CodeOf(err) == cloud.CodeClientRateLimited:
		return err
	case cloud.KindOf(err) != cloud.Throttled:
		return nil
	}
	if t.throttled.IsZero() || now.Sub(t.last) > throttledApart {
		t.throttled = now
	}
	if t.last = now; now.Sub(t.throttled) < throttledBriefly {
		return err
	}
	return nil
}

// Refusal is the last failure of a read that an observation can do without.
type Refusal struct {
	// Err is nil if there was none.
	Err error
	// At is when the read failed.
	At        time.Time
	tolerance Tolerance
}

// Cause returns the failure as the cause of an issue; nil if there was none.
func (r Refusal) Cause() *pool.Cause {
	if r.Err == nil {
		return nil
	}
	return new(CauseOf(r.Err))
}

// Rests reports whether the read failed less than the period ago, or less than the time ago that the cloud asked to wait: it is not tried
// again yet.
func (r Refusal) Rests(now time.Time, period time.Duration) bool {
	var e *cloud.Error
	if errors.As(r.Err, &e) {
		period = max(period, e.After)
	}
	return r.Err != nil && now.Sub(r.At) < period
}

// Keep keeps the outcome of the read, and returns the error unless the observation goes on without the read.
func (r *Refusal) Keep(now time.Time, err error) error {
	failed := r.tolerance.Tolerate(now, err)
	r.Err, r.At = nil, time.Time{}
	if err != nil && failed == nil {
		r.Err, r.At = err, now
	}
	return failed
}

// Tolerate runs a read and keeps its failure. While that is younger than the period, the read is not tried again.
func (r *Refusal) Tolerate(now time.Time, period time.Duration, read func() error) error {
	if r.Rests(now, period) {
		return nil
	}
	return r.Keep(now, read())
}
