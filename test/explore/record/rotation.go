package record

import "time"

const (
	// stillLeast is the undisturbed time before a rotation that makes its effect distinguishable from that of another event. Every fault with
	// an end is shorter.
	stillLeast = 5 * time.Minute
	// rotatedSpell bounds the time after a rotation in which conditions are watched.
	rotatedSpell = 2 * time.Minute
)

// Rotation is the last rotation of the bootstrap token that nothing else disturbs.
type Rotation struct {
	// last is the time of the last event that is no rotation. at is the time when the token was rotated while the pool was Ready, zero if
	// another event has come since.
	last, at time.Time
}

// Disturb notes an event that is no rotation.
func (r *Rotation) Disturb() { r.last, r.at = time.Now(), time.Time{} }

// Rotate notes a rotation. It is watched if nothing disturbs it and undisturbed returns true.
func (r *Rotation) Rotate(undisturbed func() bool) {
	if now := time.Now(); now.Sub(r.last) >= stillLeast && undisturbed() {
		r.at = now
	}
}

// Lately reports whether conditions are watched for the effect of a rotation.
func (r *Rotation) Lately() bool { return !r.at.IsZero() && time.Since(r.at) <= rotatedSpell }
