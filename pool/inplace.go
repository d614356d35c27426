package pool

import (
	"fmt"
	"slices"

	"github.com/muster-project/muster/pool/words"
)

// inPlace is the changes of instances that stay: of what they have and the group does not, and of their protection.
type inPlace struct {
	in      *inputs
	fleet   *classification
	rollout *rollout
}

func newInPlace(rollout *rollout) *inPlace {
	return &inPlace{in: rollout.in, fleet: rollout.fleet, rollout: rollout}
}

// protectBatch bounds how many instances one step protects: each is a call of its own, and nothing waits for it.
const protectBatch = 5

// changeable reports whether an instance stays and can take over what the group has without any other change: it has the wanted content,
// and so does what the group launches. One that is to be replaced, by a restart, stays as well while the specification blocks rollouts.
func (v *inPlace) changeable(m *member) bool {
	stays := m.reason == keep && m.current || m.reason == stale && v.rollout.blockedInSpec && m.Template.Same(v.in.o.Wanted)
	return stays && m.TerminationNotice == nil && !m.isDraining() && v.in.runs(m.Instance) && v.in.launchesWanted()
}

// drifted returns copies of the members with in-place drift, each with its cause.
func (v *inPlace) drifted() []*member {
	var list []*member
	for _, m := range v.fleet.members {
		if len(m.InPlaceDrift) > 0 && v.changeable(m) {
			m := *m
			m.cause = v.driftCause(m.InPlaceDrift)
			list = append(list, &m)
		}
	}
	return list
}

// updating returns the member with in-place drift that the cloud is changing already, with what it waits for, or nil.
func (v *inPlace) updating() *Cause {
	for _, m := range v.drifted() {
		if m.Updating {
			return &Cause{"Updating", fmt.Sprintf("machine %s gets %s when the cloud has ended the change that it is making", m.ID,
				words.List(m.InPlaceDrift))}
		}
	}
	return nil
}

// driftCause returns why fields are changed in place, or why that stops.
func (v *inPlace) driftCause(fields []string) Cause {
	if failed := v.failedWithAll(); failed != nil {
		return Cause{"ChangeFailed", fmt.Sprintf(
			"no more machines get %s in place, because machine %s failed with all that the %s has: change the specification, or replace that "+
				"machine",
			words.List(fields), failed.ID, v.in.t.Group)}
	}
	return Cause{"ChangedInPlace", fmt.Sprintf("it lacks %s as the specification has it, which is changed in place", words.List(fields))}
}

// failedWithAll returns an instance that failed with everything that the group has, or nil. Other instances could fail with the same, so
// none gets it until the group is changed again.
func (v *inPlace) failedWithAll() *member {
	for _, m := range v.fleet.members {
		if m.State == Failed && m.current && len(m.InPlaceDrift) == 0 {
			return m
		}
	}
	return nil
}

// applyStep changes a few instances at a time in place, because a change is not always harmless. The group is changed first.
func (v *inPlace) applyStep() *Step {
	list := slices.DeleteFunc(v.drifted(), func(m *member) bool { return m.Updating })
	if len(list) == 0 || len(v.in.o.Group.Drift) > 0 || v.failedWithAll() != nil || !v.in.o.Latest().Same(v.in.o.Wanted) {
		return nil
	}
	v.in.unresponsiveLast(Apply, list)
	now := list[:min(len(list), v.in.smallBatch())]
	now, more := v.in.batch(now)
	return &Step{Kind: Apply, Targets: instanceRefs(now), Cause: commonCause(now), More: more || len(now) < len(list)}
}

// unresponsiveLast moves the instances to the end that a step of that kind has changed without effect.
func (v *inputs) unresponsiveLast(kind StepKind, list []*member) {
	tried, last := v.d.Unresponsive[kind], map[bool]int{true: 1}
	slices.SortStableFunc(list, func(a, b *member) int { return last[tried[a.ID]] - last[tried[b.ID]] })
}

// decisions returns the decisions about instances that are changed and not replaced.
func (v *inPlace) decisions() []InstanceDecision {
	var list []InstanceDecision
	for k, m := range v.drifted() {
		list = append(list, InstanceDecision{ID: m.ID, Cause: m.cause, Selected: k < v.in.smallBatch() && v.in.operation() == nil &&
			len(v.in.o.Group.Drift) == 0 && v.failedWithAll() == nil})
	}
	return list
}

// protectStep protects instances that stay from scale-in. Without effect where an external autoscaler owns the size: it could not scale in
// any more.
func (v *inPlace) protectStep() *Step {
	if v.in.d.ReplicasManagedExternally {
		return nil
	}
	var list []*member
	for _, m := range v.fleet.members {
		if m.ScaleInUnprotected && m.reason == keep && m.TerminationNotice == nil && v.in.runs(m.Instance) {
			m := *m
			m.cause = Cause{"ScaleInUnprotected", "not protected from scale-in: an out-of-band scale-in could terminate it without a drain"}
			list = append(list, &m)
		}
	}
	return v.protectionStep(Protect, list)
}

// unprotectStep removes the protection from scale-in where an external autoscaler owns the size of the group: it was set before, and the
// cloud would remove nothing when the size is lowered.
func (v *inPlace) unprotectStep() *Step {
	if !v.in.d.ReplicasManagedExternally {
		return nil
	}
	var list []*member
	for _, m := range v.fleet.members {
		if m.ScaleInProtected {
			m := *m
			m.cause = Cause{"ReplicasManagedExternally",
				fmt.Sprintf("protected from scale-in: an external autoscaler that lowers the size of the %s could remove nothing", v.in.t.Group)}
			list = append(list, &m)
		}
	}
	return v.protectionStep(Unprotect, list)
}

// protectionStep changes the protection of the first batch of a list. It returns nil for an empty one.
func (v *inPlace) protectionStep(kind StepKind, list []*member) *Step {
	if len(list) == 0 {
		return nil
	}
	v.in.unresponsiveLast(kind, list)
	now := list[:min(len(list), protectBatch)]
	return &Step{Kind: kind, Targets: instanceRefs(now), Cause: commonCause(now), More: len(now) < len(list)}
}
