package pool

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// nodeUnhealthy is the reason of an instance that is replaced for the health of its node.
const nodeUnhealthy = "NodeUnhealthy"

// Remediation asks for the replacement of instances whose nodes are unhealthy. It is for pools without a MachineHealthCheck.
type Remediation struct {
	// After is the time for which a node must have been unready.
	After time.Duration
	// MaxUnhealthy is the number of wanted machines that may be unhealthy at a time. While more are, no machine is replaced, because the
	// cause lies elsewhere. A percentage rounds down, to one at least.
	MaxUnhealthy IntOrPercent
}

// limit is MaxUnhealthy for a pool of so many machines.
func (h *Remediation) limit(of int) int {
	if h.MaxUnhealthy.Percent && h.MaxUnhealthy.Value > 0 {
		return max(1, h.MaxUnhealthy.Down(of))
	}
	return h.MaxUnhealthy.Down(of)
}

// unhealthyCause returns why an instance is replaced for its health, or nil. A paused rollout also pauses remediation; one that the object
// disables does not.
func (v *classification) unhealthyCause(i *Instance) *Cause {
	h := v.in.d.Remediation
	if h == nil || v.in.d.RolloutPaused != nil || i.TerminationNotice != nil || i.Node != nil && i.Node.SkipRemediation ||
		!v.isUnhealthy(i, h.After) {
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

// isUnhealthy reports whether an instance runs and its node has been unready for that long, or was never Ready although the join deadline
// has passed. It is false while the nodes are unknown.
func (v *classification) isUnhealthy(i *Instance, after time.Duration) bool {
	n := i.Node
	switch {
	case v.in.o.NodesUnknown || !v.in.runs(i) || n != nil && n.Ready:
		return false
	case n == nil || n.Joining():
		return v.missedJoinDeadline(i)
	default:
		return v.in.clock.Passed(n.ReadySince.Add(after))
	}
}

// missedJoinDeadline reports whether the join deadline of an instance has passed.
func (v *classification) missedJoinDeadline(i *Instance) bool {
	made := provisioned(i)
	return !made.IsZero() && v.in.clock.Passed(made.Add(cmp.Or(v.in.d.JoinDeadline, DefaultJoinDeadline)))
}

// remediated reports whether an unhealthy instance goes for its health: no rollout would replace it anyway.
func (v *classification) remediated(i *Instance, old *Cause) bool {
	return old == nil || v.in.d.rolloutHeld() != nil || !v.in.t.ProviderRollout && !v.replacedByMuster(i)
}

// unhealthyMembers returns the members that go for their health, now or later.
func (v *rollout) unhealthyMembers() []*member {
	var list []*member
	for _, m := range v.fleet.members {
		if m.reason == unhealthy && v.reasonHolds(m) {
			list = append(list, m)
		}
	}
	return list
}

// remediationBlocked returns why no unhealthy instance is replaced although there are some: too many are unhealthy, or many turned unready
// together.
func (v *rollout) remediationBlocked() []Cause {
	if len(v.unhealthyMembers()) == 0 {
		return nil
	}
	unwell := 0
	for _, m := range v.fleet.members {
		if v.in.failed(m.Instance) || v.fleet.isUnhealthy(m.Instance, 0) {
			unwell++
		}
	}
	switch limit := v.in.d.Remediation.limit(v.in.want); {
	case unwell > limit:
		return []Cause{{"TooManyUnhealthy", fmt.Sprintf(
			"no machine is replaced for its health: %d of %d are unhealthy, more than the %d that may be", unwell, len(v.fleet.members), limit)}}
	case v.fleet.partitionSuspected():
		return []Cause{{"PartitionSuspected", "no machine is replaced for its health: many nodes turned unready together, as in a network " +
			"partition"}}
	}
	return nil
}

// surgeForRemediation counts a surge for one unhealthy instance where its removal shrinks the group.
func (v *rollout) surgeForRemediation() {
	list := v.unhealthyMembers()
	if !v.in.removalShrinksGroup() || len(list) == 0 || v.remediationBlocked() != nil {
		return
	}
	v.remediating = 1
	for _, m := range list {
		m.needsSurge = true
	}
}

// selectUnhealthy selects one unhealthy instance once the previous one is gone and its replacement has joined.
func (v *selection) selectUnhealthy() {
	if slices.ContainsFunc(v.rollout.unhealthyMembers(), (*member).isDraining) ||
		v.fleet.expectsInstances() || v.rollout.remediationBlocked() != nil {
		return
	}
	for _, m := range v.queue {
		if m.reason == unhealthy && v.rollout.reasonHolds(m) {
			m.selected = true
			return
		}
	}
}

// expectsInstances reports whether instances are about to come or to go.
func (v *classification) expectsInstances() bool {
	if v.in.providerRolloutRuns() || v.counted < max(v.in.o.Group.Size, v.in.want) || len(v.members) < len(v.in.o.Instances) {
		return true
	}
	return slices.ContainsFunc(v.members, func(m *member) bool {
		return m.State == Pending || v.in.runs(m.Instance) && (m.Node == nil || m.Node.Joining()) && !v.isUnhealthy(m.Instance, 0)
	})
}
