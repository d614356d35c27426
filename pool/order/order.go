// Package order puts lists into the orders in which instances go.
package order

import "hash/fnv"

// Shuffle returns a stable random number for an ID. The hash alone leaves IDs that differ in their last digit in line, so that its halves
// are mixed once more.
func Shuffle(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	sum := h.Sum64()
	sum = (sum ^ sum>>32) * 0x9e3779b97f4a7c15
	return sum ^ sum>>29
}

// Balanced puts a list that stands in the order of preference into an order that takes each from the zone that holds the most then, and
// counts the zones down. zone returns the index of an element's zone in zones.
func Balanced[T any](list []T, zones []int, zone func(T) int) []T {
	queues := make([][]int, len(zones))
	for k, m := range list {
		queues[zone(m)] = append(queues[zone(m)], k)
	}
	out := make([]T, 0, len(list))
	for range len(list) {
		best := -1
		for z, queue := range queues {
			if len(queue) == 0 {
				continue
			}
			if best < 0 || zones[z] > zones[best] || zones[z] == zones[best] && queue[0] < queues[best][0] {
				best = z
			}
		}
		out = append(out, list[queues[best][0]])
		queues[best] = queues[best][1:]
		zones[best]--
	}
	return out
}

// Lowest returns the lowest of some limits, of which zero is none.
func Lowest(limits ...int) (least int) {
	for _, limit := range limits {
		if limit > 0 && (least == 0 || limit < least) {
			least = limit
		}
	}
	return least
}

// FalseFirst compares two values: false comes before true.
func FalseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
