package gcp_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp"
)

// gkeWalks are how many random walks a test takes, with -short gkeShortWalks, gkeSteps how long each is.
const gkeWalks, gkeShortWalks, gkeSteps = 40, 8, 30

// TestGKERandomWalks does anything to a node pool in any order: it comes to rest, a last size is reached with nodes of one version, and
// nothing is left when it is deleted.
func TestGKERandomWalks(t *testing.T) {
	seeds := uint64(gkeWalks)
	if testing.Short() {
		seeds = gkeShortWalks
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inBubble(t, gcp.Options{Speed: 1, Seed: seed}, func(w *world) { walkPool(w, rand.New(rand.NewPCG(seed, 0))) })
		})
	}
}

func walkPool(w *world, r *rand.Rand) {
	w.do(http.MethodPost, clusters, doc{"cluster": doc{"name": "c", "initialClusterVersion": newer,
		"releaseChannel": doc{"channel": "UNSPECIFIED"},
		"nodePools":      []any{doc{"name": "p", "initialNodeCount": 2, "version": version, "upgradeSettings": settingsOf(r)}}}})
	w.settled("c")
	for range gkeSteps {
		randomStep(w, r)
		w.rest(time.Duration(r.IntN(300)) * time.Second)
	}
	w.Faults().Clear()
	w.settled("c")
	w.do(http.MethodPost, pools+"/p:rollback", nil)
	w.settled("c")
	for _, m := range w.pool("p").Machines {
		if !m.Ready {
			_ = w.Terminate(m.Name) // nothing ever happens inside some
		}
	}
	w.rest(10 * minute)
	w.do(http.MethodPut, pools+"/p", doc{"nodeVersion": newer})
	w.settled("c")
	w.do(http.MethodPost, pools+"/p:setSize", doc{"nodeCount": 2})
	w.settled("c")
	w.rest(30 * minute)
	p := w.pool("p")
	if want := 2 * len(p.Groups); p.Status != "RUNNING" || p.Version != newer || len(p.Machines) != want || p.Upgrading {
		w.Fatalf("want %d machines of %s at rest, got %+v", want, newer, p)
	}
	for _, m := range p.Machines {
		if m.Stale || m.Leaving || !m.Ready || m.Version != newer {
			w.Errorf("want a ready node of %s, got %+v", newer, m)
		}
	}
	w.do(http.MethodDelete, pools+"/p", nil)
	w.settled("c")
	w.rest(30 * minute)
	check(w, "groups that are left", 0, len(w.State().Groups))
	check(w, "templates that are left", 0, len(w.State().Templates))
}

// settingsOf returns settings of upgrades.
func settingsOf(r *rand.Rand) doc {
	if r.IntN(2) == 0 {
		return doc{"strategy": "BLUE_GREEN", "blueGreenSettings": doc{"nodePoolSoakDuration": "300s",
			"standardRolloutPolicy": doc{"batchNodeCount": 1 + r.IntN(2), "batchSoakDuration": "30s"}}}
	}
	return doc{"strategy": "SURGE", "maxSurge": 1 + r.IntN(2), "maxUnavailable": r.IntN(2)}
}

// randomStep does one thing. What GKE refuses is no failure.
func randomStep(w *world, r *rand.Rand) {
	put := func(d doc) { w.ask(http.MethodPut, pools+"/p", d) }
	machine := func() string {
		all := w.pool("p").Machines
		if len(all) == 0 {
			return ""
		}
		return all[r.IntN(len(all))].Name
	}
	actions := []func(){
		func() { w.ask(http.MethodPost, pools+"/p:setSize", doc{"nodeCount": r.IntN(4)}) },
		func() { put(doc{"nodeVersion": []string{version, newer}[r.IntN(2)]}) },
		func() { put(doc{"machineType": []string{"e2-medium", "e2-standard-2"}[r.IntN(2)]}) },
		func() { put(doc{"labels": doc{"labels": doc{"n": fmt.Sprint(r.IntN(9))}}}) },
		func() { put(doc{"upgradeSettings": settingsOf(r)}) },
		func() {
			put(doc{"locations": [][]any{{"us-central1-a"}, {"us-central1-a", "us-central1-f"}}[r.IntN(2)]})
		},
		func() { cancelAny(w) },
		func() { w.ask(http.MethodPost, pools+"/p:rollback", nil) },
		func() { w.ask(http.MethodPost, pools+"/p:completeUpgrade", nil) },
		func() { _ = w.Terminate(machine()) },
		func() { _ = w.GKE.Repair("c/p", machine()) },
		func() { _ = w.GKE.FailPool("c/p", "GCE_STOCKOUT", "none left") },
		func() {
			g := w.pool("p").Groups[0]
			w.ask(http.MethodPost, "/compute/v1/"+g.Path+fmt.Sprintf("/resize?size=%d", r.IntN(5)), nil)
		},
		func() { _ = w.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Zone: "us-central1-a"}) },
		func() { _ = w.Faults().Add(sim.Fault{Kind: sim.NeverBoots, Times: 2}) },
		func() { w.Faults().Clear() },
	}
	actions[r.IntN(len(actions))]()
}

// cancelAny cancels the operation that runs, if it can be cancelled.
func cancelAny(w *world) {
	for _, op := range document.Objects(w.get("/v1/projects/simulated-project/locations/-/operations"), "operations") {
		if document.Text(op, "status") == "RUNNING" {
			w.ask(http.MethodPost, "/v1/projects/simulated-project/locations/us-central1-a/operations/"+document.Text(op, "name")+":cancel", nil)
		}
	}
}
