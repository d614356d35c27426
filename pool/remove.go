package pool

import (
	"fmt"
	"slices"
)

// shrinkStep lowers a size of which not everything has been launched yet: what is not there needs no drain.
func (v *view) shrinkStep() *Step {
	if v.d.ReplicasManagedExternally || v.bounds() != nil {
		return nil
	}
	size := max(v.most(), v.counted)
	if size >= v.o.Group.Size {
		return v.forgoStep()
	}
	return &Step{Kind: Resize, Size: size, Surge: v.beside(size), Cause: Cause{scaleIn,
		fmt.Sprintf("the %s still waits for %d instances that the pool does not want any more", v.t.Group, v.o.Group.Size-size)}}
}

// forgoStep takes back what the cloud was asked for and could not bring, as far as it is more than the pool wants: the cloud would bring it
// with whatever changes the group next.
func (v *view) forgoStep() *Step {
	g := v.o.Group
	if larger := v.larger(); g.UnfulfilledCapacity == 0 || larger != nil && larger.Size >= g.Size+g.UnfulfilledCapacity {
		return nil
	}
	return &Step{Kind: Resize, Size: g.Size, Surge: v.beside(g.Size), Cause: Cause{scaleIn,
		fmt.Sprintf("the cloud could not bring %s that the %s was asked for, and the pool does not want as many any more", machines(g.UnfulfilledCapacity), v.t.Group)}}
}

// removeStep removes those whose turn it is and which hold nothing any more. What the group has too many is removed with its
// size; for the rest it launches others.
func (v *view) removeStep() *Step {
	asides, counted := v.ready()
	lower := v.lowered(counted)
	if list := append(asides, counted[:len(counted)-lower]...); len(list) > 0 {
		list, more := v.batch(list)
		return &Step{Kind: Replace, Targets: targets(list), Cause: common(list), Surge: v.beside(v.o.Group.Size), More: more || lower > 0}
	}
	if lower == 0 {
		return nil
	}
	counted, waits := v.replaceable(counted)
	list, more := v.batch(counted)
	if len(list) == 0 {
		return nil
	}
	more = more || waits
	return &Step{Kind: Remove, Targets: targets(list), Cause: common(list), Surge: v.beside(v.o.Group.Size - len(list)), More: more}
}

// replaceable cuts a list to those whose place in a group that somebody else sizes is there already, and says whether that
// leaves some out.
func (v *view) replaceable(list []*member) (now []*member, waits bool) {
	if room := v.o.Group.Surge; v.placesAreOthers() && len(list) > room {
		return list[:room], true
	}
	return list, false
}

// ready are those whose turn it is and which hold nothing any more, as is known of their nodes or said by their guards:
// first those that were set aside, then those that the group counts. Of these the ones that are too many come last, for
// the last are removed with the size; those without a node come first, for one that is gone already, in a cloud that shows
// it late, may be named again without harm.
func (v *view) ready() (asides, counted []*member) {
	var list []*member
	for _, m := range v.queue {
		if m.going && v.removable(m.Instance) && (m.Guard != nil || !v.unknownNodes()) {
			list = append(list, m)
		}
	}
	place := func(m *member) int {
		switch {
		case m.why == spare:
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

// lowered is by how many the size is lowered when all of the list have gone: what then is above the wanted number and the
// surge that the rest of the rollout still needs.
func (v *view) lowered(list []*member) int {
	if !v.t.ReplaceKeepsSize {
		return len(list)
	}
	need := v.asked + v.places + v.serving
	for _, m := range list {
		if m.needs {
			need--
		}
	}
	size := v.want
	if !v.t.SupportsStandby {
		size += min(v.surge, need)
	}
	return min(max(0, v.o.Group.Size-size), len(list))
}

// batch cuts a list to what one call may name, and says whether that leaves some out.
func (v *view) batch(list []*member) (now []*member, more bool) {
	if v.t.RemoveBatch > 0 && len(list) > v.t.RemoveBatch {
		return list[:v.t.RemoveBatch], true
	}
	return list, false
}

// undrainStep gives back nodes that we were draining and that are wanted again. While the group holds more than its size
// the cloud is about to take some, as it does between a removal and its showing: those that we drained are not given back.
func (v *view) undrainStep() *Step {
	leaving := map[*member]bool{}
	for _, m := range v.affordable(v.unwanted()) {
		leaving[m] = true
	}
	var back []*member
	for _, m := range v.members {
		if m.drains() && !m.going && m.TerminationNotice == nil && !leaving[m] {
			back = append(back, m)
		}
	}
	if len(back) == 0 {
		return nil
	}
	s := &Step{Kind: Undrain, Cause: Cause{"StillWanted", "the pool wants the instance again"}}
	for _, m := range back {
		target := targetOf(m)
		target.Cause = s.Cause
		s.Targets = append(s.Targets, target)
	}
	return s
}

// unwanted is how many instances have to go, by our hand or, where the group's size is lower already, by the cloud's.
func (v *view) unwanted() int {
	if v.bounds() != nil {
		return 0
	}
	return max(0, v.counted-v.most())
}

// toDrain are all that are about to go and hold something: those whose turn it is, those that a hook of ours holds, and those
// that the cloud is about to take (rule 9).
func (v *view) toDrain() []*member {
	if v.unknownNodes() {
		return nil
	}
	var list []*member
	for _, m := range v.held() {
		if !v.removable(m.Instance) {
			list = append(list, m)
		}
	}
	for _, m := range v.members {
		if m.TerminationNotice != nil && !m.going && !v.removable(m.Instance) {
			doomed := *m
			doomed.why, doomed.cause = condemned, *m.TerminationNotice
			list = append(list, &doomed)
		}
	}
	for _, m := range v.queue {
		if m.going && !v.removable(m.Instance) && v.drainsNow(m) {
			list = append(list, m)
		}
	}
	return list
}

// drainStep evicts what runs on all that are about to go.
func (v *view) drainStep() *Step { return drainOf(v.toDrain()) }

// drainSteps are the drain while some have still to begin, and while all have begun: one of the two.
func (v *view) drainSteps() (begins, rounds *Step) {
	list := v.toDrain()
	if slices.ContainsFunc(list, func(m *member) bool { return !m.asked() }) {
		return drainOf(list), nil
	}
	return nil, drainOf(list)
}

// asked says that the drain of a member has begun, or that its guard was asked to let go.
func (m *member) asked() bool {
	if m.Guard != nil {
		return m.Guard.Requested
	}
	return m.drains()
}

func drainOf(list []*member) *Step {
	if len(list) == 0 {
		return nil
	}
	return &Step{Kind: Drain, Targets: targets(list), Cause: common(list)}
}

// common is the cause of a step: that of its first target, and how many have another.
func common(list []*member) Cause {
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

// targets names the instances of a step.
func targets(list []*member) []InstanceRef {
	out := make([]InstanceRef, 0, len(list))
	for _, m := range list {
		out = append(out, targetOf(m))
	}
	return out
}

func targetOf(m *member) InstanceRef {
	t := InstanceRef{ID: m.ID, ProviderID: m.ProviderID, Cause: m.cause}
	if m.Marked && m.cause.Reason == scaleIn {
		t.Cause = Cause{"Marked", "the instance is marked to go first"}
	}
	if m.Node != nil {
		t.Node = m.Node.Name
	}
	return t
}

// unknownNodes says that nobody can tell what runs on the instances, so that none of them may go.
func (v *view) unknownNodes() bool { return v.o.NodesUnknown && v.d.NoDrain == nil }

// removable says that nothing is lost, or nothing more is waited for, when the instance goes.
func (v *view) removable(i *Instance) bool {
	d := v.d
	switch {
	case i.Guard != nil:
		return i.Guard.Released
	case i.Node == nil || d.NoDrain != nil || i.Node.Drained():
		return true
	case d.DrainTimeout > 0 && !i.Node.DrainStarted.IsZero():
		return v.reached(i.Node.DrainStarted.Add(d.DrainTimeout)) && i.Node.Detaching == 0
	default:
		return false
	}
}
