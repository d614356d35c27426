package nodepool_test

import (
	"net/http"
	"slices"
	"testing"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	domain "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/oci"
)

// TestEviction: nodes that Muster has drained are deleted at once, and those that OKE takes for another placement are drained by OKE,
// whatever the settings of the node pool are.
func TestEviction(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		tap := tapped{sim.Transport{Handler: w.cloud}, map[string]*http.Request{}}
		made, err := newDriver(tap)
		if err != nil {
			t.Fatal(err)
		}
		w.driver = made
		w.change(func(s *spec) {
			s.NodeEvictionNodePoolSettings = &ociv1.NodeEvictionNodePoolSettings{EvictionGraceDuration: new("PT0M")}
		})
		w.create(3)
		if is := w.shown().NodeEvictionNodePoolSettings; text(is.EvictionGraceDuration) != "PT0M" || len(w.observe().Group.Drift) > 0 {
			t.Errorf("want the settings of the user, got %+v", is)
		}
		w.start(remove(w.observe(), 0))
		is := tap.last[http.MethodDelete]
		if q := is.URL.Query(); q.Get("overrideEvictionGraceDuration") != "PT0M" || q.Get("isDecrementSize") != "true" ||
			q.Get("isForceDeletionAfterOverrideGraceDuration") != "true" {
			t.Errorf("want a drained node deleted at once, got %s", is.URL)
		}
		w.change(func(s *spec) {
			s.NodePoolNodeConfig = &ociv1.NodePoolNodeConfig{PlacementConfigs: []ociv1.PlacementConfig{{AvailabilityDomain: oci.Domains()[0],
				FaultDomains: []string{"FAULT-DOMAIN-2", "FAULT-DOMAIN-1"}, SubnetName: new("pod")}}}
			s.NodeEvictionNodePoolSettings.EvictionGraceDuration = new("PT1H")
		})
		w.start(domain.Step{Kind: domain.UpdateGroup, Fields: w.observe().Group.Drift})
		is = tap.last[http.MethodPut]
		if q := is.URL.Query(); q.Get("overrideEvictionGraceDuration") != "PT60M" || is.Header.Get("If-Match") == "" {
			t.Errorf("want nodes drained for another placement, on the condition of the revision, got %s %v", is.URL, is.Header)
		}
		settle()
		o := w.observe()
		if len(o.Group.Drift) > 0 || len(o.Instances) != 2 || slices.ContainsFunc(o.Instances,
			func(i domain.Instance) bool { return i.Zone != oci.Domains()[0] }) {
			t.Errorf("want both nodes in the first domain, got %+v, %+v", o.Group, o.Instances)
		}
	})
}
