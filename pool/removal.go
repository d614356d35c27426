package pool

import (
	"fmt"
	"slices"
	"time"

	"github.com/muster-project/muster/pool/order"
	"github.com/muster-project/muster/pool/words"
)

// drainMayStart reports whether a selected member may be drained. A started drain continues; while the cloud operates on the group, no
// drain starts that a removal has to follow.
func (v *steps) drainMayStart(m *member) bool {
	return m.drainRequested() || v.in.operation() == nil || v.in.d.Deleting && v.in.t.CanDeleteBusyGroup
}

// removeStep removes the selected instances that are drained. Surplus is removed together with the size; for the rest the group launches
// others.
func (v *steps) removeStep() *Step {
	asides, counted := v.ready()
	lower := v.budget.lowered(counted)
	if list := append(asides, counted[:len(counted)-lower]...); len(list) > 0 {
		list, more := cut(list, order.Lowest(v.in.t.RemoveBatch, maxHeld))
		return &Step{Kind: Replace, Targets: instanceRefs(list), Cause: commonCause(list), Surge: v.in.surgeIn(v.in.o.Group.Size), More: more ||
			lower > 0}
	}
	if lower == 0 {
		return nil
	}
	counted, waits := v.budget.replaceable(counted)
	list, more := v.in.batch(counted)
	if len(list) == 0 {
		return nil
	}
	more = more || waits
	return &Step{Kind: Remove, Targets: instanceRefs(list), Cause: commonCause(list),
		Surge: v.in.surgeIn(v.in.o.Group.Size - len(list)), More: more}
}

// ready returns the selected instances that are drained, as known from their nodes or their guards: first those in standby, then those that
// the size counts. Of these, surplus comes last, because the last are removed with the size; those without a node come first, because
// naming one again that is gone already does no harm in a cloud that reports it late.
func (v *steps) ready() (asides, counted []*member) {
	var list []*member
	for _, m := range v.selection.queue {
		if m.selected && v.fleet.removable(m) && (m.Guard != nil || !v.in.nodesUnknown()) {
			list = append(list, m)
		}
	}
	place := func(m *member) int {
		switch {
		case m.reason == surplus:
			return 2
		case m.Node != nil:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b *member) int { return place(a) - place(b) })
	for _, m := range list {
		if m.Standby {
			asides = append(asides, m)
		} else {
			counted = append(counted, m)
		}
	}
	return asides, counted
}

// batch cuts a list to what one step may name, and reports whether that leaves some out.
func (v *inputs) batch(list []*member) (now []*member, more bool) { return cut(list, v.t.RemoveBatch) }

// cut shortens a list to a limit, and reports whether that leaves some out. A limit of zero is none.
func cut(list []*member, limit int) (now []*member, more bool) {
	if limit > 0 && len(list) > limit {
		return list[:limit], true
	}
	return list, false
}

// undrainStep uncordons nodes that Muster was draining and that are wanted again. While the group has more instances than its size, as
// between a removal and its effect, the cloud is about to terminate some: the drained ones stay drained.
func (v *steps) undrainStep() *Step {
	leaving := map[*member]bool{}
	for _, m := range v.selection.affordableSurplus(v.budget.unwantedCount()) {
		leaving[m] = !m.passedOver
	}
	var back []*member
	for _, m := range v.fleet.members {
		if m.isDraining() && !m.selected && m.TerminationNotice == nil && !leaving[m] {
			back = append(back, m)
		}
	}
	if len(back) == 0 {
		return nil
	}
	s := &Step{Kind: Undrain}
	for _, m := range back {
		target := instanceRef(m)
		target.Cause = Cause{"StillWanted", "the pool wants the instance again"}
		if m.passedOver {
			target.Cause = Cause{DrainBlocked, "another instance goes in its place, because its drain is blocked by " + words.First(m.Node.Blocked)}
		}
		s.Targets = append(s.Targets, target)
	}
	s.Cause = s.Targets[0].Cause
	return s
}

// heldToDrain returns the instances to drain that a lifecycle hook holds.
func (v *classification) heldToDrain() []*member {
	if v.in.nodesUnknown() {
		return nil
	}
	var list []*member
	for _, m := range v.held {
		if !v.removable(m) {
			list = append(list, m)
		}
	}
	return list
}

// toDrain returns the instances to drain: the selected ones, those that a lifecycle hook holds, and those with a termination notice (rule
// 9).
func (v *steps) toDrain() []*member {
	if v.in.nodesUnknown() {
		return nil
	}
	list := v.fleet.heldToDrain()
	for _, m := range v.fleet.members {
		if m.TerminationNotice != nil && !m.selected && !v.fleet.removable(m) {
			doomed := *m
			doomed.reason, doomed.cause = deletionRequested, *m.TerminationNotice
			list = append(list, &doomed)
		}
	}
	for _, m := range v.selection.queue {
		if m.selected && !v.fleet.removable(m) && v.drainMayStart(m) {
			list = append(list, m)
		}
	}
	return list
}

// drainStep evicts the pods of all instances that are about to go.
func (v *steps) drainStep() *Step { return drainOf(v.toDrain()) }

// drainSteps returns the drain if some instances have still to start (first result) or if all have started (second result).
func (v *steps) drainSteps() (begins, rounds *Step) {
	list := v.toDrain()
	if slices.ContainsFunc(list, func(m *member) bool { return !m.drainRequested() || m.quarantined && !m.Node.Quarantined }) {
		return drainOf(list), nil
	}
	return nil, drainOf(list)
}

func drainOf(list []*member) *Step {
	if len(list) == 0 {
		return nil
	}
	return &Step{Kind: Drain, Targets: instanceRefs(list), Cause: commonCause(list)}
}

// commonCause is the cause of a step: that of its first target, and how many have another.
func commonCause(list []*member) Cause {
	others := 0
	for _, m := range list[1:] {
		if m.cause != list[0].cause {
			others++
		}
	}
	c := list[0].cause
	if others > 0 {
		c.Message += fmt.Sprintf(" (and %d more for reasons of their own)", others)
	}
	return c
}

// instanceRefs names the instances of a step.
func instanceRefs(list []*member) []InstanceRef {
	out := make([]InstanceRef, 0, len(list))
	for _, m := range list {
		out = append(out, instanceRef(m))
	}
	return out
}

func instanceRef(m *member) InstanceRef {
	t := InstanceRef{ID: m.ID, ProviderID: m.ProviderID, UID: m.UID, Cause: m.cause, Ending: m.ending(), Voluntary: m.voluntary(),
		Quarantined: m.quarantined}
	if m.Marked && m.cause.Reason == ScaleIn {
		t.Cause = isMarked
	}
	if m.Node != nil {
		t.Node = m.Node.Name
	}
	return t
}

// nodesUnknown reports whether it is unknown what runs on the instances, so that none of them may go.
func (v *inputs) nodesUnknown() bool { return v.o.NodesUnknown && v.d.NoDrain == nil }

// removable reports whether nothing is lost, or nothing more is waited for, when the instance goes.
func (v *classification) removable(m *member) bool {
	d, i, timeout := &v.in.d, m.Instance, v.in.d.DrainTimeout
	if m.voluntary() {
		timeout = v.in.d.Strategy.undrainable().Timeout(timeout)
	}
	switch {
	case i.Guard != nil:
		return i.Guard.Released
	case i.Node == nil || d.NoDrain != nil || i.Node.Drained():
		return true
	case timeout > 0 && !i.Node.DrainStarted.IsZero():
		return v.in.clock.Reached(i.Node.DrainStarted.Add(timeout)) && i.Node.Detaching == 0
	default:
		return false
	}
}

// standbyStep starts the surge where the cloud supports standby: instances keep serving while the group launches others in their place.
func (v *steps) standbyStep() *Step {
	if !v.in.t.SupportsStandby || v.in.o.NodesUnknown || v.in.outOfBounds() != nil {
		return nil
	}
	room := v.in.surge - v.fleet.inStandby - max(0, max(v.in.o.Group.Size, v.fleet.counted)-v.in.want)
	room = min(room-v.standbyUnseen(), v.fleet.requested+v.rollout.limits.Begins)
	var list []*member
	for _, m := range v.selection.queue {
		if len(list) < room && v.rollout.needsSuccessor(m) {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil
	}
	list, more := cut(list, order.Lowest(v.in.t.RemoveBatch, v.in.t.StandbyBatch))
	return &Step{Kind: EnterStandby, More: more, Targets: instanceRefs(list),
		Cause: Cause{"Surge", fmt.Sprintf("%s launched beside the %d that the pool wants, before others are replaced", words.Machines(len(list)),
			v.in.want)}}
}

// standbyDelay is for how long after its drain has started an instance in standby may be reported as in service: three times as long as
// the reads of the clouds are behind their writes.
const standbyDelay = 30 * time.Second

// standbyUnseen returns how many instances may be in standby although the group was read as if they were in service: those that enter it,
// those whose drain has only just started, and those drained beyond what may be unavailable.
func (v *steps) standbyUnseen() int {
	entering, recent, drains := 0, 0, 0
	for _, m := range v.selection.queue {
		switch {
		case m.Standby:
		case m.EnteringStandby:
			entering++
		case m.isDraining():
			drains++
			if !v.in.clock.Reached(m.Node.DrainStarted.Add(standbyDelay)) {
				recent++
			}
		}
	}
	return entering + max(recent, drains-v.in.unavailable-v.in.quarantined)
}

// needsSuccessor reports whether a member serves and is to be replaced. It enters standby even where it may go at once: its replacement
// comes sooner, and two reads of which one is older choose the same.
func (v *rollout) needsSuccessor(m *member) bool {
	return (m.reason == deletionRequested || v.replaces(m)) && m.available && !m.Standby && !m.EnteringStandby
}
