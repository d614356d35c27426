package nodegroup_test

import (
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/nodegroup"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// TestSmallerThanWasEverLaunched is what a group becomes whose machines do not come: what is not there needs no drain, and waits for
// no capacity.
func TestSmallerThanWasEverLaunched(t *testing.T) {
	t.Parallel()
	for _, replicas := range []int{1, 0} {
		inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
			e := w.edge(withTemplate(), 1)
			e.run()
			w.must(w.server.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Limit: 1}))
			e.desired.Replicas = 3
			for range 20 {
				e.pass()
				time.Sleep(20 * time.Second)
			}
			e.check("the size that is asked for", 3, e.seen.Group.Size)
			e.check("machines that have come", 1, len(e.seen.Instances))
			e.desired.Replicas = replicas
			e.run()
			e.check("the size of the smaller pool", replicas, e.seen.Group.Size)
			e.check("its machines", replicas, len(e.seen.Instances))
		})
	}
}

// TestNoneIsTakenByASize holds that a size below what exists is refused: EKS would choose the machines that go, undrained.
func TestNoneIsTakenByASize(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		e := w.edge(withTemplate(), 2)
		e.run()
		if err := w.driver.Start(t.Context(), e.target, pool.Step{Kind: pool.Resize, Size: 1}); cloud.KindOf(err) != cloud.Conflict {
			t.Errorf("want a smaller size refused, got %v", err)
		}
		e.check("the size that EKS was asked for", 2, w.nodegroup(e.name()).Desired)
	})
}
