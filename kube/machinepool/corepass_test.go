package machinepool_test

import (
	"fmt"
	"testing"
)

// clusterSizes are the numbers of nodes of the workload cluster.
var clusterSizes = []int{1_000, 10_000, 50_000}

// BenchmarkCorePass is one pass of the MachinePool controller over a pool at rest, Muster's and Cluster API's own: one world for
// each size of the cluster, whose clients and objects both share. docs/core-machinepool.md has what came of it.
func BenchmarkCorePass(all *testing.B) {
	for _, number := range clusterSizes {
		var world *core
		for _, who := range []string{"muster", "upstream"} {
			for _, machines := range poolSizes {
				all.Run(fmt.Sprintf("%s/nodes=%d/machines=%d", who, number, machines), func(b *testing.B) {
					if world == nil {
						world = newCore(all, number)
					}
					world.settle(b, who, machines)
					b.ReportAllocs()
					for b.Loop() {
						if world.pass(b, who, machines) {
							b.Fatal("want no write at rest")
						}
					}
				})
			}
		}
	}
}

// A pass over a pool costs what the pool's machines cost, whatever the cluster has beside them.
func TestCorePassCostsWhatThePoolHas(t *testing.T) {
	if testing.Short() {
		t.Skip("fills caches with thousands of Nodes: left out with -short")
	}
	for _, machines := range poolSizes {
		small, large := allocations(t, 200, machines), allocations(t, 4_000, machines)
		if large > small*1.05 {
			t.Errorf("%d machines: want as much allocated in a cluster of 4,000 nodes as in one of 200, got %.0f and %.0f", machines, large, small)
		}
	}
}

// allocations of one pass at rest.
func allocations(t *testing.T, number, machines int) float64 {
	t.Helper()
	world := newCore(t, number)
	world.settle(t, "muster", machines)
	return testing.AllocsPerRun(20, func() {
		if world.pass(t, "muster", machines) {
			t.Fatal("want no write at rest")
		}
	})
}
