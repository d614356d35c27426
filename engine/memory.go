package engine

import (
	"cmp"
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

// generations tell what of the input of a pass has changed: Input.Generation, ContentGeneration and TargetGeneration.
type generations struct{ all, content, target string }

// of gives the record of an owner. Passes of one owner never overlap (one key of a work queue), so the record itself
// needs no lock.
func (m *memory) of(owner string, is generations, edited bool) *record {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.records[owner]
	if !ok {
		r = &record{owner: owner, generations: is, refusal: map[pool.StepKind]failure{}, queue: queue{priority: cloud.PriorityRollout}}
		if edited {
			r.queue.priority = cloud.PriorityOperation
		}
		m.records[owner] = r
	}
	if r.all != is.all {
		*r = record{
			owner: owner, refusal: map[pool.StepKind]failure{}, due: r.due, waited: r.waited, shared: r.shared, moving: r.moving,
			queue: r.changed(is.content), presence: r.presence, unfilled: r.unfilled, undecided: r.undecided, attempts: r.attemptsAfter(is),
		}
	}
	r.generations = is
	return r
}

func (m *memory) forget(owner string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, owner)
}

// record is the memory of one owner. Losing it costs reads and attempts, and nothing else.
type record struct {
	owner string
	generations
	// due is the time of the next read of the cloud; earlier passes come from events and take a recent observation. waited is the time
	// between the last look and that one.
	due    time.Time
	waited time.Duration
	// shared is true if the pool's last look was answered by reads that pools share.
	shared bool
	// moving is since when the cloud has been at work; zero while settled.
	moving time.Time
	// draining is since when every step was a drain, zero when the last was none: only nodes change until it ends, so the
	// cloud need not be read with each round.
	draining time.Time
	queue    queue
	presence presence
	// throttled is when the cloud throttled the last look; zero if it did not. throttledFor is for how long it has throttled look after
	// look, without the times in which a rate budget held them back.
	throttled    time.Time
	throttledFor time.Duration
	// observe is the failure to observe, refusal the failure of each kind of step.
	observe failure
	refusal map[pool.StepKind]failure
	// attempts are the changes that the cloud accepted and whose effect is not visible yet, by kind of step and by what was to change.
	attempts attempts
	unfilled unfilled
	// undecided is the time of the last search for nodes that could be drained in place of one whose drain is blocked.
	undecided time.Time
	podHolds  podHolds
}

// failure is a row of errors without a success in between.
type failure struct {
	// err is the last error. answered is the cloud's last own answer while err is a used-up rate budget.
	err, answered error
	times         int
	until         time.Time
	// held is since when a rate budget has held back what failed; zero if err is another one.
	held time.Time
}

const (
	// minBackoff doubles with each error in a row up to maxBackoff, whatever the error says: a permanent error costs
	// a dozen calls an hour, a passing one a second.
	minBackoff, maxBackoff = time.Second, 5 * time.Minute
	// backoffDoublings bounds the doublings of minBackoff.
	backoffDoublings = 16
	// heldShare is the part of the time that something has been held back which its next wait takes at least, up to maxHeldWait.
	heldShare, maxHeldWait = 8, time.Second
)

// heldBack reports whether an error is a rate budget that is used up: no fault, and nothing that the cloud has answered.
func heldBack(err error) bool { return err != nil && cloud.CodeOf(err) == cloud.CodeClientRateLimited }

// again is the failure after one more error. A request that was held back is sent again at its place in line. Each try looks first: where
// what flows into a budget until the place is just what the look takes, a step would never be sent, so that the waits grow a little.
func (f failure) again(now time.Time, err error) failure {
	if heldBack(err) {
		var held *cloud.Error
		errors.As(err, &held)
		since := cmp.Or(f.held, now)
		wait := min(max(held.After, afterStep, min(now.Sub(since)/heldShare, maxHeldWait)), maxBackoff)
		return failure{err: err, answered: f.answer(), times: f.times, until: now.Add(wait), held: since}
	}
	wait := time.Duration(float64(minBackoff) * math.Pow(2, float64(min(f.times, backoffDoublings))))
	wait = min(wait, maxBackoff)
	var refused *cloud.Error
	if errors.As(err, &refused) {
		wait = max(wait, refused.After)
	}
	return failure{err: err, times: f.times + 1, until: now.Add(wait)}
}

// answer returns the cloud's last own error; nil if it has not been called.
func (f failure) answer() error {
	if heldBack(f.err) {
		return f.answered
	}
	return f.err
}

// cause returns why the step waits: what the cloud said last, or else the rate budget that is used up.
func (f failure) cause() pool.Cause {
	if answer := f.answer(); answer != nil {
		return pool.Cause{Reason: string(cloud.KindOf(answer)), Message: answer.Error()}
	}
	held := f.err.Error()
	var e *cloud.Error
	if errors.As(f.err, &e) {
		held = e.Message
	}
	return pool.Cause{Reason: pool.ClientRateLimited, Message: held}
}

// heldSince returns since when a rate budget has held back the first of the steps whose places in line have come; zero if there is none.
func (r *record) heldSince(now time.Time) (first time.Time) {
	for _, f := range r.refusal {
		if !f.held.IsZero() && !now.Before(f.until) && (first.IsZero() || f.held.Before(first)) {
			first = f.held
		}
	}
	return first
}

// observing returns the time until the cloud may be called again, and the error that caused the wait.
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

// throttledBriefly is the time for which throttled looks are not reported: an unpublished limit is found by exceeding it.
const throttledBriefly = time.Minute

// sparing reports whether a look came to nothing because there were too many calls: a rate budget is used up, or the cloud has throttled
// the look, and has for a short time only.
func (r *record) sparing(now time.Time, err error) bool {
	if cloud.KindOf(err) != cloud.Throttled || err == nil {
		r.throttled, r.throttledFor = time.Time{}, 0
		return false
	}
	if heldBack(err) {
		r.throttled = time.Time{}
		return true
	}
	if !r.throttled.IsZero() {
		r.throttledFor += now.Sub(r.throttled)
	}
	r.throttled = now
	return r.throttledFor < throttledBriefly
}

func (r *record) observed() { r.observe, r.throttled, r.throttledFor = failure{}, time.Time{}, 0 }

// manyTargets is the number of targets from which on a step counts as a batch, batchWait how long a batch waits at least that was held
// back: each try begins with a look, whose call counts against the same budget as those of the batch.
const manyTargets, batchWait = 5, 2 * time.Second

// refused notes that a step was not begun, or not for all of its targets.
func (r *record) refused(s pool.Step, now time.Time, err error) {
	f := r.refusal[s.Kind].again(now, err)
	if cloud.KindOf(err) == cloud.Conflict {
		f.until = now.Add(r.conflictWait(f.until.Sub(now), f.times, err))
	}
	if earliest := now.Add(batchWait); heldBack(err) && len(s.Targets) >= manyTargets && f.until.Before(earliest) {
		f.until = earliest
	}
	r.refusal[s.Kind] = f
}

func (r *record) began(kind pool.StepKind) { delete(r.refusal, kind) }

// forgive drops the refusals whose back-off has ended, in a pass that has found nothing to do: what was refused is not
// wanted any more, because another client has done it.
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
		avoid[kind] = f.cause()
	}
	return avoid
}

// refusals returns the steps that are blocked now, with their reasons. A rejected step is reported before a change without effect. A step
// that waits for a rate budget is not included.
func (r *record) refusals() map[pool.StepKind]error {
	out := map[pool.StepKind]error{}
	for kind := range r.attempts {
		if none := r.attempts.noEffect(kind); none != nil {
			out[kind] = none
		}
	}
	for kind, f := range r.refusal {
		if answer := f.answer(); answer != nil {
			out[kind] = answer
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
