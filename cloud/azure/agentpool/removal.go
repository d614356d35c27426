package agentpool

import (
	"strings"
	"time"
)

// removal is the last one that Muster requested. AKS drains the machines before it deletes them, and shows nothing of it meanwhile; a list
// that is behind shows them once more after the removal was last seen to run.
type removal struct {
	machines    map[string]bool
	begun, seen time.Time
	// from is the count before it, and confirmed true once a read has shown its effect. Without an answer it may never have arrived, and with
	// one it may have been ignored.
	from      int
	confirmed bool
	// follows is true if a read may still show the removal before it.
	follows bool
}

// next is a removal that follows r, with the count that was read before it. That may be from before the effect of r.
func (r removal) next(names []string, count int, now time.Time) removal {
	n := removal{machines: map[string]bool{}, begun: now, seen: now, from: count, follows: now.Sub(r.seen) < visibleWithin}
	for _, name := range names {
		n.machines[name] = true
	}
	if n.follows && r.confirmed {
		n.from = min(count, r.from-len(r.machines))
	}
	return n
}

// note takes over what a read shows of the removal.
func (r *removal) note(is *agentPool, now time.Time) {
	deleting := strings.EqualFold(is.state(), stateDeletingMachines)
	r.confirmed = r.confirmed || is.count() < r.from || deleting && (!r.follows || now.Sub(r.begun) >= visibleWithin)
	switch {
	case deleting:
		r.seen = now
	case is.gaveUp(), now.Sub(r.seen) >= visibleWithin:
		r.machines = nil
	}
}

// left returns the machines that AKS is seen to delete.
func (r *removal) left() map[string]bool {
	if !r.confirmed {
		return nil
	}
	return r.machines
}
