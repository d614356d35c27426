package pool

import (
	"fmt"
	"math"
	"slices"
)

// choose decides whose turn it is to go. Drains that have begun for a reason that still holds go on; those that serve nobody
// cost nothing; every other takes one from what is available above the floor (rule 1), in the order of the queue, first by
// reason: condemned, marked, set aside, stale, too many (rule 6).
func (v *view) choose() {
	surplus := v.surplus()
	if surplus == 0 && v.unwanted() == 0 && !v.reasons() {
		return
	}
	v.queue = v.ordered()
	v.spare(surplus)
	v.chooseIdle()
	v.chooseSick()
	v.chooseFree()
	v.chooseByTurn()
}

// chooseFree takes those that the budgets say nothing about.
func (v *view) chooseFree() {
	for _, m := range v.queue {
		if !m.costs() && v.may(m) {
			m.going = m.going || m.why != idle && m.why != broken && m.why != sick || m.drains()
		}
	}
}

// chooseByTurn takes as many as the budgets allow.
func (v *view) chooseByTurn() {
	free := v.room()
	if v.d.NoDrain != nil {
		free = math.MaxInt
	}
	for _, turn := range turns {
		for _, m := range v.queue {
			if free <= 0 {
				return
			}
			if !m.going && m.costs() && turn(m) && v.may(m) {
				m.going = true
				free--
			}
		}
	}
}

// room returns how many of those that serve the budget lets go now.
func (v *view) room() int { return v.available - v.floor() - v.taking() }

// taking is how many machines that serve the cloud is about to take because its group is larger than its size: somebody has
// lowered it, and which ones go is not known before they are seen going. Those that we drained are the ones where we did it.
func (v *view) taking() int {
	n := v.counted - v.o.Group.Size
	for _, m := range v.members {
		if !m.Standby && m.drains() {
			n--
		}
	}
	return max(0, n)
}

// turns are the reasons for which serving machines go, most important first.
var turns = []func(m *member) bool{
	func(m *member) bool { return m.why == condemned },
	func(m *member) bool { return m.Marked },
	func(m *member) bool { return m.why == aside },
	func(m *member) bool { return m.why == spare && m.cause.Reason != scaleIn },
	func(m *member) bool { return m.why == stale },
	func(m *member) bool { return m.why == spare },
}

// reasons says that some member has a reason to go.
func (v *view) reasons() bool {
	return slices.ContainsFunc(v.members, func(m *member) bool { return m.why != stays && (m.ours || m.why != stale) })
}

// may says whether the reason of a member holds now.
func (v *view) may(m *member) bool {
	switch m.why {
	case stays:
		return false
	case idle:
		return v.rolling() || v.state == RolloutHalted
	case sick:
		return v.state != RolloutHalted || !v.late(m)
	case stale:
		return v.replaces(m)
	case aside:
		return v.state != RolloutPaused && v.state != RolloutHalted || m.State == Failed
	default:
		return true
	}
}

// chooseIdle takes the first few of those that serve nobody, unless so many turned unready together that it looks like a
// partition, and the first few that failed and have rested.
func (v *view) chooseIdle() {
	partition, rested := v.partition(), v.rested()
	idles, brokens := v.few(), v.few()
	for _, m := range v.queue {
		switch {
		case m.why == idle && v.may(m) && !partition && idles > 0:
			m.going = true
			idles--
		case m.why == broken && brokens > 0 && rested(m):
			m.going = true
			brokens--
		}
	}
}

const scaleIn = "ScaleIn"

// surplus is how many instances of the group are too many. Where the group's size is lower than what exists, the cloud has
// been told already, and chooses.
func (v *view) surplus() int {
	if v.bounds() != nil {
		return 0
	}
	return max(0, min(v.counted, v.o.Group.Size)-v.most())
}

// spare gives the first so many of the queue that reason, unless they have one that goes now.
func (v *view) spare(n int) {
	cause := Cause{scaleIn, fmt.Sprintf("the %s has a size of %d, the pool wants %d", v.t.Group, v.o.Group.Size, v.want)}
	for _, m := range v.affordable(n) {
		if m.why == condemned {
			continue
		}
		if m.why != idle && m.why != stale || !v.may(m) {
			m.cause = cause
		}
		m.why = spare
	}
}

// victims are the first n of the queue that the group counts.
func (v *view) victims(n int) []*member {
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

// affordable are n of the queue that may go: the first n, unless the budget has no room for all of them that serve, marked ones among
// them. Then instances that do not serve for certain go in the place of the last, for they would never make the room that is waited for.
func (v *view) affordable(n int) []*member {
	list := v.victims(n)
	if n <= 0 || v.d.NoDrain != nil {
		return list
	}
	others := v.notServing(list)
	room := v.room()
	for k, m := range list {
		switch {
		case !m.available:
		case room > 0:
			room--
		case m.why != condemned && len(others) > 0:
			list[k], others = others[0], others[1:]
		}
	}
	return list
}

// notServing returns the instances of the queue that do not serve for certain and that the group counts, without those of a list and those
// whose deletion was requested.
func (v *view) notServing(without []*member) []*member {
	var out []*member
	for _, m := range v.queue {
		if !m.Standby && !m.available && m.why != condemned && v.servesNobody(m.Instance) != nil && !slices.Contains(without, m) {
			out = append(out, m)
		}
	}
	return out
}
