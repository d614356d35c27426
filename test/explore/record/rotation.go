package record

import "time"

const (
	// stillLeast is how long nothing else must have happened before a rotation for its effect to be told from that of something else: no
	// fault lasts longer that is not taken out of force.
	stillLeast = 5 * time.Minute
	// rotatedSpell is how long after a rotation conditions are watched.
	rotatedSpell = 2 * time.Minute
)

// Rotation is the last rotation of the bootstrap token that nothing else disturbs.
type Rotation struct {
	// last is when an event that is no rotation happened last, at when the token was rotated while the pool was Ready; zero when something
	// else has happened since.
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
