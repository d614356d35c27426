package pool

import (
	"fmt"
	"testing"
)

// BenchmarkDecide decides on a fleet in which every second machine has to go, the most that a choice costs, and on one
// that is at rest, and on one of which every machine is to be replaced.
func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10000} {
		list := serving(n)
		for k := range list {
			list[k].Zone = string(rune('a' + k%3))
		}
		o := fleet(list)
		rolls := fleet(list, newTemplate)
		for name, c := range map[string]struct {
			d Desired
			o Observed
		}{"rest": {wants(n), o}, "half": {wants(n / 2), o}, "rollout": {wants(n, rolling25), rolls}} {
			d, o := c.d, c.o
			d.Max = n
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Decide(d, o, traits, now)
				}
			})
		}
	}
}
