package pool

// held are the instances on their way out that a termination hook of ours keeps running.
func (v *view) held() []*member {
	var list []*member
	for k := range v.o.Instances {
		if i := &v.o.Instances[k]; i.State == Terminating && i.LifecycleHook != nil {
			list = append(list, &member{Instance: i, why: condemned, cause: taken(i)})
		}
	}
	return list
}

// taken is why an instance is drained that the cloud is already taking.
func taken(i *Instance) Cause {
	switch {
	case i.TerminationNotice != nil:
		return *i.TerminationNotice
	case i.DeletionRequested != nil:
		return *i.DeletionRequested
	}
	return Cause{"Terminating", "the cloud is terminating the instance and waits for its drain"}
}

// releaseStep lets go what is drained, and then what has had all the time that its drain may take.
func (v *view) releaseStep() *Step {
	var drained, late []*member
	for _, m := range v.held() {
		switch {
		case !v.releasable(m):
		case v.emptied(m):
			drained = append(drained, m)
		default:
			late = append(late, m)
		}
	}
	list, cause := drained, Cause{"Drained", "nothing runs on the instance that a drain would still evict"}
	if len(drained) == 0 {
		list, cause = late, Cause{"DrainTimedOut", "its drain has had all the time that it may take"}
	}
	if len(list) == 0 {
		return nil
	}
	list, more := v.batch(list)
	return &Step{Kind: Release, More: more || len(late) > 0 && len(drained) > 0, Targets: targets(list), Cause: cause}
}

// heldMost is how many drained instances may be held in termination while others are removed: each costs money until it is
// released, and what replaces it may need its place in a quota.
const heldMost = 20

// drainedHeld returns how many instances are held in termination that may be released.
func (v *view) drainedHeld() (n int) {
	for _, m := range v.held() {
		if v.releasable(m) {
			n++
		}
	}
	return n
}

// releaseBefore returns the release if it comes before the removal: always where the removal lowers the group's size, because no
// machine is launched in return, and otherwise once heldMost drained instances are held. It returns nil where there is no removal.
func (v *view) releaseBefore(remove, release *Step) *Step {
	if remove == nil || release == nil || remove.Kind != Remove && v.drainedHeld() < heldMost {
		return nil
	}
	return release
}

// removeUnlessHeld returns removeStep, or nil while heldMost drained instances are held whose release waits for a rate limit: the calls of
// a removal count against the same limit, and would add to them. A release that the cloud refuses stops no removal.
func (v *view) removeUnlessHeld() *Step {
	reason := v.d.StepsInBackoff[Release].Reason
	if (reason == ClientRateLimited || reason == Throttled) && v.drainedHeld() >= heldMost {
		return nil
	}
	return v.removeStep()
}

// emptied says that an instance that may go holds nothing any more, as far as anybody knows.
func (v *view) emptied(m *member) bool {
	return m.Guard != nil || v.d.NoDrain != nil || !v.unknownNodes() && (m.Node == nil || m.Node.Drained())
}

// releasable says that nothing is lost, or nothing more is waited for. Where nobody can say what runs on it, the drain timeout
// runs from the hold, so that a cluster that is gone for good holds nobody for ever. Otherwise it runs from the drain: a hold
// may have gone unnoticed for longer than a short timeout.
func (v *view) releasable(m *member) bool {
	if m.Guard != nil {
		return m.Guard.Released
	}
	if !v.unknownNodes() {
		return v.removable(m.Instance)
	}
	return v.d.DrainTimeout > 0 && v.reached(m.LifecycleHook.Since.Add(v.d.DrainTimeout)) && m.LifecycleHook.Since.Before(v.now)
}

// renewStep asks for more time for those that are not drained, once half of a heartbeat's time is up.
func (v *view) renewStep() *Step {
	var list []*member
	for _, m := range v.held() {
		h := m.LifecycleHook
		if !h.Until.IsZero() && h.Heartbeat > 0 && v.passed(h.Until.Add(-h.Heartbeat/2)) && !v.releasable(m) {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil
	}
	list, more := v.batch(list)
	return &Step{Kind: Renew, More: more, Targets: targets(list), Cause: Cause{"Draining", "the drain has not ended"}}
}
