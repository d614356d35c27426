package driverkit

import (
	"maps"
	"time"
)

// Removals are the removals of instances that a cloud has accepted, or may have, by UID. A list may be older than a removal: without this
// memory the instance would be removed, and counted, a second time. The zero value is ready to use.
type Removals struct {
	// within is the time by which a list may be behind a write.
	within   time.Duration
	accepted map[string]removal
}

type removal struct {
	at time.Time
	// ignored is true if the instance was still listed as before when no list could be older than the removal.
	ignored bool
}

// Accept remembers that the cloud accepted the removal of an instance, or may have, which lists may not show for a while. An instance
// without a UID is not remembered: another may have its name.
func (r *Removals) Accept(uid string, now time.Time, within time.Duration) {
	if uid == "" {
		return
	}
	if r.accepted == nil {
		r.accepted = map[string]removal{}
	}
	r.within = within
	r.accepted[uid] = removal{at: now, ignored: r.accepted[uid].ignored}
}

// Assumed reports whether an instance goes although a list, which began at a moment, does not show it; terminating is true if it does. An
// instance whose removal the cloud has ignored before is as it is listed, so that the engine finds that its removal shows no effect.
func (r *Removals) Assumed(uid string, terminating bool, listed time.Time) bool {
	is, ok := r.accepted[uid]
	if !ok {
		return false
	}
	old := listed.Sub(is.at) >= r.within
	switch {
	case terminating:
		is.ignored = false
	case old:
		is.ignored = true
	}
	r.accepted[uid] = is
	return !terminating && !old && !is.ignored
}

// Listed forgets the removals of instances that a list does not have which began at a moment, and which none has that is older.
func (r *Removals) Listed(has map[string]bool, listed time.Time) {
	maps.DeleteFunc(r.accepted, func(uid string, is removal) bool { return !has[uid] && listed.Sub(is.at) >= r.within })
}

// Lately reports whether a read may be behind a removal.
func (r *Removals) Lately(now time.Time) bool {
	for _, is := range r.accepted {
		if now.Sub(is.at) < r.within {
			return true
		}
	}
	return false
}

// Len returns the number of remembered removals.
func (r *Removals) Len() int { return len(r.accepted) }
