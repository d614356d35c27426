package engine

import (
	"errors"
	"maps"
	"math"
	"sync"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// memory holds what the engine remembers between passes: only how often to ask, never what to do. Losing it costs a
// few calls.
type memory struct {
	mu      sync.Mutex
	records map[string]*record
}

func newMemory() *memory { return &memory{records: map[string]*record{}} }

// of gives the record of an owner. Passes of one owner never overlap (one key of a work queue), so the record itself
// needs no lock.
func (m *memory) of(owner, generation string) *record {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.records[owner]
	if !ok {
		r = &record{generation: generation, refusal: map[pool.StepKind]failure{}}
		m.records[owner] = r
	}
	if r.generation != generation {
		*r = record{generation: generation, refusal: map[pool.StepKind]failure{}, due: r.due, moving: r.moving}
	}
	return r
}

func (m *memory) forget(owner string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, owner)
}

// record is what is remembered of one owner.
type record struct {
	generation string
	// due is when the cloud is to be asked again; earlier passes come from events and take a recent observation.
	due time.Time
	// moving is since when the cloud has been at work; zero while settled.
	moving time.Time
	// draining is since when every step was a drain, zero when the last was none: only nodes change until it ends, so the
	// cloud need not be asked anew with each round.
	draining time.Time
	// held is since when passes have come to nothing because a budget of ours is used up; zero when the last one did not.
	held time.Time
	// observe is the failure to observe, refusal the failure of each kind of step.
	observe failure
	refusal map[pool.StepKind]failure
	// attempts are the changes that the cloud accepted and whose effect is not visible yet, by kind of step and by what was to change.
	attempts map[pool.StepKind]map[string]attempt
}

// failure is a row of errors without a success in between.
type failure struct {
	err   error
	times int
	until time.Time
}

const (
	// backoffLeast doubles with each error in a row up to backoffMost, whatever the error says: a permanent error costs
	// a dozen calls an hour, a passing one a second.
	backoffLeast, backoffMost = time.Second, 5 * time.Minute
	// backoffDoublings bounds the doublings of backoffLeast.
	backoffDoublings = 16
)

// again is the failure after one more error.
func (f failure) again(now time.Time, err error) failure {
	wait := time.Duration(float64(backoffLeast) * math.Pow(2, float64(min(f.times, backoffDoublings))))
	wait = min(wait, backoffMost)
	var refused *cloud.Error
	if errors.As(err, &refused) {
		wait = max(wait, refused.After)
	}
	return failure{err: err, times: f.times + 1, until: now.Add(wait)}
}

// observing says how long the cloud is not to be asked, and after which error.
func (r *record) observing(now time.Time) (time.Duration, error) {
	if r.observe.err == nil || !now.Before(r.observe.until) {
		return 0, nil
	}
	return r.observe.until.Sub(now), r.observe.err
}

func (r *record) failedToObserve(now time.Time, err error) time.Duration {
	r.observe = r.observe.again(now, err)
	return r.observe.until.Sub(now)
}

// heldBriefly is how long a pool is taken to be as it was last seen, while a budget of ours is used up.
const heldBriefly = time.Minute

// heldBack says that a pass came to nothing because a budget of ours is used up, and has been for a short time only.
func (r *record) heldBack(now time.Time, err error) bool {
	if err == nil || cloud.CodeOf(err) != cloud.CodeHeldBack {
		r.held = time.Time{}
		return false
	}
	if r.held.IsZero() {
		r.held = now
	}
	return now.Sub(r.held) < heldBriefly
}

func (r *record) observed() { r.observe = failure{} }

func (r *record) refused(kind pool.StepKind, now time.Time, err error) {
	r.refusal[kind] = r.refusal[kind].again(now, err)
}

func (r *record) began(kind pool.StepKind) { delete(r.refusal, kind) }

// forgive drops the refusals whose back-off has ended, in a pass that has found nothing to do: what was refused is not
// wanted any more, because somebody else has done it.
func (r *record) forgive(now time.Time) {
	maps.DeleteFunc(r.refusal, func(_ pool.StepKind, f failure) bool { return !now.Before(f.until) })
}

// avoid are the steps whose back-off has not ended.
func (r *record) avoid(now time.Time) map[pool.StepKind]pool.Cause {
	var avoid map[pool.StepKind]pool.Cause
	for kind, f := range r.refusal {
		if !now.Before(f.until) {
			continue
		}
		if avoid == nil {
			avoid = map[pool.StepKind]pool.Cause{}
		}
		avoid[kind] = pool.Cause{Reason: string(cloud.KindOf(f.err)), Message: f.err.Error()}
	}
	return avoid
}

// refusals are the steps that can't be done now, with the reason of each. A refusal is told before a change without effect.
func (r *record) refusals() map[pool.StepKind]error {
	out := map[pool.StepKind]error{}
	for kind := range r.attempts {
		if none := r.noEffect(kind); none != nil {
			out[kind] = none
		}
	}
	for kind, f := range r.refusal {
		out[kind] = f.err
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// age is how old an observation may be that a pass is content with: as new as can be once the next look is due.
func (r *record) age(now time.Time) time.Duration {
	switch {
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
		r.due = now.Add(drainAge)
	}
	if r.draining.IsZero() {
		r.draining = now
	}
	wait := min(max(now.Sub(r.draining)/drainShare, drainRound), drainRoundMost)
	return max(r.untilDeadline(now, p, wait), afterStep)
}

// next says when to look again, and remembers it.
func (r *record) next(now time.Time, out Outcome, steady time.Duration) time.Duration {
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
	wait := r.untilDeadline(now, out.Plan, r.pace(now, out, steady))
	// An event-driven pass does not push the next look away.
	if due := r.due.Sub(now); due > 0 && due < wait && !out.Started {
		wait = due
	}
	r.due = now.Add(wait)
	return max(wait, afterStep)
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
		switch s := out.Plan.Step; s.Kind {
		case pool.Resize, pool.Remove, pool.Replace, pool.SetAside, pool.DeleteGroup, pool.CreateGroup, pool.StartRoll, pool.CancelRoll,
			pool.Provide, pool.CleanUp, pool.Apply, pool.Unprotect:
			if !s.More {
				return movingLeast
			}
		case pool.Protect:
			if s.More {
				return unhurried
			}
			return movingLeast
		}
		return afterStep
	}
	if out.Observed.ShortNotice {
		steady = min(steady, shortNotice)
	}
	if out.Plan.Settled {
		r.moving = time.Time{}
		return steady
	}
	if r.moving.IsZero() {
		r.moving = now
	}
	return min(max(now.Sub(r.moving)/movingShare, movingLeast), movingMost, steady)
}
