package engine

import (
	"time"

	"github.com/muster-project/muster/pool"
)

const (
	// DefaultSteady is the time between two looks at a pool in which nothing moves: with the age that a look accepts (maxAge), what was
	// changed by hand is found within two minutes.
	DefaultSteady = 100 * time.Second
	// externalSteady is that time for a pool whose size an autoscaler or a user sets in the cloud: with the age that a look accepts, a new
	// size is known within half a minute.
	externalSteady = 20 * time.Second
	// shortNotice is the time between two looks at a pool whose machines may be taken two minutes after a notice: a drain needs
	// most of them.
	shortNotice = 30 * time.Second
	// togetherShare is the share of the time between two looks by which a look comes earlier, so that pools which share their reads are
	// looked at together.
	togetherShare = 5
	// afterStep is the time from a step to the next look, if the cloud shows its effect at once.
	afterStep = 100 * time.Millisecond
	// minPoll and maxPoll bound the time between two looks while the cloud operates on the group. Where pools share the reads, the
	// interval starts at minPoll after the step and doubles with each look, up to a cap. The cap grows with the age of the change, so
	// that a group that waits hours for capacity is not read every few seconds.
	minPoll, maxPoll = 300 * time.Millisecond, time.Minute
	// The cap is a movingShare-th of the age of the change, at least movingLimit, for reads of one pool alone. For shared reads it is a
	// sharedShare-th, at least sharedLimit: a new instance is then known within a second.
	movingLimit, movingShare = 3 * time.Second, 3
	sharedLimit, sharedShare = 600 * time.Millisecond, 60
	// heldLook bounds how long a pool is not looked at because a rate budget holds back one of its steps: a look takes its call from the
	// same budget.
	heldLook = 2 * time.Second
	// unhurried is the time to the next of many steps that nothing waits for: looks and calls have budgets.
	unhurried = 10 * time.Second
	// eventAge is the maximum age of an observation in a pass that an event, and not the clock, triggered.
	eventAge = 10 * time.Second
	// A look that is due accepts an answer that pools share and that is as old as an ageShare of the time since the last look, and
	// maxAge at most. While the cloud is at work it accepts a movingAge of that time: of many pools that move together each would
	// otherwise have the groups read again for itself, from the budget that their steps need.
	ageShare, movingAge, maxAge = 4, 2, 20 * time.Second
	// minDrainRound and maxDrainRound bound the time between two rounds of evictions, which is a drainShare-th of the time that the drain has
	// taken so far. drainAge is the maximum age of an observation of the cloud meanwhile.
	minDrainRound, maxDrainRound, drainAge = 3 * time.Second, 15 * time.Second, 30 * time.Second
	drainShare                             = 20
)

// age returns how old an observation may be that a pass accepts. Once the next look is due it is as new as can be, unless pools share the
// reads or nothing moves: whatever is changed is looked at anew first. The first look of a process accepts what the process has read for
// other pools.
func (r *record) age(now time.Time) time.Duration {
	switch {
	case r.due.IsZero():
		return maxAge
	case !now.Before(r.due) && r.moving.IsZero():
		return min(r.waited/ageShare, maxAge)
	case !now.Before(r.due) && r.shared:
		return min(r.waited/movingAge, maxAge)
	case !now.Before(r.due):
		return 0
	case !r.draining.IsZero():
		return drainAge
	default:
		return eventAge
	}
}

// afterDrain says when the next round of a drain is, and that the cloud is looked at more rarely than that. The longer it
// goes on, the rarer its rounds: what a budget has kept for minutes it keeps for some seconds more.
func (r *record) afterDrain(now time.Time, p pool.Plan) time.Duration {
	if r.draining.IsZero() || !now.Before(r.due) {
		r.due, r.waited = now.Add(drainAge), drainAge
	}
	if r.draining.IsZero() {
		r.draining = now
	}
	wait := min(max(now.Sub(r.draining)/drainShare, minDrainRound), maxDrainRound)
	return max(r.untilDeadline(now, p, wait), afterStep)
}

// next says when to look again, and remembers it.
func (r *record) next(now time.Time, out Outcome, steady time.Duration) time.Duration {
	r.shared = out.Observed.Cache.Shared
	drains := out.Plan.Step != nil && out.Plan.Step.Kind == pool.Drain
	again := drains && !r.draining.IsZero()
	if !again {
		r.draining = time.Time{}
	}
	if drains && out.Started {
		wait := r.afterDrain(now, out.Plan)
		if out.Plan.Step.More && !again {
			return afterStep
		}
		return wait
	}
	wait := r.untilDeadline(now, out.Plan, max(r.pace(now, out, steady), min(r.heldFor(now), heldLook)))
	// An event-driven pass does not push the next look away.
	if due := r.due.Sub(now); due > 0 && due < wait && !out.Started {
		return max(due, afterStep)
	}
	r.due, r.waited = now.Add(wait), wait
	return max(wait, afterStep)
}

// heldFor returns how long it takes until the first of the steps is tried again that a rate budget holds back; zero if there is none.
func (r *record) heldFor(now time.Time) (shortest time.Duration) {
	for _, f := range r.refusal {
		if left := f.until.Sub(now); heldBack(f.err) && left > 0 && (shortest == 0 || left < shortest) {
			shortest = left
		}
	}
	return shortest
}

// untilDeadline is a wait that ends when a back-off does, or when time alone may change the plan.
func (r *record) untilDeadline(now time.Time, p pool.Plan, wait time.Duration) time.Duration {
	for _, f := range r.refusal {
		if left := f.until.Sub(now); left > 0 {
			wait = min(wait, left)
		}
	}
	if left := p.Next.Sub(now); !p.Next.IsZero() && left > 0 {
		wait = min(wait, left)
	}
	return wait
}

// pace is the time to the next look that what goes on asks for: soon after a step, at rest rarely.
func (r *record) pace(now time.Time, out Outcome, steady time.Duration) time.Duration {
	if out.Started && !out.Repeated {
		r.moving = now
		return r.afterStart(*out.Plan.Step)
	}
	if out.Observed.ShortNotice {
		steady = min(steady, shortNotice)
	}
	if out.Plan.Quiescent {
		r.moving = time.Time{}
		if r.shared {
			return together(now, steady)
		}
		return steady
	}
	if r.moving.IsZero() {
		r.moving = now
	}
	if out.Plan.Step == nil && r.answered(now) && !r.atWork(out.Observed) {
		return steady // or the end of the back-off, which comes first
	}
	return min(r.movingWait(now), maxPoll, steady)
}

// afterStart returns the time to the next look after a step was started.
func (r *record) afterStart(s pool.Step) time.Duration {
	switch s.Kind {
	case pool.Resize, pool.Remove, pool.Replace, pool.EnterStandby, pool.DeleteGroup, pool.CreateGroup, pool.StartProviderRollout,
		pool.CancelProviderRollout,
		pool.EnsurePrerequisites, pool.CleanUp, pool.Adopt, pool.Apply, pool.Unprotect:
		if !s.More {
			return r.movingFirst()
		}
	case pool.Protect:
		if s.More {
			return unhurried
		}
		return r.movingFirst()
	}
	return afterStep
}

// together returns the time to the next look at a pool at rest that shares its reads with others. Whenever their looks were due before,
// they move to the same multiples of steady, a little with each look: then one reading answers all of them, however many there are, and not
// those of its maxAge alone.
func together(now time.Time, steady time.Duration) time.Duration {
	next := now.Add(steady)
	return steady - min(next.Sub(next.Truncate(steady)), steady/togetherShare)
}

// movingWait returns the time between two looks while the cloud is at work.
func (r *record) movingWait(now time.Time) time.Duration {
	since := now.Sub(r.moving)
	if !r.shared {
		return max(since/movingShare, movingLimit)
	}
	// Of waits that double, all so far together are by minPoll shorter than the next.
	return min(since+minPoll, max(since/sharedShare, sharedLimit))
}

// movingFirst returns the time to the first look after a step. Where a look reads for the pool alone it costs a call of a small budget:
// Azure takes ten to twelve lists a minute of one scale set's machines.
func (r *record) movingFirst() time.Duration {
	if r.shared {
		return minPoll
	}
	return movingLimit
}

// steadyOf returns the time between two looks at a pool in which nothing moves.
func (e *Engine[S]) steadyOf(d pool.Desired) time.Duration {
	if d.ReplicasManagedExternally {
		return min(e.steady, externalSteady)
	}
	return e.steady
}
