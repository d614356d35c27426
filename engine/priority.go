package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

const (
	// promoteAfter is the time after which passes that are held back count as one class more urgent. promoteLast is the time after which they
	// count as a user's operation, for whose reserve many waiting pools would otherwise compete.
	promoteAfter, promoteLast = 30 * time.Second, 5 * time.Minute
	// keptReads is the maximum age of reads with which passes that are held back continue. readSlack is the time by which a driver may take
	// the time later than the pass itself.
	keptReads, readSlack = 30 * time.Second, time.Second
)

// queue is the place of a pool's passes in the queues of the rate budgets that hold them back.
type queue struct {
	// priority is that of the next look: PriorityRollout as long as nothing is known of the pool.
	priority cloud.Priority
	// held is since when the looks of the passes have been held back, zero if the last was not.
	held time.Time
	// exact is true if the look that was held back was a second one of its pass, which a removal or a doubt asked for, or the exact one in its
	// place.
	exact bool
}

// since returns the queue of calls that wait since then, if that is longer than looks have been held back. A zero time changes nothing.
func (q queue) since(held time.Time) queue {
	if !held.IsZero() && (q.held.IsZero() || held.Before(q.held)) {
		q.held = held
	}
	return q
}

// in returns the context of calls of the priority. Passes that are held back for long are promoted, one class after another.
func (q queue) in(ctx context.Context, p cloud.Priority, now time.Time) context.Context {
	if q.held.IsZero() {
		return cloud.WithPriority(ctx, p)
	}
	waited := now.Sub(q.held)
	highest := cloud.PriorityRollout
	if waited >= promoteLast {
		highest = cloud.PriorityOperation
	}
	promoted := max(p-cloud.Priority(waited/promoteAfter), highest)
	return cloud.WithPriority(cloud.WithTurn(ctx), min(p, promoted))
}

// age returns how old the reads may be with which a look goes on that was held back: what was read since the first such look, by it or for
// other pools. It is zero if none was.
func (q queue) age(now time.Time) time.Duration {
	if q.held.IsZero() {
		return 0
	}
	return min(now.Sub(q.held), keptReads) + readSlack
}

// accepts returns the maximum age of the reads of a pass's first look. age is the one that the pace of the pool allows. After an exact look
// that was held back it is exact itself: another one before it would use up what the budget has for both, in each pass again.
func (q queue) accepts(age time.Duration, now time.Time) time.Duration {
	if q.exact {
		return 0
	}
	return cmp.Or(q.age(now), age)
}

// looked notes how a look ended, and whether it was a second one of its pass that had to be exact.
func (q *queue) looked(err error, exact bool) { q.exact = (exact || q.exact) && heldBack(err) }

// ended notes how a pass ended, and what the next look is for.
func (q *queue) ended(now time.Time, held bool, next cloud.Priority) {
	switch q.priority = next; {
	case !held:
		q.held = time.Time{}
	case q.held.IsZero():
		q.held = now
	}
}

// changed returns the queue of a pool of which something else is asked: a user's operation, unless nothing but the bootstrap data of the
// same content has changed.
func (r *record) changed(content string) queue {
	if content == "" || content != r.content {
		return queue{priority: cloud.PriorityOperation}
	}
	q := r.queue
	q.priority = min(q.priority, cloud.PriorityRotation)
	return q
}

// lookFor returns the priority of a pass's look.
func (q queue) lookFor(d pool.Desired) cloud.Priority {
	if d.Deleting {
		return cloud.PriorityOperation
	}
	return q.priority
}

// nextLook returns what the next look is for: the step that is under way or waits, or what else the pool waits for.
func nextLook(d pool.Desired, out Outcome) cloud.Priority {
	switch p := out.Plan; {
	case d.Deleting || p.DeletionComplete:
		return cloud.PriorityOperation
	case p.Quiescent:
		return cloud.PriorityIdle
	case p.Step != nil:
		return priorityOf(*p.Step, d, out.Observed)
	case p.Rollout.State != "" && p.Rollout.State != pool.RolloutDone:
		return cloud.PriorityRollout
	case rotates(out.Observed) && !operates(d, out.Observed):
		return cloud.PriorityRotation
	default:
		return cloud.PriorityOperation
	}
}

// priorityOf returns the priority of a step's calls. What a rotation needs comes before a change of size or a removal that is asked for, so
// that it counts as that then.
func priorityOf(s pool.Step, d pool.Desired, o pool.Observed) cloud.Priority {
	switch s.Kind {
	case pool.PutTemplate, pool.UpdateGroup, pool.DefaultTemplate:
		switch {
		case o.Group == nil:
			return cloud.PriorityOperation
		case rotates(o) && !operates(d, o):
			return cloud.PriorityRotation
		case rotates(o):
			return cloud.PriorityOperation
		}
		return cloud.PriorityRollout
	case pool.PruneTemplates:
		return cloud.PriorityIdle
	case pool.StartProviderRollout, pool.CancelProviderRollout, pool.Replace, pool.EnterStandby, pool.Apply, pool.Protect:
		return cloud.PriorityRollout
	default:
		return cloud.PriorityOperation
	}
}

// operates reports whether the group has another size than the pool asks for, or an instance is to go.
func operates(d pool.Desired, o pool.Observed) bool {
	return !d.ReplicasManagedExternally && o.Group.Size != d.Replicas ||
		slices.ContainsFunc(o.Instances, func(i pool.Instance) bool { return i.DeletionRequested != nil })
}

// rotates reports whether the group launches what is wanted but for other bootstrap data of the same content.
func rotates(o pool.Observed) bool {
	if o.Group == nil || len(o.Group.Drift) > 0 {
		return false
	}
	for _, v := range o.Versions {
		if v.Ref == o.Group.Template {
			return v.Same(o.Wanted) && v.Data != o.Wanted.Data
		}
	}
	return false
}

// restsOn reports whether what is planned may rest on what a look of such an age has read. What changes the cloud rests on what is so now.
// Passes that were held back go on with what was read since, but for a removal: else they would read the same again each time, and never
// come to an end.
func (q queue) restsOn(out Outcome, age time.Duration, now time.Time) bool {
	return !final(out.Plan) || age <= q.age(now) && !removes(out)
}

// removes reports whether a plan ends instances or lets the object go. A cloud that is to make a group smaller chooses the instances
// itself.
func removes(out Outcome) bool {
	p, g := out.Plan, out.Observed.Group
	if p.Step == nil {
		return p.DeletionComplete
	}
	switch p.Step.Kind {
	case pool.Remove, pool.Replace, pool.Release, pool.EnterStandby, pool.Undrain, pool.DeleteGroup, pool.DeleteTemplates, pool.CleanUp,
		pool.CreateGroup:
		return true
	case pool.Resize:
		return g == nil || p.Step.Size < g.Size+g.UnfulfilledCapacity || p.DeletionComplete
	}
	return p.DeletionComplete
}
