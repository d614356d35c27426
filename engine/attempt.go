package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/muster-project/muster/pool"
)

// effectWithin is the time after a change within which its effect may not be visible yet.
const effectWithin = 3 * readsBehind

// attempt is a change that the cloud accepted and whose effect was not visible when the cloud was observed last.
type attempt struct {
	first, until time.Time
	times        int
	// whole is true once a step that makes the change was accepted to its end. One that was started in part may not have come to it.
	whole bool
	// name is the item that was to change, for messages.
	name string
	// failed is true once the effect has been missing for longer than reads are behind.
	failed bool
	// due is the first look at which the back-off had ended, without another try since.
	due time.Time
}

// attempts are such changes by kind of step and by what was to change.
type attempts map[pool.StepKind]map[string]attempt

// attemptsAfter returns the attempts that are still about the same change after something else of the pool was changed. A rollout is not:
// it may be wanted again for another reason.
func (r *record) attemptsAfter(is generations) attempts {
	if is.target == "" || is.target != r.target {
		return nil
	}
	kept := maps.Clone(r.attempts)
	delete(kept, pool.StartProviderRollout)
	return kept
}

// begun records that a step was accepted, and returns true if all of it had been accepted before without a visible effect.
func (r *record) begun(s pool.Step, o pool.Observed, t pool.Traits, now time.Time) (repeated bool) {
	_, repeated = r.tried(s, o, t, now, true)
	return repeated
}

// startedInPart records that a part of a step was accepted and the rest was held back. What the cloud accepts and ignores would be sent
// again each time that the place in line of the rest comes, and take what the rest waits for.
func (r *record) startedInPart(s pool.Step, o pool.Observed, t pool.Traits, now time.Time) {
	until, _ := r.tried(s, o, t, now, false)
	if f := r.refusal[s.Kind]; f.until.Before(until) {
		f.until = until
		r.refusal[s.Kind] = f
	}
}

// tried records that a step, or a part of it, was accepted. It returns when the first of its changes is to be tried again, and true if all
// of them had been accepted before.
func (r *record) tried(s pool.Step, o pool.Observed, t pool.Traits, now time.Time, whole bool) (until time.Time, repeated bool) {
	e, ok := effects[s.Kind]
	if !ok {
		return time.Time{}, false
	}
	before := r.attempts[s.Kind]
	after := map[string]attempt{}
	if !e.single {
		maps.Copy(after, before)
	}
	repeated = true
	for _, i := range e.items(s, o, t) {
		a := before[i.key].again(i.name, now, whole)
		repeated = repeated && before[i.key].whole
		if after[i.key] = a; until.IsZero() || a.until.Before(until) {
			until = a.until
		}
	}
	if r.attempts == nil {
		r.attempts = attempts{}
	}
	r.attempts[s.Kind] = after
	return until, repeated && len(after) > 0
}

// again returns the attempt after one more. The time in which an effect is missing counts from the first that was accepted to its end.
func (a attempt) again(name string, now time.Time, whole bool) attempt {
	if a.times == 0 {
		a = attempt{name: name}
	}
	if a.first.IsZero() || whole && !a.whole {
		a.first = now
	}
	wait := min(minBackoff<<min(a.times, backoffDoublings), maxBackoff)
	a.whole, a.times, a.until, a.due = a.whole || whole, a.times+1, now.Add(wait), time.Time{}
	return a
}

// abandoned reports whether a change has not been tried again for a long time, although its back-off has ended: it is not wanted any more,
// and a pool that is never settled would report it for ever.
func (a *attempt) abandoned(now time.Time) bool {
	if !now.Before(a.until) && a.due.IsZero() {
		a.due = now
	}
	return !a.due.IsZero() && now.Sub(a.due) >= maxBackoff
}

// sawEffects drops the attempts whose effect is visible or not wanted any more, and marks those whose effect is missing. While the cloud is
// at work on the group none of these can be told.
func (l attempts) sawEffects(o pool.Observed, now time.Time) {
	if o.Group != nil && o.Group.Busy != nil {
		return
	}
	for kind, list := range l {
		e, count := effects[kind], len(list)
		maps.DeleteFunc(list, func(key string, _ attempt) bool { return !e.missing(o, key) })
		progress := len(list) < count
		for key, a := range list {
			switch {
			case a.abandoned(now):
				delete(list, key)
				continue
			case a.failed:
			case progress:
				// A driver may make the changes of one step one after the other: the next one begins only now.
				a.first, a.times = now, min(a.times, 1)
			case a.whole && a.times > 1 && now.Sub(a.first) >= effectWithin:
				a.failed = true
			}
			list[key] = a
		}
		if len(list) == 0 {
			delete(l, kind)
		}
	}
}

// resting returns why a step waits: all of it was accepted before without a visible effect, and the back-off lasts.
func (l attempts) resting(s pool.Step, o pool.Observed, t pool.Traits, now time.Time) (pool.Cause, bool) {
	list := l[s.Kind]
	if len(list) == 0 {
		return pool.Cause{}, false
	}
	cause := pool.Cause{Reason: pool.EffectPending}
	for _, i := range effects[s.Kind].items(s, o, t) {
		if a, known := list[i.key]; !known || !now.Before(a.until) {
			return pool.Cause{}, false
		}
	}
	if none := l.noEffect(s.Kind); none != nil {
		cause = pool.Cause{Reason: pool.NoEffect, Message: none.Error()}
	}
	return cause, true
}

// withoutResting returns a step that changes instances in place without those that have accepted the change before, show no effect, and
// wait for their back-off. Other instances that come later would otherwise have them changed again with every pass.
func (l attempts) withoutResting(s pool.Step, now time.Time) pool.Step {
	switch s.Kind {
	case pool.Apply, pool.Protect, pool.Unprotect:
	default:
		return s
	}
	left := slices.DeleteFunc(slices.Clone(s.Targets), func(t pool.InstanceRef) bool {
		a, known := l[s.Kind][t.ID]
		return known && now.Before(a.until)
	})
	if len(left) > 0 {
		s.Targets = left
	}
	return s
}

// noEffect returns the changes of a kind of step that show no effect, or nil.
func (l attempts) noEffect(kind pool.StepKind) error {
	var items []string
	for _, a := range l[kind] {
		if a.failed {
			items = append(items, a.name)
		}
	}
	if len(items) == 0 {
		return nil
	}
	slices.Sort(items)
	return &NoEffectError{Kind: kind, Items: items}
}

// unresponsive returns the instances that a kind of step has changed without effect, by kind of step.
func (l attempts) unresponsive() map[pool.StepKind]map[string]bool {
	var out map[pool.StepKind]map[string]bool
	for _, kind := range []pool.StepKind{pool.Apply, pool.Protect, pool.Unprotect} {
		for key, a := range l[kind] {
			if !a.failed {
				continue
			}
			if out == nil {
				out = map[pool.StepKind]map[string]bool{}
			}
			if out[kind] == nil {
				out[kind] = map[string]bool{}
			}
			out[kind][key] = true
		}
	}
	return out
}
