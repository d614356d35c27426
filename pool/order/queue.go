package order

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Policy is the order in which equally dispensable instances go.
type Policy string

// The policies, with the words of AzureMachinePool. Ties are broken by ID.
const (
	Oldest Policy = "Oldest"
	Newest Policy = "Newest"
	// Random is a stable order: a hash of the pool's seed and the instance's ID.
	Random Policy = "Random"
)

// Key has what the place of an instance in the queue depends on.
type Key struct {
	ID, Zone string
	// Rank orders instances by the cost of their loss. Lower goes first, whatever the policy.
	Rank int
	// Born is when the instance was made.
	Born time.Time
}

// entry is an element with its key.
type entry[T any] struct {
	of T
	Key
	zone int
	hash uint64
}

// Queue returns instances in the order in which they go: by rank, then by policy within the zone that has the most instances left.
func Queue[T any](list []T, by Policy, seed string, key func(T) Key) []T {
	entries, zones := make([]entry[T], 0, len(list)), []int(nil)
	numbers := map[string]int{}
	for _, of := range list {
		e := entry[T]{of: of, Key: key(of)}
		n, ok := numbers[e.Zone]
		if !ok {
			n = len(zones)
			numbers[e.Zone] = n
			zones = append(zones, 0)
		}
		e.zone = n
		zones[n]++
		if by == Random {
			e.hash = Shuffle(seed + "/" + e.ID)
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry[T]) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), compare(by, &a, &b), strings.Compare(a.ID, b.ID))
	})
	out := make([]T, 0, len(list))
	for len(entries) > 0 {
		equals := slices.IndexFunc(entries, func(e entry[T]) bool { return e.Rank != entries[0].Rank })
		if equals < 0 {
			equals = len(entries)
		}
		for _, e := range Balanced(entries[:equals], zones, func(e entry[T]) int { return e.zone }) {
			out = append(out, e.of)
		}
		entries = entries[equals:]
	}
	return out
}

// compare orders two elements of the same rank by policy.
func compare[T any](by Policy, a, b *entry[T]) int {
	switch by {
	case Newest:
		return b.Born.Compare(a.Born)
	case Random:
		return cmp.Compare(a.hash, b.hash)
	default:
		return a.Born.Compare(b.Born)
	}
}
