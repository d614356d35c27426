package instancepool

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/cloud/oci/workrequests"
	"github.com/muster-project/muster/pool"
)

const (
	// holdSeconds is the time for which the pool's hook holds an instance that is to be terminated, unless Muster lets it go before. It can't
	// be made longer while it runs, and an instance must not be kept, and paid for, by a Muster that no longer exists.
	holdSeconds = 1800
	// deleteVolumes has the volumes of an instance deleted with it, as without a hook.
	deleteVolumes = "DELETE_ALWAYS"
	// phaseAwait is the state of an instance in relation to its pool while the hook holds it.
	phaseAwait = "TERMINATION_AWAIT"
	// phaseReads is the maximum number of instances that one look reads by themselves, phaseAge the age after which one is read again.
	phaseReads, phaseAge = 20, 10 * time.Second
)

// hooked returns the action before the termination of an instance if it holds instances; nil if it does not.
func hooked(is *core.InstancePool) *core.InstancePoolPreTerminationActionDetails {
	if is == nil || is.LifecycleManagement == nil || is.LifecycleManagement.LifecycleActions == nil {
		return nil
	}
	action := is.LifecycleManagement.LifecycleActions.PreTermination
	if action == nil || !value(action.IsEnabled) || value(action.Timeout) <= 0 {
		return nil
	}
	return action
}

// lifecycle returns the hook by which nodes are drained: whatever has the pool terminate an instance, the instance keeps running until
// Muster lets it go, or the time is over.
func lifecycle() *core.InstancePoolLifecycleManagementDetails {
	return &core.InstancePoolLifecycleManagementDetails{LifecycleActions: &core.InstancePoolLifecycleActionsDetails{
		PreTermination: &core.InstancePoolPreTerminationActionDetails{
			IsEnabled: new(true), Timeout: new(holdSeconds),
			OnTimeout: &core.InstancePoolPreTerminationActionHandleTimeoutDetails{
				PreserveBootVolumeMode: new(deleteVolumes), PreserveBlockVolumeMode: new(deleteVolumes)},
		},
	}}
}

// holds are the instances that the hook may hold, by OCID, with what is known of them. The list of a pool shows the state of the instance
// itself, which runs while it is held. That it is held only the instance in its pool shows, which is read for those that may be.
type holds map[string]hold

type hold struct {
	// since is when the instance was first seen to be held; zero if it is not.
	since time.Time
	// requested is when Muster had the pool terminate it, released when Muster has released it; zero if it did not.
	requested, released time.Time
	// read is when the instance in its pool was read last.
	read time.Time
}

// leaving reports whether the instance was seen to be held, or released.
func (h hold) leaving() bool { return !h.since.IsZero() || !h.released.IsZero() }

// of returns how the hook holds an instance; nil if it does not.
func (h holds) of(is *core.InstancePool, id string) *pool.LifecycleHook {
	held, action := h[id], hooked(is)
	if held.since.IsZero() || !held.released.IsZero() || action == nil {
		return nil
	}
	return &pool.LifecycleHook{Since: held.since, Until: held.since.Add(time.Duration(value(action.Timeout)) * time.Second)}
}

// any reports whether the hook holds an instance of the pool.
func (h holds) any(is *core.InstancePool) bool {
	for id := range h {
		if h.of(is, id) != nil {
			return true
		}
	}
	return false
}

// set changes what is known of an instance.
func (h *holds) set(id string, change func(*hold)) {
	if *h == nil {
		*h = holds{}
	}
	is := (*h)[id]
	change(&is)
	(*h)[id] = is
}

// keep forgets instances that are gone or being terminated.
func (h holds) keep(members []member) {
	for id := range h {
		if !slices.ContainsFunc(members, func(m member) bool { return m.id == id && (m.staying() || m.awaits()) }) {
			delete(h, id)
		}
	}
}

// awaits reports whether the list itself shows that the hook holds the instance.
func (m member) awaits() bool { return strings.Contains(m.word, "AWAIT") }

// holder reads which instances the hook of the pool holds.
type holder struct{ p *pass }

// readHolds reads which instances the hook holds, as far as they may be held, and gives those the state Terminating. What can't be read
// stays as it was known.
func (r holder) readHolds(ctx context.Context, is *core.InstancePool, members []member) error {
	h := &r.p.memory.holds
	if hooked(is) == nil {
		*h = nil
		return nil
	}
	h.keep(members)
	for _, m := range members {
		if m.awaits() && !(*h)[m.id].leaving() {
			since, err := r.begun(ctx, value(is.Id), (*h)[m.id], m.id)
			if err != nil {
				return r.p.tolerate(err)
			}
			h.set(m.id, func(held *hold) { held.since = since })
		}
	}
	if err := r.readPhases(ctx, is, members); err != nil {
		return r.p.tolerate(err)
	}
	for k := range members {
		if (*h)[members[k].id].leaving() {
			members[k].state = pool.Terminating
		}
	}
	return nil
}

// begun returns since when the hook holds an instance that is first seen to be held now: since its removal was requested, as Muster knows
// or the work request tells.
func (r holder) begun(ctx context.Context, poolID string, held hold, id string) (time.Time, error) {
	switch {
	case !held.requested.IsZero():
		return held.requested, nil
	case !held.since.IsZero():
		return held.since, nil
	}
	if r.p.removals == nil {
		found, err := r.requestedRemovals(ctx, poolID)
		if err != nil {
			return r.p.now, err
		}
		r.p.removals = found
	}
	if at, found := r.p.removals[id]; found && at.Before(r.p.now) {
		return at, nil
	}
	return r.p.now, nil
}

// requestedRemovals returns since when instances of the pool are being removed, by the work requests that run.
func (r holder) requestedRemovals(ctx context.Context, poolID string) (map[string]time.Time, error) {
	requests, err := launcher(r).workRequests(ctx, poolID, "DETACH", "TERMINAT")
	out := map[string]time.Time{}
	for _, w := range requests[:min(len(requests), phaseReads)] {
		if value(w.Status) != "IN_PROGRESS" && value(w.Status) != "ACCEPTED" {
			continue
		}
		answer, err := r.p.c.Work.GetWorkRequest(ctx, workrequests.GetWorkRequestRequest{WorkRequestId: w.Id})
		if err != nil {
			return out, err
		}
		for _, is := range answer.Body.Resources {
			out[value(is.Identifier)] = timeOf(w.TimeAccepted, r.p.c.Skew(answer.Headers))
		}
	}
	return out, err
}

// readPhases reads which of the instances that the hook may hold it does: those whose removal Muster has requested, those in domains that
// are not the pool's any more, and others, the oldest first, as OCI chooses them, until as many are found as the pool has too many.
func (r holder) readPhases(ctx context.Context, is *core.InstancePool, members []member) error {
	open := slices.DeleteFunc(slices.Clone(members), func(m member) bool { return !m.staying() || m.state == pool.Pending })
	slices.SortStableFunc(open, func(a, b member) int { return cmp.Compare(r.rank(is, a), r.rank(is, b)) })
	surplus, reads := r.surplus(is, members), 0
	for _, m := range open {
		suspect := surplus > 0 || r.rank(is, m) < rankOther
		if !r.due(m.id, suspect) || reads == phaseReads {
			continue
		}
		reads++
		if err := r.readPhase(ctx, is, m.id); err != nil {
			return err
		}
		if r.p.memory.holds[m.id].leaving() {
			surplus--
		}
	}
	return nil
}

// due reports whether an instance in its pool is read again: a suspect, or one whose release may have been ignored.
func (r holder) due(id string, suspect bool) bool {
	held := r.p.memory.holds[id]
	if held.leaving() {
		suspect = !held.released.IsZero() && r.p.now.Sub(held.released) >= visibleWithin
	}
	return suspect && r.p.now.Sub(held.read) >= phaseAge
}

// surplus returns by how many the instances that are not known to go exceed the size of the pool: all of them where it is being terminated.
func (r holder) surplus(is *core.InstancePool, members []member) int {
	staying := 0
	for _, m := range members {
		if m.staying() && !r.p.memory.holds[m.id].leaving() {
			staying++
		}
	}
	if value(is.LifecycleState) == stateTerminating {
		return staying
	}
	return staying - value(is.Size)
}

const rankRequested, rankOutside, rankOther = 0, 1, 2

// rank orders instances by how likely the pool terminates them.
func (r holder) rank(is *core.InstancePool, m member) int {
	inside := slices.ContainsFunc(is.PlacementConfigurations, func(c core.InstancePoolPlacementConfiguration) bool {
		return value(c.AvailabilityDomain) == m.domain
	})
	switch {
	case !r.p.memory.holds[m.id].requested.IsZero():
		return rankRequested
	case !inside:
		return rankOutside
	}
	return rankOther
}

// readPhase reads whether the hook holds an instance.
func (r holder) readPhase(ctx context.Context, is *core.InstancePool, id string) error {
	answer, err := r.p.c.Core.GetInstancePoolInstance(ctx, core.GetInstancePoolInstanceRequest{InstancePoolId: is.Id, InstanceId: &id})
	if session.NotFound(err) {
		return nil // it has left, or may not be read: the list tells
	}
	if err != nil {
		return err
	}
	waits := value(answer.Body.LifecycleState) == phaseAwait
	since := r.p.now
	if waits {
		if since, err = r.begun(ctx, value(is.Id), r.p.memory.holds[id], id); err != nil {
			return err
		}
	}
	r.p.memory.holds.set(id, func(held *hold) {
		held.read = r.p.now
		switch {
		case !waits && held.released.IsZero():
			held.since = time.Time{}
		case waits && !held.released.IsZero() && r.p.now.Sub(held.released) >= visibleWithin:
			held.released = time.Time{}
		case waits && held.since.IsZero():
			held.since = since
		}
	})
	return nil
}
