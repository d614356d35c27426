package pool

import "fmt"

// verdicts are the members that there is a reason to remove or to replace.
func (v *view) verdicts() []InstanceDecision {
	var list []InstanceDecision
	for _, m := range v.members {
		switch {
		case m.why != stays:
			list = append(list, InstanceDecision{ID: m.ID, Cause: targetOf(m).Cause, LowersAvailable: m.available, Selected: m.going})
		case m.TerminationNotice != nil:
			list = append(list, InstanceDecision{ID: m.ID, Cause: *m.TerminationNotice, LowersAvailable: m.available, Selected: true})
		}
	}
	return list
}

// forecast are the waves in which the rest of a rollout by our hand goes: as many at a time as surge and unavailability
// allow together (rule 10).
func (v *view) forecast() []Wave {
	size := v.surge + v.unavailable
	if v.placesAreOthers() {
		size = v.surge
	}
	if v.left == 0 || size == 0 || v.state == RolloutPaused || v.state == RolloutNone {
		return nil
	}
	var list []*member
	for _, m := range v.queue {
		if m.left {
			list = append(list, m)
		}
	}
	var waves []Wave
	for len(list) > 0 {
		wave := list[:min(size, len(list))]
		lowest := v.want - min(v.unavailable, len(wave))
		if len(waves) == 0 {
			lowest = min(lowest, max(v.available, 0))
		}
		waves = append(waves, Wave{Targets: targets(wave), Surge: min(v.surge, len(list)), LowestAvailable: max(0, lowest)})
		list = list[len(wave):]
	}
	return waves
}

func (v *view) budget() Budget {
	above := v.aside
	if !v.t.SupportsStandby {
		above = max(0, v.o.Group.Size-v.want)
	}
	return Budget{
		Desired: v.want, Available: v.available, MaxSurge: v.surge, MaxUnavailable: v.unavailable,
		Unavailable: max(0, v.want-v.available), Surge: above, Left: v.left + v.asked,
	}
}

// rollout says how far the replacement of instances has come.
func (v *view) rollout() Rollout {
	r := Rollout{State: RolloutDone, Total: len(v.members)}
	for _, m := range v.members {
		if m.replaced() {
			r.Left++
		}
	}
	roll := v.o.ProviderRollout
	switch {
	case roll != nil && !roll.ended() && (v.d.RolloutPaused == nil || !v.t.CanCancelRollout):
		r.State, r.Cause = RolloutInProgress, v.rollingOn()
	case r.Left > 0 && !v.cloudFirst() && v.left+v.aside+v.asked+v.overtaken > 0:
		r.State, r.Cause = v.byHandState()
	case r.Left > 0:
		r.State, r.Cause = v.nativeState()
	}
	return r
}

// replaced says that there is a reason to replace a member, also where it goes with the size.
func (m *member) replaced() bool {
	return m.why == stale || m.why == idle || m.why == aside || m.left || m.needs || m.old != nil
}

// byHandState is the state of a rollout that our hand makes.
func (v *view) byHandState() (RolloutState, Cause) {
	switch {
	case v.stuck != nil:
		return v.state, *v.stuck
	case v.bounds() != nil:
		return RolloutWaiting, *v.bounds()
	default:
		return RolloutInProgress, v.firstStale()
	}
}

// nativeState is the state of a rollout that is left to the cloud, or to nobody.
func (v *view) nativeState() (RolloutState, Cause) {
	switch waits := v.rollWaits(); {
	case v.d.RolloutPaused != nil:
		return RolloutPaused, *v.d.RolloutPaused
	case !v.native():
		return RolloutNone, Cause{"NotReplaced", fmt.Sprintf("nothing replaces machines of an older %s: the pool has no strategy", v.t.Template)}
	case v.halted() != nil:
		return RolloutHalted, *v.halted()
	case waits != nil:
		return RolloutWaiting, *waits
	default:
		return RolloutInProgress, v.firstStale()
	}
}

// rolling says how far the cloud's own roll is, in its words.
func rolling(r *ProviderRollout, t Traits) Cause {
	to := r.Template.Ref
	if to == "" {
		to = "what somebody chose"
	}
	text := fmt.Sprintf("the roll of the %s to %s is %s at %d %%", t.Group, to, r.State, r.Percent)
	return Cause{"ProviderRollout" + string(r.State), text + because(r)}
}
