package engine

import (
	"time"

	"github.com/muster-project/muster/pool"
)

// readsBehind is for how long the reads of the clouds may be behind their writes.
const readsBehind = 10 * time.Second

// presence is what this process has seen of a pool in the cloud.
type presence struct {
	// deleted is true if the group was deleted, by this process or while it looked, after the last request to create it.
	deleted bool
	// missingSince is when a fresh read first found nothing of a pool that is being deleted; zero if something was found since.
	missingSince time.Time
}

// begins notes the start of a step.
func (p *presence) begins(k pool.StepKind) {
	switch k {
	case pool.CreateGroup:
		p.deleted = false
	case pool.DeleteGroup:
		p.deleted = true
	}
}

// confirmAbsence has a deletion wait until the reads can no longer be behind a write, unless this process has seen the group deleted: it, or
// the process before it, may have created a template or the group a moment ago, and a read that is behind shows neither. Nothing would delete
// them once the object is gone. It returns the time of the wait.
func (r *record) confirmAbsence(out *Outcome, now time.Time) time.Duration {
	if g := out.Observed.Group; g != nil && g.Deleting {
		r.presence.deleted = true
	}
	if !out.Plan.DeletionComplete {
		r.presence.missingSince = time.Time{}
		return 0
	}
	if r.presence.missingSince.IsZero() {
		r.presence.missingSince = now
	}
	wait := r.presence.missingSince.Add(readsBehind).Sub(now)
	if r.presence.deleted || wait <= 0 {
		return 0
	}
	out.Plan = pool.Plan{Waiting: []pool.Cause{{
		Reason:  "ConfirmingDeletion",
		Message: "nothing of the pool was found in the cloud; waiting for a second look, because the cloud's reads may be behind its writes",
	}}}
	return wait
}
