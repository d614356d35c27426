package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// readsBehind is for how long the reads of the clouds may be behind their writes.
const readsBehind = 10 * time.Second

// presence records the evidence of this process that the group of a pool exists, or does not.
type presence struct {
	// created is when this process last asked for the group, if the cloud may have created it; else when it looked first, because the process
	// before it may have asked until then.
	created time.Time
	// deleted is true if the group was deleted, by this process or while it looked, after the last request to create it.
	deleted bool
	// missingSince is when a fresh read first found nothing of a pool that is being deleted; zero if something was found since.
	missingSince time.Time
	// pruned is when a template version was deleted last, or may have been, by its ref.
	pruned map[string]time.Time
	// outdated is when the cloud last refused a write because what it rested on is out of date.
	outdated time.Time
}

// started notes a step that was started, or was not with an error.
func (p *presence) started(s pool.Step, err error, now time.Time) {
	if cloud.OutOfDate(err) {
		p.outdated = now
	}
	switch s.Kind {
	case pool.CreateGroup:
		p.deleted = false
		if err == nil || cloud.KindOf(err) == cloud.Unavailable {
			p.created = now
		}
	case pool.DeleteGroup:
		p.deleted = true
	case pool.PruneTemplates:
		if p.pruned == nil {
			p.pruned = map[string]time.Time{}
		}
		for _, ref := range s.Refs {
			p.pruned[ref] = now
		}
	}
}

// marked returns the template versions, with those marked that were deleted so recently that a read may still show them.
func (p *presence) marked(versions []pool.Template, now time.Time) []pool.Template {
	maps.DeleteFunc(p.pruned, func(_ string, at time.Time) bool { return now.Sub(at) >= readsBehind })
	if len(p.pruned) == 0 {
		return versions
	}
	versions = slices.Clone(versions)
	for k := range versions {
		_, versions[k].Deleting = p.pruned[versions[k].Ref]
	}
	return versions
}

// behindUntil is until when reads may be from before the change that the cloud last refused a write for; zero if it has refused none.
func (p *presence) behindUntil() time.Time {
	if p.outdated.IsZero() {
		return time.Time{}
	}
	return p.outdated.Add(readsBehind)
}

// confirmAbsence has a deletion wait until the reads can no longer be behind a write. A read that finds no group may be from before the
// group's creation, also where a later one has shown the group or its deletion: what the group depends on would be deleted before it.
// Unless this process has seen the group deleted, it, or the process before it, may have created a template or the group a moment ago, and
// nothing would delete them once the object is gone. It returns the time of the wait.
func (r *record) confirmAbsence(d pool.Desired, out *Outcome, now time.Time) time.Duration {
	if r.presence.created.IsZero() {
		r.presence.created = now
	}
	g := out.Observed.Group
	if g != nil && g.Deleting {
		r.presence.deleted = true
	}
	complete := out.Plan.DeletionComplete
	if !complete {
		r.presence.missingSince = time.Time{}
	} else if r.presence.missingSince.IsZero() {
		r.presence.missingSince = now
	}
	if wait := r.presence.created.Add(readsBehind).Sub(now); d.Deleting && g == nil && wait > 0 {
		out.Plan = confirming("no group")
		return wait
	}
	wait := r.presence.missingSince.Add(readsBehind).Sub(now)
	if !complete || r.presence.deleted || wait <= 0 {
		return 0
	}
	out.Plan = confirming("nothing")
	return wait
}

// confirming returns the plan of a deletion that waits for a second look.
func confirming(found string) pool.Plan {
	return pool.Plan{Waiting: []pool.Cause{{
		Reason:  "ConfirmingDeletion",
		Message: "found " + found + " of the pool in the cloud; waiting for a second look, because the cloud's reads may be behind its writes",
	}}}
}
