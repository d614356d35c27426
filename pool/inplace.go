package pool

import (
	"fmt"
	"slices"
)

// protectBatch bounds how many instances one step protects: each is a call of its own, and nothing waits for it.
const protectBatch = 5

// changeable says that an instance stays, and that what the group has can be given to it without changing anything else of it:
// it is of the wanted content, and so is what the group launches.
func (v *view) changeable(m *member) bool {
	return m.why == stays && m.fresh && m.TerminationNotice == nil && !m.drains() && v.runs(m.Instance) && v.launchesWanted()
}

// behind are those that lack what the cloud can change on them.
func (v *view) behind() []*member {
	var list []*member
	for _, m := range v.members {
		if len(m.InPlaceDrift) > 0 && v.changeable(m) {
			m := *m
			m.cause = v.lacking(m.InPlaceDrift)
			list = append(list, &m)
		}
	}
	return list
}

// lacking returns why instances that lack fields are changed in place, or are not.
func (v *view) lacking(fields []string) Cause {
	if failed := v.spoiled(); failed != nil {
		return Cause{"ChangeFailed", fmt.Sprintf("no more machines get %s in place, because machine %s failed with all that the %s has: change the specification, or replace that machine",
			listed(fields), failed.ID, v.t.Group)}
	}
	return Cause{"ChangedInPlace", fmt.Sprintf("it lacks %s as the specification has it, which is changed in place", listed(fields))}
}

// spoiled returns an instance that failed with all that the group has, or nil. Other instances could fail with the same, so none gets it
// before the group is changed again.
func (v *view) spoiled() *member {
	for _, m := range v.members {
		if m.State == Failed && m.fresh && len(m.InPlaceDrift) == 0 {
			return m
		}
	}
	return nil
}

// applyStep gives a few at a time what is changed in place: what it does to a machine is not always harmless. The group has to
// have it first.
func (v *view) applyStep() *Step {
	list := v.behind()
	if len(list) == 0 || len(v.o.Group.Drift) > 0 || v.spoiled() != nil || !v.o.Latest().Same(v.o.Wanted) {
		return nil
	}
	v.unresponsiveLast(Apply, list)
	now := list[:min(len(list), v.few())]
	now, more := v.batch(now)
	return &Step{Kind: Apply, Targets: targets(now), Cause: common(now), More: more || len(now) < len(list)}
}

// unresponsiveLast puts the instances last that a step of the kind has changed without effect.
func (v *view) unresponsiveLast(kind StepKind, list []*member) {
	tried := v.d.Unresponsive[kind]
	slices.SortStableFunc(list, func(a, b *member) int {
		switch {
		case tried[a.ID] == tried[b.ID]:
			return 0
		case tried[a.ID]:
			return 1
		default:
			return -1
		}
	})
}

// inPlace are the verdicts on those that are changed and not replaced.
func (v *view) inPlace() []InstanceDecision {
	var list []InstanceDecision
	for k, m := range v.behind() {
		list = append(list, InstanceDecision{ID: m.ID, Cause: m.cause, Selected: k < v.few() && v.busy() == nil && len(v.o.Group.Drift) == 0 && v.spoiled() == nil})
	}
	return list
}

// protectStep keeps the cloud from choosing for itself among those that stay. Where somebody else sizes the group nobody is
// protected: he could not make it smaller any more.
func (v *view) protectStep() *Step {
	if v.d.ReplicasManagedExternally {
		return nil
	}
	var list []*member
	for _, m := range v.members {
		if m.ScaleInUnprotected && m.why == stays && m.TerminationNotice == nil && v.runs(m.Instance) {
			m := *m
			m.cause = Cause{"ScaleInUnprotected", fmt.Sprintf("somebody who makes the %s smaller would have the cloud choose, and nobody would drain what it takes", v.t.Group)}
			list = append(list, &m)
		}
	}
	return v.protectionStep(Protect, list)
}

// unprotectStep takes the protection from scale-in off where an external autoscaler sizes the group: it was put there before the
// autoscaler took over, and the cloud would remove nothing when the size is lowered.
func (v *view) unprotectStep() *Step {
	if !v.d.ReplicasManagedExternally {
		return nil
	}
	var list []*member
	for _, m := range v.members {
		if m.ScaleInProtected {
			m := *m
			m.cause = Cause{"ReplicasManagedExternally", fmt.Sprintf("protected from scale-in: an external autoscaler that lowers the size of the %s could remove nothing", v.t.Group)}
			list = append(list, &m)
		}
	}
	return v.protectionStep(Unprotect, list)
}

// protectionStep changes the protection of the first batch of a list; it is nil for an empty one.
func (v *view) protectionStep(kind StepKind, list []*member) *Step {
	if len(list) == 0 {
		return nil
	}
	v.unresponsiveLast(kind, list)
	now := list[:min(len(list), protectBatch)]
	return &Step{Kind: kind, Targets: targets(now), Cause: common(now), More: len(now) < len(list)}
}
