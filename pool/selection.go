package pool

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/muster-project/muster/pool/order"
	"github.com/muster-project/muster/pool/undrainable"
)

// selection is the instances whose turn it is to go: the members that are selected.
type selection struct {
	in      *inputs
	fleet   *classification
	rollout *rollout
	budget  *budget
	// queue are the members in the order in which they would go; nil when there is no reason to choose.
	queue []*member
	// marked is true if a marked instance goes from above the wanted number: stale ones begin to go when it is gone, as those that are ready
	// sooner would leave none too many.
	marked bool
	// undecided are instances that would go in place of one whose drain is blocked if it is known that a drain of theirs would not be.
	undecided []*member
}

// newSelection selects the instances whose turn it is.
func newSelection(b *budget) *selection {
	v := emptySelection(b)
	v.selectInstances()
	return v
}

// emptySelection returns a selection of no instance.
func emptySelection(b *budget) *selection {
	return &selection{in: b.in, fleet: b.fleet, rollout: b.rollout, budget: b}
}

// selectInstances selects the instances whose turn it is. Started drains whose reason still holds continue; instances that are not serving
// cost nothing; every other one takes one from what is available above the floor (rule 1), in the order of the queue, first by reason:
// deletion requested, marked, standby, stale, surplus (rule 6).
func (v *selection) selectInstances() {
	surplus := v.budget.surplusCount()
	if surplus == 0 && v.budget.unwantedCount() == 0 && !v.fleet.hasRemovals() {
		return
	}
	v.queue = v.ordered()
	v.markSurplus(surplus)
	v.preferMarked()
	v.selectNotServing()
	v.selectUnhealthy()
	v.selectFree()
	v.selectByTurn()
	v.quarantine()
}

// quarantine marks the selected instances that the rollout goes on without.
func (v *selection) quarantine() {
	var drains []undrainable.Drain
	for _, m := range v.queue {
		if m.selected && m.Guard == nil && m.isDraining() && !v.fleet.removable(m) {
			drains = append(drains, undrainable.Drain{ID: m.ID, Started: m.Node.DrainStarted, Voluntary: m.voluntary(),
				Blocked: m.Node.Remaining > 0 && len(m.Node.Blocked) > 0, Quarantined: m.Node.Quarantined})
		}
	}
	ids := v.in.d.Strategy.undrainable().Quarantined(drains, v.in.clock)
	for _, m := range v.queue {
		m.quarantined = ids[m.ID]
	}
}

// selectFree selects the instances that the budget does not limit.
func (v *selection) selectFree() {
	for _, m := range v.queue {
		if !m.lowersAvailable() && !m.yields && v.rollout.reasonHolds(m) {
			m.selected = m.selected || m.reason != notServing && m.reason != failedInstance && m.reason != unhealthy || m.isDraining()
		}
	}
}

// selectByTurn selects as many serving instances as the budget allows.
func (v *selection) selectByTurn() {
	free := v.budget.room()
	if v.in.d.NoDrain != nil {
		free = math.MaxInt
	}
	begins := v.rollout.limits.Begins
	for _, turn := range turns {
		for _, m := range v.queue {
			if free <= 0 {
				return
			}
			if m.selected || !turn(m) || !v.mayGo(m, begins) {
				continue
			}
			m.selected = true
			free--
			if m.reason == stale && !m.inRollout.Begun {
				begins--
			}
		}
	}
}

// mayGo reports whether a serving member may go for its reason while so many replacements may begin.
func (v *selection) mayGo(m *member, begins int) bool {
	if !m.lowersAvailable() || !v.rollout.reasonHolds(m) {
		return false
	}
	return m.reason != stale || (m.Marked || !v.marked) && (m.inRollout.Begun || begins > 0)
}

// turns are the reasons for which serving machines go, most important first.
var turns = []func(m *member) bool{
	func(m *member) bool { return m.reason == deletionRequested },
	func(m *member) bool { return m.Marked },
	func(m *member) bool { return m.reason == standby },
	func(m *member) bool { return m.reason == surplus && m.cause.Reason != ScaleIn },
	func(m *member) bool { return m.reason == stale },
	func(m *member) bool { return m.reason == surplus },
}

// selectNotServing selects the first few instances that are not serving, unless a partition is suspected, and the first few failed
// instances whose back-off has ended.
func (v *selection) selectNotServing() {
	partition, rested := v.fleet.partitionSuspected(), v.fleet.failedBackoff()
	idles, brokens := v.in.smallBatch(), v.in.smallBatch()
	for _, m := range v.queue {
		switch {
		case m.reason == notServing && v.rollout.reasonHolds(m) && !partition && idles > 0:
			m.selected = true
			idles--
		case m.reason == failedInstance && v.rollout.reasonHolds(m) && brokens > 0 && rested(m):
			m.selected = true
			brokens--
		}
	}
}

// ScaleIn is the reason of instances that go because the pool has more than it wants, whichever they are.
const ScaleIn = "ScaleIn"

// markSurplus gives the first n instances of the queue the reason surplus, unless they have another one that holds now.
func (v *selection) markSurplus(n int) {
	cause := Cause{ScaleIn, fmt.Sprintf("the %s has a size of %d, the pool wants %d", v.in.t.Group, v.in.o.Group.Size, v.in.want)}
	list := v.affordableSurplus(n)
	going, undecided := v.insteadOfBlocked(list)
	v.undecided = undecided
	for _, m := range list {
		m.passedOver = !slices.Contains(going, m)
	}
	for _, m := range going {
		if m.reason == deletionRequested {
			continue
		}
		if m.reason != notServing && m.reason != stale || !v.rollout.reasonHolds(m) {
			m.cause = cause
		}
		m.reason, v.marked = surplus, v.marked || m.Marked && !v.in.t.ReplaceKeepsSize
	}
}

// isMarked is why a marked instance goes.
var isMarked = Cause{"Marked", "the instance is marked to go first"}

// preferMarked gives marked instances that are up to date the reason surplus in place of stale ones, as far as more machines exist than are
// wanted and serve (rule 6): a surge can't be told from a size that was lowered for the marked ones. The surge is restored for the stale
// ones then.
func (v *selection) preferMarked() {
	n, begun := v.replaceableByMarked()
	for _, m := range v.queue {
		if !m.Marked || m.reason != keep || m.Standby || m.available && v.budget.room() <= 0 {
			continue
		}
		switch {
		case n > 0:
			n--
		case m.isDraining() && len(begun) > 0:
			begun[0].yields, begun = true, begun[1:]
		default:
			continue
		}
		m.reason, m.cause, v.marked = surplus, isMarked, true
	}
}

// replaceableByMarked returns how many stale instances would go from above the wanted number and whose drain has not started, and those of
// them whose drain has: they give way to marked ones that are drained as well.
func (v *selection) replaceableByMarked() (n int, begun []*member) {
	if v.in.d.ReplicasManagedExternally {
		return 0, nil
	}
	excess, waiting := min(v.fleet.counted, v.in.o.Group.Size)-v.in.want, 0
	for _, m := range v.queue {
		switch {
		case m.Standby || !v.rollout.reasonHolds(m):
		case m.isDraining() && m.reason == stale && !m.Marked && excess > 0:
			excess--
			begun = append(begun, m)
		case m.isDraining() || m.reason != stale:
			excess--
		default:
			waiting++
		}
	}
	return min(excess, waiting), begun
}

// firstCounted returns the first n instances of the queue that the size of the group counts.
func (v *selection) firstCounted(n int) []*member {
	var out []*member
	for _, m := range v.queue {
		if len(out) >= n {
			break
		}
		if !m.Standby {
			out = append(out, m)
		}
	}
	return out
}

// affordableSurplus returns n instances of the queue that may go: the first n, unless the budget has no room for all serving ones of them,
// marked ones included. Instances that are certainly not serving then replace the last ones, because they would never make the room that is
// waited for.
func (v *selection) affordableSurplus(n int) []*member {
	list := v.firstCounted(n)
	if n <= 0 || v.in.d.NoDrain != nil {
		return list
	}
	others := v.notServingExcept(list)
	room := v.budget.room()
	for k, m := range list {
		switch {
		case !m.available:
		case room > 0:
			room--
		case m.reason != deletionRequested && len(others) > 0:
			list[k], others = others[0], others[1:]
		}
	}
	return list
}

// notServingExcept returns the instances of the queue that are certainly not serving and that the size counts, except those of a list and
// those whose deletion was requested.
func (v *selection) notServingExcept(without []*member) []*member {
	var out []*member
	for _, m := range v.queue {
		if !m.Standby && !m.available && m.reason != deletionRequested && v.fleet.notServing(m.Instance) != nil && !slices.Contains(without, m) {
			out = append(out, m)
		}
	}
	return out
}

// ordered returns the members in the order in which they would go: by rank, then by the delete policy within the zone that has the most.
func (v *selection) ordered() []*member {
	return order.Queue(v.fleet.members, v.in.d.DeletePolicy, v.in.d.Seed, func(m *member) order.Key {
		return order.Key{ID: m.ID, Zone: m.Zone, Rank: v.rank(m), Born: born(m.Instance)}
	})
}

// rank returns what the loss of a member costs. Lower goes first.
func (v *selection) rank(m *member) int {
	for k, holds := range ranks {
		if holds(v, m) {
			return k
		}
	}
	if m.heldBy != "" {
		return len(ranks) + 1
	}
	return len(ranks)
}

// born is when an instance was made, or, where the cloud does not say, when its node joined.
func born(i *Instance) time.Time {
	if i.Created.IsZero() && i.Node != nil {
		return i.Node.Joined
	}
	return i.Created
}

// provisioned is since when an instance has had the time to join: it was made or renewed then.
func provisioned(i *Instance) time.Time {
	if made := born(i); i.Renewed.Before(made) {
		return made
	}
	return i.Renewed
}

// ranks order members by the cost of their removal. The first that holds is the rank of a member.
var ranks = []func(v *selection, m *member) bool{
	func(_ *selection, m *member) bool { return m.reason == deletionRequested },
	func(_ *selection, m *member) bool { return m.Marked && m.isDraining() },
	func(_ *selection, m *member) bool { return m.Marked },
	func(_ *selection, m *member) bool { return m.isDraining() || m.TerminationNotice != nil },
	func(_ *selection, m *member) bool { return m.reason == standby },
	func(v *selection, m *member) bool { return v.in.failed(m.Instance) },
	func(_ *selection, m *member) bool { return m.reason == notServing },
	func(_ *selection, m *member) bool { return m.reason == unhealthy },
	func(_ *selection, m *member) bool {
		return m.Node.CordonedByOthers() && m.Node.Evictable == EvictNothing
	},
	func(v *selection, m *member) bool { return v.rollout.replaces(m) && !m.isReady() },
	func(v *selection, m *member) bool { return v.rollout.replaces(m) },
	func(_ *selection, m *member) bool { return m.Node == nil },
	func(_ *selection, m *member) bool { return !m.isReady() },
	func(_ *selection, m *member) bool { return m.reason == stale && m.heldBy == "" },
}
