package pool

import (
	"slices"
	"time"

	"github.com/muster-project/muster/pool/order"
)

const (
	// blockedDrainLimit is the time for which a drain of surplus may be blocked before another instance is removed instead. Budgets often
	// allow an eviction a few minutes later, when evicted pods run elsewhere.
	blockedDrainLimit = 10 * time.Minute
	// abandonedFor is the time after that during which the instance is surplus only if no other one can be drained. Uncordoned, it may look
	// drainable and be blocked again.
	abandonedFor = 24 * time.Hour
	// maxUndecided is the maximum number of nodes whose pods are read for one choice.
	maxUndecided = 20
)

// insteadOfBlocked replaces the instances of a list of surplus whose drain is blocked by others that can be drained, as far as there are
// such. Those that are being drained already are kept before those whose drain was abandoned, so that a choice stands once it was made. It
// also returns the instances of which it is unknown whether they can be drained, if some are left in the list for that.
func (v *selection) insteadOfBlocked(list []*member) (going, undecided []*member) {
	var blocked []int
	for k, m := range list {
		if v.drainBlocked(m) {
			blocked = append(blocked, k)
		}
	}
	if len(blocked) == 0 {
		return list, nil
	}
	slices.SortStableFunc(blocked, func(a, b int) int { return order.FalseFirst(list[a].isDraining(), list[b].isDraining()) })
	drainable, unknown := v.others(list)
	going = slices.Clone(list)
	for n, k := range blocked {
		if n >= len(drainable) {
			return going, unknown
		}
		going[k] = drainable[n]
	}
	return going, nil
}

// others returns the first members of the queue beside a list that can be drained, and those of which that is unknown.
func (v *selection) others(list []*member) (drainable, unknown []*member) {
	n := 0
	for _, m := range v.queue {
		if m.Standby || slices.Contains(list, m) || !m.exchangeable() || v.drainBlocked(m) {
			continue
		}
		if n++; n > maxUndecided {
			break
		}
		switch {
		case m.isDraining() && len(m.Node.Blocked) == 0, m.Node.Evictable == EvictNothing, m.Node.Evictable == EvictAll:
			drainable = append(drainable, m)
		case !m.isDraining() && m.Node.Evictable == "":
			unknown = append(unknown, m)
		}
	}
	return drainable, unknown
}

// exchangeable reports whether a member is one of several that can go: its node is Ready, and neither a user, nor its guard, nor the cloud
// has decided about it.
func (m *member) exchangeable() bool {
	return m.isReady() && !m.Marked && m.reason != deletionRequested && m.Guard == nil && m.TerminationNotice == nil
}

// drainBlocked reports whether another member may be surplus in the place of this one: its drain has been blocked for long enough, or was
// abandoned for that. One that goes for another reason as well goes anyway.
func (v *selection) drainBlocked(m *member) bool {
	if !m.exchangeable() || v.rollout.reasonHolds(m) || v.fleet.removable(m) {
		return false
	}
	if !m.isDraining() {
		return !m.Node.DrainAbandoned.IsZero() && !v.in.clock.Reached(m.Node.DrainAbandoned.Add(abandonedFor))
	}
	n := m.Node
	return n.Remaining > 0 && len(n.Blocked) >= n.Remaining && v.in.clock.Reached(n.DrainStarted.Add(blockedDrainLimit))
}
