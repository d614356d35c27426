package nodepool_test

import (
	"slices"
	"testing"
	"time"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// TestIgnoredZones holds that zones which GKE accepts and ignores differ still, to a driver that has seen nothing too, that they hold
// nothing else up, and that they are set once GKE heeds them.
func TestIgnoredZones(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reach(2)
		ignores := sim.Fault{Kind: sim.Ignore, Service: "container", Action: "projects.locations.clusters.nodePools.update", Field: "locations",
			Name: "ignores zones"}
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

// TestZoneAddedAfterCancelledRollout holds that the change that adds a zone is no rollout, although GKE calls it an upgrade of nodes and a
// rollout that was cancelled has left machines of another type: it would be cancelled as not wanted before GKE has made the zone's group.
func TestZoneAddedAfterCancelledRollout(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target.Spec.Pool.NodeLocations = []string{region + "-a", region + "-b"}
		w.reach(4)
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n2-standard-4") })
		w.cancel(w.amid())
		w.observe()
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) {
			s.NodeLocations = []string{region + "-a", region + "-b", region + "-c"}
			s.InstanceType = new("e2-standard-2")
		})
		if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.UpdateGroup}); err != nil {
			w.Fatal(err)
		}
		for range 3 {
			if o := w.observe(); o.ProviderRollout != nil || o.Group.Busy == nil {
				w.Errorf("want GKE at work and no rollout, got %+v, %+v", o.ProviderRollout, o.Group.Busy)
			}
			<-time.After(time.Second)
		}
		settle()
		if o := w.observe(); len(o.Issues) > 0 || len(w.held().Groups) != 3 || fresh(o) != 0 {
			w.Errorf("want three zones and no machine replaced, got %s, issues %v", w.zones(), o.Issues)
		}
	})
}

// TestFailedChangeOfZonesIsNoRollout holds that the change that adds a zone counts as no rollout that has failed when GKE has no machines
// for it.
func TestFailedChangeOfZonesIsNoRollout(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reach(4)
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n2-standard-4") })
		w.cancel(w.amid())
		w.observe()
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.NodeLocations = []string{region + "-a", region + "-b"} })
		if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.UpdateGroup}); err != nil {
			w.Fatal(err)
		}
		if err := w.cloud.GKE.FailPool(clusterName+"/"+poolName, "GCE_STOCKOUT", "none left"); err != nil {
			w.Fatal(err)
		}
		settle()
		if o := w.observe(); o.ProviderRollout != nil {
			w.Errorf("want no rollout, got %+v", o.ProviderRollout)
		}
	})
}
