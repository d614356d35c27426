package pool

import "time"

// terminationCause is why an instance is drained that the cloud is already taking.
func terminationCause(i *Instance) Cause {
	switch {
	case i.TerminationNotice != nil:
		return *i.TerminationNotice
	case i.DeletionRequested != nil:
		return *i.DeletionRequested
	}
	return Cause{"Terminating", "the cloud is terminating the instance and waits for its drain"}
}

// releaseStep releases the drained instances first, then those whose drain timeout has passed.
func (v *steps) releaseStep() *Step {
	var drained, late []*member
	for _, m := range v.fleet.held {
		switch {
		case !v.fleet.isReleasable(m):
		case v.fleet.isDrained(m):
			drained = append(drained, m)
		default:
			late = append(late, m)
		}
	}
	list, cause := drained, Cause{"Drained", "no pods are left to evict"}
	if len(drained) == 0 {
		list, cause = late, Cause{"DrainTimedOut", "its drain timeout has passed"}
	}
	if len(list) == 0 {
		return nil
	}
	list, more := v.in.batch(list)
	return &Step{Kind: Release, More: more || len(late) > 0 && len(drained) > 0, Targets: instanceRefs(list), Cause: cause}
}

// maxHeld is the maximum number of drained instances that are held in termination while others are replaced, and that one step replaces.
// Each costs money until it is released, and its replacement may need its place in a quota.
const maxHeld = 20

// releasableCount returns how many instances are held in termination that may be released.
func (v *classification) releasableCount() (n int) {
	for _, m := range v.held {
		if v.isReleasable(m) {
			n++
		}
	}
	return n
}

// releaseBefore returns the release if it comes before the removal: always where the removal lowers the size of the group, because no
// instance is launched in return, and otherwise once maxHeld drained instances are held. It returns nil without a removal.
func (v *steps) releaseBefore(remove, release *Step) *Step {
	if remove == nil || release == nil || remove.Kind != Remove && v.fleet.releasableCount() < maxHeld {
		return nil
	}
	return release
}

// removeUnlessHeld returns removeStep, or nil while maxHeld drained instances are held whose release waits for a rate limit: the calls of a
// removal count against the same limit and would add to them. A release that the cloud refuses stops no removal.
func (v *steps) removeUnlessHeld() *Step {
	reason := v.in.d.StepsInBackoff[Release].Reason
	if (reason == ClientRateLimited || reason == Throttled) && v.fleet.releasableCount() >= maxHeld {
		return nil
	}
	return v.removeStep()
}

// isDrained reports whether nothing is left on an instance that a drain would evict, as far as known.
func (v *classification) isDrained(m *member) bool {
	return m.Guard != nil || v.in.d.NoDrain != nil || !v.in.nodesUnknown() && (m.Node == nil || m.Node.Drained())
}

// isReleasable reports whether the termination of an instance may continue. While the nodes are unknown, the drain timeout counts from the
// start of the hook, so that a cluster that is gone for good blocks nothing forever. Otherwise it counts from the start of the drain: the
// hook may have gone unnoticed for longer than a short timeout.
func (v *classification) isReleasable(m *member) bool {
	if m.Guard != nil {
		return m.Guard.Released
	}
	if !v.in.nodesUnknown() {
		return v.removable(m)
	}
	since, timeout := m.LifecycleHook.Since, v.in.d.DrainTimeout
	return timeout > 0 && v.in.clock.Reached(since.Add(timeout)) && since.Before(v.in.clock.Now())
}

// renewStep extends the hooks of instances that are not drained, once half of a heartbeat has passed.
func (v *steps) renewStep() *Step {
	var list []*member
	for _, m := range v.fleet.held {
		h := m.LifecycleHook
		if !h.Until.IsZero() && h.Heartbeat > 0 && v.in.clock.Passed(h.Until.Add(-h.Heartbeat/2)) && !v.fleet.isReleasable(m) {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil
	}
	list, more := v.in.batch(list)
	return &Step{Kind: Renew, More: more, Targets: instanceRefs(list), Cause: Cause{"Draining", "the drain has not ended"}}
}

// LifecycleHook is a pause set by Muster before the cloud terminates an instance: the instance keeps running meanwhile.
type LifecycleHook struct {
	// Since is when the cloud began to hold it, Until when it stops to by itself; a zero Until is not known, and is not
	// renewed.
	Since, Until time.Time
	// Heartbeat is the time for which one Renew holds the instance.
	Heartbeat time.Duration
}
