package calendar

import (
	"cmp"
	"slices"
	"time"
)

// noWindow is the index of spans that no window begins.
const noWindow = -1

// span is an interval in Unix nanoseconds, without its end.
type span struct {
	from, to int64
	// grace applies when the span ends.
	grace time.Duration
	// window is the index of the window that begins the span.
	window int
}

// timeline has the spans of one policy, or of a calendar, in a period. Spans are sorted, and neither touch nor overlap.
type timeline struct {
	// cover are the times in which a window is open, open those in addition without exclusions.
	cover, open []span
}

// find returns the index of the first span that ends after t, and whether it contains t.
func find(list []span, t int64) (index int, contains bool) {
	low, high := 0, len(list)
	for low < high {
		if mid := int(uint(low+high) >> 1); list[mid].to > t {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low, low < len(list) && list[low].from <= t
}

// union sorts the spans and merges those that touch or overlap. The grace is that of the window that ends last.
func union(list []span) []span {
	slices.SortFunc(list, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.window, b.window)) })
	var out []span
	for _, s := range list {
		if len(out) == 0 || s.from > out[len(out)-1].to {
			out = append(out, s)
			continue
		}
		last := &out[len(out)-1]
		switch {
		case s.to > last.to:
			last.to, last.grace = s.to, s.grace
		case s.to == last.to:
			last.grace = max(last.grace, s.grace)
		}
	}
	return out
}

// intersect returns what is in both lists. The grace is that of the list that ends the span, the smaller one if both do.
func intersect(a, b []span) []span {
	var out []span
	for len(a) > 0 && len(b) > 0 {
		s := span{from: max(a[0].from, b[0].from), to: min(a[0].to, b[0].to), window: noWindow}
		switch endA, endB := a[0].to, b[0].to; {
		case endA < endB:
			s.grace, a = a[0].grace, a[1:]
		case endB < endA:
			s.grace, b = b[0].grace, b[1:]
		default:
			s.grace, a, b = min(a[0].grace, b[0].grace), a[1:], b[1:]
		}
		if s.from < s.to {
			out = append(out, s)
		}
	}
	return out
}

// subtract returns what is in a and not in b.
func subtract(a, b []span) []span {
	if len(b) == 0 {
		return a
	}
	var out []span
	for _, s := range a {
		k, _ := find(b, s.from)
		for ; k < len(b) && b[k].from < s.to; k++ {
			if b[k].from > s.from {
				piece := s
				piece.to = b[k].from
				out = append(out, piece)
			}
			s.from = b[k].to
		}
		if s.from < s.to {
			out = append(out, s)
		}
	}
	return out
}
