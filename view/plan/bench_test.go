package plan

import (
	"fmt"
	"testing"

	"github.com/muster-project/muster/pool"
)

// A plan of a large pool is made while the user waits for it.
func BenchmarkFollow(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		for _, surge := range []int{1, 25} {
			b.Run(fmt.Sprintf("machines=%d/surge=%d%%", n, surge), func(b *testing.B) {
				l := stocked(n, pool.Strategy{MaxSurge: pool.IntOrPercent{Value: surge, Percent: true}})
				l.Desired.Max, l.Traits.SupportsStandby = 10*n, true
				for b.Loop() {
					if out := Simulate(l); !out.Converges || out.Last.Rollout.State != pool.RolloutDone {
						b.Fatalf("want the course to end, got %s", out.say())
					}
				}
			})
		}
	}
}
