package pool

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// nodeUnhealthy is the reason of an instance that is replaced for the health of its node.
const nodeUnhealthy = "NodeUnhealthy"

// Remediation asks for the replacement of instances whose nodes are unwell. It is for pools in which nobody else sees to that.
type Remediation struct {
	// After is how long a node must have been unready.
	After time.Duration
	// MaxUnhealthy is how many of the wanted machines may be unwell at a time; while there are more, something is wrong that no
	// replacement cures, and none is made. A percentage rounds down, to one at least.
	MaxUnhealthy IntOrPercent
}

// limit is MaxUnhealthy for a pool of so many machines.
func (h *Remediation) limit(of int) int {
	if h.MaxUnhealthy.Percent && h.MaxUnhealthy.Value > 0 {
		return max(1, h.MaxUnhealthy.down(of))
	}
	return h.MaxUnhealthy.down(of)
}

// sickness is why an instance is to be replaced for its health, if it is.
func (v *view) sickness(i *Instance) *Cause {
	h := v.d.Remediation
	if h == nil || i.TerminationNotice != nil || i.Node != nil && i.Node.SkipRemediation || !v.ails(i, h.After) {
		return nil
	}
	switch n := i.Node; {
	case n == nil:
		return &Cause{nodeUnhealthy, "it has not joined the cluster in time"}
	case n.Joining():
		return &Cause{nodeUnhealthy, fmt.Sprintf("its node %s has never been Ready", n.Name)}
	default:
		return &Cause{nodeUnhealthy, fmt.Sprintf("its node %s is not Ready", n.Name)}
	}
}

// ails says that an instance runs and its node has been unready for so long, or has never been Ready although the join deadline
// is over. Of nodes that nobody can ask about nothing is said.
func (v *view) ails(i *Instance, after time.Duration) bool {
	n := i.Node
	switch {
	case v.o.NodesUnknown || !v.runs(i) || n != nil && n.Ready:
		return false
	case n == nil || n.Joining():
		return v.overdue(i)
	default:
		return v.passed(n.ReadySince.Add(after))
	}
}

// overdue reports whether the join deadline of an instance has passed.
func (v *view) overdue(i *Instance) bool {
	made := born(i)
	return !made.IsZero() && v.passed(made.Add(cmp.Or(v.d.JoinDeadline, DefaultJoinDeadline)))
}

// sickNotStale says that the health of an instance is what it goes for: there is no rollout that would replace it anyway.
func (v *view) sickNotStale(i *Instance, old *Cause) bool {
	return old == nil || v.d.RolloutPaused != nil || !v.t.ProviderRollout && !v.ours(i)
}

// sick are those that go for their health, now or later.
func (v *view) sick() []*member {
	var list []*member
	for _, m := range v.members {
		if m.why == sick && v.may(m) {
			list = append(list, m)
		}
	}
	return list
}

// healWaits says why none of those who are unwell is replaced, although there are such: too many are, or many turned unready
// together.
func (v *view) healWaits() []Cause {
	if len(v.sick()) == 0 {
		return nil
	}
	unwell := 0
	for _, m := range v.members {
		if v.failed(m.Instance) || v.ails(m.Instance, 0) {
			unwell++
		}
	}
	switch limit := v.d.Remediation.limit(v.want); {
	case unwell > limit:
		return []Cause{{"TooManyUnhealthy", fmt.Sprintf("no machine is replaced for its health: %d of %d are unhealthy, more than the %d that may be", unwell, len(v.members), limit)}}
	case v.partition():
		return []Cause{{"PartitionSuspected", "no machine is replaced for its health: many nodes turned unready together, as when the way to them is cut"}}
	}
	return nil
}

// placeSick has a surge stand in for the one that is replaced for its health, where who goes takes a place of somebody else's
// with it.
func (v *view) placeSick() {
	list := v.sick()
	if !v.placesAreOthers() || len(list) == 0 || v.healWaits() != nil {
		return
	}
	v.places++
	for _, m := range list {
		m.needs = true
	}
}

// chooseSick takes one of those who are unwell, once the one before has gone and another has come in its place.
func (v *view) chooseSick() {
	if slices.ContainsFunc(v.sick(), (*member).drains) || v.expects() || v.healWaits() != nil {
		return
	}
	for _, m := range v.queue {
		if m.why == sick && v.may(m) {
			m.going = true
			return
		}
	}
}

// expects says that machines are on their way, here or from here.
func (v *view) expects() bool {
	if v.rollsNow() || v.counted < max(v.o.Group.Size, v.want) || len(v.members) < len(v.o.Instances) {
		return true
	}
	return slices.ContainsFunc(v.members, func(m *member) bool {
		return m.State == Pending || v.runs(m.Instance) && (m.Node == nil || m.Node.Joining()) && !v.ails(m.Instance, 0)
	})
}
