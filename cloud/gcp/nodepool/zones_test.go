package nodepool_test

import (
	"slices"
	"testing"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// TestIgnoredZones holds that zones which GKE accepts and ignores differ still, to a driver that has seen nothing too, that they hold
// nothing else up, and that they are set once GKE heeds them.
func TestIgnoredZones(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reach(2)
		ignores := sim.Fault{Kind: sim.Ignore, Service: "container", Action: "projects.locations.clusters.nodePools.update", Field: "locations", Name: "ignores zones"}
		if err := w.cloud.Faults().Add(ignores); err != nil {
			w.Fatal(err)
		}
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) {
			s.NodeLocations = []string{region + "-a", region + "-b"}
			s.KubernetesLabels = gcpv1.NodeLabels{"tier": "blue"}
		})
		drift := func() []string {
			settle()
			return w.observe().Group.Drift
		}
		update := func() { w.start(pool.Step{Kind: pool.UpdateGroup, Fields: drift()}) }
		for range 3 {
			update()
		}
		for _, restarts := range []bool{false, true} {
			if restarts {
				w.newcomer()
			}
			if got := drift(); !slices.Equal(got, []string{"spec.nodeLocations"}) {
				w.Errorf("restarted %t: want the zones alone to differ, got %v", restarts, got)
			}
		}
		w.cloud.Faults().Clear()
		update()
		if got := drift(); len(got) > 0 || w.zones() != "2 2" {
			w.Errorf("want machines in both zones, got %s, and %v differ", w.zones(), got)
		}
	})
}
