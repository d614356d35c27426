package pool

import (
	"fmt"
	"testing"
)

// BenchmarkDecide decides on a fleet in which every second machine has to go, the most that a choice costs, and on one
// that is at rest.
func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{10, 1000, 5000} {
		list := serving(n)
		for k := range list {
			list[k].Zone = string(rune('a' + k%3))
		}
		o := fleet(list)
		for name, left := range map[string]int{"rest": n, "half": n / 2} {
			d := wants(left, func(d *Desired) { d.Max = n })
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Decide(d, o, traits, now)
				}
			})
		}
	}
}
