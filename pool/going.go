package pool

import (
	"cmp"
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
	free := v.available - v.floor()
	if v.d.NoDrain != nil {
		free = math.MaxInt
	}
	v.chooseIdle()
	for _, m := range v.queue {
		switch {
		case m.going || !v.may(m):
		case !m.costs():
			m.going = m.why != idle && m.why != broken || m.drains()
		}
	}
	for _, turn := range turns {
		for _, m := range v.queue {
			if free <= 0 {
				return
			}
			if m.going || !v.may(m) || !turn(m) || !m.costs() {
				continue
			}
			m.going = true
			free--
		}
	}
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
	case stale:
		return m.ours && v.rolling()
	case aside:
		return v.state != RolloutPaused && v.state != RolloutHalted
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
	if !v.d.External && outOfBounds(v.d) != nil {
		return 0
	}
	return max(0, min(v.counted, v.o.Group.Size)-v.most())
}

// spare gives the first so many of the queue that reason, unless they have one that goes now.
func (v *view) spare(n int) {
	cause := Cause{scaleIn, fmt.Sprintf("the %s has a size of %d, the pool wants %d", v.t.Group, v.o.Group.Size, v.want)}
	for _, m := range v.victims(n) {
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
		if !m.Aside {
			out = append(out, m)
		}
	}
	return out
}

// ordered are the members in the order in which they would go: by rank, then by the delete policy within the zone that
// holds the most.
func (v *view) ordered() []*member {
	zones := map[string]int{}
	ranks := make(map[*member]int, len(v.members))
	for _, m := range v.members {
		zones[m.Zone]++
		ranks[m] = v.rank(m)
	}
	list := slices.Clone(v.members)
	slices.SortFunc(list, func(a, b *member) int {
		return cmp.Or(cmp.Compare(ranks[a], ranks[b]), byPolicy(v.d.DeletePolicy, *a.Instance, *b.Instance), cmp.Compare(a.ID, b.ID))
	})
	out := make([]*member, 0, len(list))
	for len(list) > 0 {
		equals := slices.IndexFunc(list, func(m *member) bool { return ranks[m] != ranks[list[0]] })
		if equals < 0 {
			equals = len(list)
		}
		out = append(out, balanced(list[:equals], zones)...)
		list = list[equals:]
	}
	return out
}

// rank sorts members by what their loss costs; lower goes first.
func (v *view) rank(m *member) int {
	serves := m.Node != nil && m.Node.Ready
	replaced := m.why == stale && m.ours && v.rolling()
	switch {
	case m.why == condemned:
		return 0
	case m.Marked:
		return 1
	case m.drains():
		return 2
	case m.why == aside:
		return 3
	case m.State == Failed:
		return 4
	case m.why == idle:
		return 5
	case replaced && !serves:
		return 6
	case replaced:
		return 7
	case m.Node == nil:
		return 8
	case !serves:
		return 9
	case m.why == stale:
		return 10
	default:
		return 11
	}
}

// balanced puts a list that stands in the order of preference into an order that takes each from the zone that holds the
// most then, and counts the zones down.
func balanced(list []*member, zones map[string]int) []*member {
	queues := map[string][]int{}
	var names []string
	for k, m := range list {
		if queues[m.Zone] == nil {
			names = append(names, m.Zone)
		}
		queues[m.Zone] = append(queues[m.Zone], k)
	}
	out := make([]*member, 0, len(list))
	for range len(list) {
		zone := slices.MinFunc(names, func(a, b string) int {
			return cmp.Or(cmp.Compare(zones[b], zones[a]), cmp.Compare(queues[a][0], queues[b][0]))
		})
		out = append(out, list[queues[zone][0]])
		zones[zone]--
		if queues[zone] = queues[zone][1:]; len(queues[zone]) == 0 {
			names = slices.DeleteFunc(names, func(name string) bool { return name == zone })
		}
	}
	return out
}
