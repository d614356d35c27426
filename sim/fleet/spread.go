package fleet

import (
	"cmp"
	"slices"
)

// Spread counts the machines of each zone.
type Spread map[string]int

// SpreadOf counts machines by zone.
func SpreadOf[M Member](machines []M) Spread {
	out := Spread{}
	for _, m := range machines {
		out[m.machine().Zone]++
	}
	return out
}

// Emptiest sorts zones for launches: those with the fewest machines first. Zones with equally many machines keep their order.
func (s Spread) Emptiest(zones []string) []string {
	zones = slices.Clone(zones)
	slices.SortStableFunc(zones, func(a, b string) int { return cmp.Compare(s[a], s[b]) })
	return zones
}

// ByMost compares two zones for removals: the one with more machines comes first.
func (s Spread) ByMost(a, b string) int { return cmp.Compare(s[b], s[a]) }

// Surplus selects up to many of the open machines for removal, one at a time. order returns the comparison for the next one, by the
// machines that are still to stay. counted are all machines that count for it, including the open ones.
func Surplus[M Member](counted, open []M, many int, order func(stay []M) func(a, b M) int) []M {
	stay, rest := slices.Clone(counted), slices.Clone(open)
	var out []M
	for len(out) < many && len(rest) > 0 {
		m := slices.MinFunc(rest, order(stay))
		chosen := func(one M) bool { return one == m }
		stay, rest, out = slices.DeleteFunc(stay, chosen), slices.DeleteFunc(rest, chosen), append(out, m)
	}
	return out
}
