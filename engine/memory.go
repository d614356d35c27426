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
		*r = record{generation: generation, refusal: map[pool.StepKind]failure{}, due: r.due, waited: r.waited, shared: r.shared, moving: r.moving}
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
	// due is when the cloud is to be asked again; earlier passes come from events and take a recent observation. waited is the time
	// between the last look and that one.
	due    time.Time
	waited time.Duration
	// shared is true if the pool's last look was answered by reads that pools share.
	shared bool
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
