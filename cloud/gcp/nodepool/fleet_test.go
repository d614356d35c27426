package nodepool_test

import (
	"fmt"
	"testing"
	"time"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/nodepool"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/gcp/project"
)

const (
	// fleet is the number of node pools, in clusters of so many each.
	fleet, inCluster = 400, 100
	// maxCalls is the maximum number of requests for a look at a node pool of such a fleet at rest, in thousandths.
	maxCalls = 100
	// restful is the time between two looks at a pool at rest, and maxAge how old an answer may be then.
	restful, maxAge = 100 * time.Second, 20 * time.Second
)

// ownerOf is the owner of one node pool of the fleet.
func ownerOf(n int) cloud.Owner {
	return cloud.Owner{ID: fmt.Sprintf("owner-%d", n), Cluster: fmt.Sprintf("c%d", n/inCluster), Namespace: "default",
		Name: fmt.Sprintf("p%d", n)}
}

// makeFleet creates the clusters with their node pools, and returns the targets.
func (w *world) makeFleet() []nodepool.Target {
	w.Helper()
	var targets []nodepool.Target
	for c := range fleet / inCluster {
		name := fmt.Sprintf("c%d", c)
		var pools []any
		for n := c * inCluster; n < (c+1)*inCluster; n++ {
			labels := document.Object{}
			for key, value := range template.OwnerLabels(ownerOf(n)) {
				labels[key] = value
			}
			pools = append(pools, document.Object{"name": ownerOf(n).Name, "initialNodeCount": 1.0, "version": master,
				"locations": []any{region + "-a"}, "config": document.Object{"machineType": "e2-standard-4", "resourceLabels": labels}})
			view := w.target.Spec.Cluster
			view.Name, view.View.AdditionalLabels = name, nil
			targets = append(targets, nodepool.Target{Owner: ownerOf(n), KubernetesVersion: "v" + master,
				Cache: cloud.CacheControl{MaxAge: maxAge},
				Spec: &gcpv1.ManagedMachinePoolSource{Name: ownerOf(n).Name, Cluster: view, Pool: &gcpv1.GCPManagedMachinePoolSpec{
					InstanceType: new("e2-standard-4"), NodeLocations: []string{region + "-a"},
				}}})
		}
		if _, err := w.cloud.GKE.PutCluster(container.DesiredCluster{Project: project.DefaultID, Location: region, Name: name,
			Body: document.Object{
				"initialClusterVersion": master, "releaseChannel": document.Object{"channel": "UNSPECIFIED"}, "nodePools": pools,
			}}); err != nil {
			w.Fatal(err)
		}
	}
	settle()
	return targets
}

// TestFleetAtRest holds that a look at one of many node pools at rest costs next to nothing, and that none is written to.
func TestFleetAtRest(t *testing.T) {
	if testing.Short() {
		t.Skip("four looks at each of 400 node pools: left out with -short")
	}
	inWorld(t, func(w *world) {
		targets := w.makeFleet()
		remembered := map[string]string{}
		round := func() {
			for i := range targets {
				targets[i].Remembered = remembered
				o, err := w.driver.Observe(w.Context(), targets[i])
				if err != nil {
					w.Fatalf("observe %s: %v", targets[i].Owner.Name, err)
				}
				if o.Group == nil || len(o.Instances) != 1 || o.Instances[0].State != pool.Running || len(o.Group.Drift) > 0 || len(o.Issues) > 0 {
					w.Fatalf("want node pool %s at rest, got %+v", targets[i].Owner.Name, o)
				}
				remembered = o.ResolvedLookups
				<-time.After(restful / time.Duration(fleet))
			}
		}
		round()
		const rounds = 3
		before := w.cloud.Calls().Summary(0)
		for range rounds {
			round()
		}
		after := w.cloud.Calls().Summary(0)
		calls, writes := after.Total-before.Total, after.Mutating-before.Mutating
		if calls*1000 > maxCalls*rounds*fleet || writes > 0 {
			w.Errorf("want at most %d thousandths of a request for a look and no write, got %d requests for %d looks, %d of them writes: %v",
				maxCalls, calls,
				rounds*fleet, writes, after.Counts)
		}
	})
}

// TestFreshLookListsGroupsOnce holds that a look at a node pool of several zones reads its groups with one list where groups are listed:
// the pages of one list may be all that the budget of lists has left, and a second one would keep the look from ever coming to an end.
func TestFreshLookListsGroupsOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.regional()
		w.reach(3)
		d, err := nodepool.New(nodepool.Options{Endpoint: endpoint, Base: sim.Transport{Handler: w.cloud}, Listing: true})
		if err != nil {
			w.Fatal(err)
		}
		w.driver = d
		lists := func() int {
			return w.cloud.Calls().Summary(0).Counts["compute"]["instanceGroupManagers.aggregatedList"]
		}
		before := lists()
		if o := w.observe(); len(o.Instances) != 3 || !o.Cache.Fresh {
			w.Errorf("want a fresh look at three machines, got %+v", o)
		}
		if n := lists() - before; n != 1 {
			w.Errorf("want one list of groups, got %d", n)
		}
	})
}
