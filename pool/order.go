package pool

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"
	"time"
)

// byPolicy orders members that are equally dispensable.
func byPolicy(p DeletePolicy, a, b *member) int {
	switch p {
	case Newest:
		return b.born.Compare(a.born)
	case Random:
		return cmp.Compare(a.hash, b.hash)
	default:
		return a.born.Compare(b.born)
	}
}

// born is when an instance was made, or, where the cloud does not say, when its node joined.
func born(i *Instance) time.Time {
	if i.Created.IsZero() && i.Node != nil {
		return i.Node.Joined
	}
	return i.Created
}

// shuffle is a stable random order. The hash alone leaves IDs that differ in their last digit in line, so that its halves
// are mixed once more.
func shuffle(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	sum := h.Sum64()
	sum = (sum ^ sum>>32) * 0x9e3779b97f4a7c15
	return sum ^ sum>>29
}

// ordered are the members in the order in which they would go: by rank, then by the delete policy within the zone that
// holds the most.
func (v *view) ordered() []*member {
	numbers := map[string]int{}
	var zones []int
	for _, m := range v.members {
		n, ok := numbers[m.Zone]
		if !ok {
			n = len(zones)
			numbers[m.Zone] = n
			zones = append(zones, 0)
		}
		m.zone = n
		zones[n]++
		m.place, m.born = v.rank(m), born(m.Instance)
		if v.d.DeletePolicy == Random {
			m.hash = shuffle(v.d.Seed + "/" + m.ID)
		}
	}
	list := slices.Clone(v.members)
	slices.SortFunc(list, func(a, b *member) int {
		if a.place != b.place {
			return a.place - b.place
		}
		if by := byPolicy(v.d.DeletePolicy, a, b); by != 0 {
			return by
		}
		return strings.Compare(a.ID, b.ID)
	})
	out := make([]*member, 0, len(list))
	for len(list) > 0 {
		equals := slices.IndexFunc(list, func(m *member) bool { return m.place != list[0].place })
		if equals < 0 {
			equals = len(list)
		}
		out = append(out, balanced(list[:equals], zones)...)
		list = list[equals:]
	}
	return out
}

// ranks are what a member's loss costs; the first that holds tells its place.
var ranks = []func(v *view, m *member) bool{
	func(_ *view, m *member) bool { return m.why == condemned },
	func(_ *view, m *member) bool { return m.Marked },
	func(_ *view, m *member) bool { return m.drains() || m.TerminationNotice != nil },
	func(_ *view, m *member) bool { return m.why == aside },
	func(v *view, m *member) bool { return v.failed(m.Instance) },
	func(_ *view, m *member) bool { return m.why == idle },
	func(_ *view, m *member) bool { return m.why == sick },
	func(_ *view, m *member) bool { return m.Node.CordonedByOthers() && m.Node.Empty },
	func(v *view, m *member) bool { return v.replaces(m) && !m.isReady() },
	func(v *view, m *member) bool { return v.replaces(m) },
	func(_ *view, m *member) bool { return m.Node == nil },
	func(_ *view, m *member) bool { return !m.isReady() },
	func(_ *view, m *member) bool { return m.why == stale },
}

// rank sorts members by what their loss costs; lower goes first.
func (v *view) rank(m *member) int {
	for k, holds := range ranks {
		if holds(v, m) {
			return k
		}
	}
	return len(ranks)
}

// replaces says that the rollout is about to replace a member.
func (v *view) replaces(m *member) bool { return m.why == stale && m.ours && v.rolling() }

// balanced puts a list that stands in the order of preference into an order that takes each from the zone that holds the
// most then, and counts the zones down.
func balanced(list []*member, zones []int) []*member {
	queues := make([][]int, len(zones))
	for k, m := range list {
		queues[m.zone] = append(queues[m.zone], k)
	}
	out := make([]*member, 0, len(list))
	for range len(list) {
		best := -1
		for zone, queue := range queues {
			if len(queue) == 0 {
				continue
			}
			if best < 0 || zones[zone] > zones[best] || zones[zone] == zones[best] && queue[0] < queues[best][0] {
				best = zone
			}
		}
		out = append(out, list[queues[best][0]])
		queues[best] = queues[best][1:]
		zones[best]--
	}
	return out
}
