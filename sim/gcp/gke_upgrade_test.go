package gcp_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/container"
)

// TestGKESurgeUpgrade upgrades a node pool and holds it against its upgrade settings at every look.
func TestGKESurgeUpgrade(t *testing.T) {
	gke(t, 4, func(w *world) {
		w.do(http.MethodPut, pools+"/p", doc{"upgradeSettings": doc{"maxSurge": 1, "maxUnavailable": 1, "strategy": "SURGE"}})
		w.settled("c")
		before := w.pool("p")
		check(w, "type", "UPGRADE_NODES", document.Text(w.do(http.MethodPut, pools+"/p", doc{"nodeVersion": newer}), "operationType"))
		for range 1000 {
			p, living, ready := w.pool("p"), 0, 0
			for _, m := range p.Machines {
				if !m.Deleting {
					living++
				}
				if m.Ready && !m.Leaving {
					ready++
				}
			}
			if living > 5 || ready < 3 {
				t.Fatalf("want at most 5 machines and at least 3 nodes, got %d and %d: %+v", living, ready, p.Machines)
			}
			if !p.Busy {
				break
			}
			check(w, "version while the upgrade runs", version, document.Text(w.get(pools+"/p"), "version"))
			w.rest(5 * time.Second)
		}
		w.rest(10 * minute)
		p := w.pool("p")
		all := document.Objects(w.get("/v1/projects/simulated-project/locations/-/operations"), "operations")
		at := slices.IndexFunc(all, func(op doc) bool {
			return op["progress"] != nil && document.Text(op, "operationType") == "UPGRADE_NODES"
		})
		var metrics []string
		for _, m := range document.Objects(all[at], "progress.metrics") {
			metrics = append(metrics, document.Text(m, "name")+"="+document.Text(m, "intValue"))
		}
		check(w, "metrics", "NODES_TOTAL=4 NODES_FAILED=0 NODES_COMPLETE=4 NODES_DONE=4 NODE_PDB_DELAY_SECONDS=0", strings.Join(metrics, " "))
		upgrades := document.Objects(w.get(pools+"/p:fetchNodePoolUpgradeInfo"), "upgradeDetails")
		check(w, "upgrades", 1, len(upgrades))
		check(w, "who began it, and how it ended", "MANUAL SUCCEEDED "+newer, document.Text(upgrades[0], "startType")+" "+
			document.Text(upgrades[0], "state")+" "+document.Text(upgrades[0], "targetVersion"))
		check(w, "version", newer, p.Version)
		check(w, "nodes", 4, len(p.Machines))
		for _, m := range p.Machines {
			check(w, "version of "+m.Name, newer, m.Version)
			for _, old := range before.Machines {
				if old.Name == m.Name {
					t.Errorf("want %s replaced", m.Name)
				}
			}
		}
		check(w, "group", before.Groups[0].Path, p.Groups[0].Path)
		check(w, "version of the kubelets", "v"+newer, w.host.machines()[p.Machines[0].Name].KubeletVersion)
	})
}

// TestGKERecreatedWhileItDrains holds that an upgrade ends in which a node that drains is created anew under its name: the new one stays,
// and others drain after it.
func TestGKERecreatedWhileItDrains(t *testing.T) {
	gke(t, 3, func(w *world) {
		w.do(http.MethodPut, pools+"/p", doc{"nodeVersion": newer})
		w.rest(50 * time.Second) // until the first one drains
		if err := w.Terminate(w.pool("p").Machines[0].Name); err != nil {
			t.Fatal(err)
		}
		w.settled("c")
		p := w.pool("p")
		check(w, "nodes", 3, len(p.Machines))
		for _, m := range p.Machines {
			check(w, "version of "+m.Name, newer, m.Version)
		}
	})
}

// TestGKEBlueGreen upgrades a node pool in two sets, and takes another upgrade back.
func TestGKEBlueGreen(t *testing.T) {
	gke(t, 2, func(w *world) {
		w.do(http.MethodPut, pools+"/p", doc{"upgradeSettings": doc{"strategy": "BLUE_GREEN"}})
		w.settled("c")
		old := w.pool("p").Groups[0].Path
		w.do(http.MethodPut, pools+"/p", doc{"nodeVersion": newer})
		var phases []string
		for range 500 {
			p := w.get(pools + "/p")
			phase := document.Text(p, "updateInfo.blueGreenInfo.phase")
			if len(phases) == 0 || phases[len(phases)-1] != phase {
				phases = append(phases, phase)
			}
			if phase == "NODE_POOL_SOAKING" {
				check(w, "groups", 2, len(document.Texts(p, "instanceGroupUrls")))
				check(w, "green version", newer, document.Text(p, "updateInfo.blueGreenInfo.greenPoolVersion"))
				check(w, "completeUpgrade", 0, len(w.do(http.MethodPost, pools+"/p:completeUpgrade", nil)))
			}
			if phase == "" {
				break
			}
			w.rest(5 * time.Second)
		}
		want := "UPDATE_STARTED CREATING_GREEN_POOL CORDONING_BLUE_POOL DRAINING_BLUE_POOL NODE_POOL_SOAKING DELETING_BLUE_POOL "
		check(w, "phases", want, strings.Join(phases, " "))
		p := w.pool("p")
		check(w, "groups", 1, len(p.Groups))
		if p.Groups[0].Path == old || p.Version != newer || len(p.Machines) != 2 {
			t.Errorf("want two new nodes in another group, got %+v", p)
		}

		w.do(http.MethodPut, pools+"/p", doc{"machineType": "e2-standard-2"})
		w.rest(10 * minute)
		w.do(http.MethodPost, pools+"/p:rollback", nil)
		w.settled("c")
		back := w.pool("p")
		if back.Groups[0].Path != p.Groups[0].Path || back.MachineType != "e2-medium" || back.Upgrading {
			t.Errorf("want the nodes and the machine type of before, got %+v", back)
		}
	})
}

// TestGKECancel cancels an upgrade, resumes it, and takes a cancelled one back.
func TestGKECancel(t *testing.T) {
	gke(t, 2, func(w *world) {
		op := document.Text(w.do(http.MethodPut, pools+"/p", doc{"nodeVersion": newer}), "name")
		w.rest(minute)
		operation := "/v1/projects/simulated-project/locations/us-central1-a/operations/" + op
		w.do(http.MethodPost, operation+":cancel", nil)
		check(w, "status", "ABORTING", document.Text(w.get(operation), "status"))
		w.settled("c")
		check(w, "status once the surge is gone", "DONE", document.Text(w.get(operation), "status"))
		check(w, "nodes after it was cancelled", 2, len(w.pool("p").Machines))
		check(w, "code", 1.0, document.Dig(w.get(operation), "error.code"))
		check(w, "version after it was cancelled", version, w.pool("p").Version)
		w.do(http.MethodPut, pools+"/p", doc{"nodeVersion": newer})
		w.settled("c")
		for _, m := range w.pool("p").Machines {
			check(w, "version after it went on", newer, m.Version)
		}
		w.do(http.MethodPut, pools+"/p", doc{"machineType": "e2-standard-2"})
		w.rest(minute)
		w.refused(http.MethodPost, pools+"/p:rollback", nil, http.StatusBadRequest, "failedPrecondition")
		w.do(http.MethodPost, strings.Replace(operation, op, w.operation(), 1)+":cancel", nil)
		w.settled("c")
		w.do(http.MethodPost, pools+"/p:rollback", nil)
		w.settled("c")
		p := w.pool("p")
		check(w, "machine type after the rollback", "e2-medium", p.MachineType)
		check(w, "nodes after the rollback", 2, len(p.Machines))
		for _, m := range p.Machines {
			check(w, "stale after the rollback", false, m.Stale)
		}
	})
}

// pausedGreen runs a test on a node pool of two nodes whose blue-green upgrade is cancelled some time after it began.
func pausedGreen(t *testing.T, after time.Duration, f func(*world)) {
	gke(t, 2, func(w *world) {
		w.do(http.MethodPut, pools+"/p", doc{"upgradeSettings": doc{"strategy": "BLUE_GREEN",
			"blueGreenSettings": doc{"nodePoolSoakDuration": "60s",
				"standardRolloutPolicy": doc{"batchNodeCount": 1}}}})
		w.settled("c")
		op := document.Text(w.do(http.MethodPut, pools+"/p", doc{"nodeVersion": newer}), "name")
		w.rest(after)
		check(w, "phase", "CREATING_GREEN_POOL", w.pool("p").Phase)
		w.cancel(op)
		w.settled("c")
		f(w)
	})
}

// cancel cancels an operation.
func (w *world) cancel(op string) {
	w.do(http.MethodPost, "/v1/projects/simulated-project/locations/us-central1-a/operations/"+op+":cancel", nil)
}

// resumed has an upgrade go on, and looks at its version and its two nodes when it has ended.
func (w *world) resumed() {
	w.do(http.MethodPut, pools+"/p", doc{"nodeVersion": newer})
	w.settled("c")
	p := w.pool("p")
	check(w, "version", newer, p.Version)
	check(w, "nodes", 2, p.Nodes)
	check(w, "machines", 2, len(p.Machines))
}

// TestGKEPausedEarly cancels a blue-green upgrade before it has its new nodes, and has it go on.
func TestGKEPausedEarly(t *testing.T) {
	pausedGreen(t, 15*time.Second, (*world).resumed)
}

// TestGKEResumedWithFewer has an old node deleted while a blue-green upgrade is paused: the new ones stay as many as they were.
func TestGKEResumedWithFewer(t *testing.T) {
	pausedGreen(t, 25*time.Second, func(w *world) {
		p := w.pool("p")
		check(w, "nodes of both sides", 4, len(p.Machines))
		old := slices.IndexFunc(p.Machines, func(m container.InspectedMachine) bool { return m.Version == version })
		path := "/compute/v1/" + p.Groups[0].Path
		w.do(http.MethodPost, path+"/deleteInstances", doc{"instances": []any{"zones/us-central1-a/instances/" + p.Machines[old].Name}})
		w.rest(2 * minute)
		w.resumed()
	})
}

// TestGKEFailedUpgrade lets no new node join: the upgrade gives up, gives its surge back, and the old nodes stay.
func TestGKEFailedUpgrade(t *testing.T) {
	gke(t, 2, func(w *world) {
		before := w.pool("p")
		if err := w.Faults().Add(sim.Fault{Kind: sim.NeverBoots}); err != nil {
			t.Fatal(err)
		}
		w.do(http.MethodPut, pools+"/p", doc{"nodeVersion": newer})
		w.rest(40 * minute)
		w.settled("c")
		p := w.pool("p")
		check(w, "status", "RUNNING_WITH_ERROR", p.Status)
		check(w, "version", version, p.Version)
		if len(p.Machines) != 2 || p.Machines[0].Name != before.Machines[0].Name || p.Machines[1].Name != before.Machines[1].Name {
			t.Errorf("want the nodes of before, got %+v", p.Machines)
		}
		w.Faults().Clear()
		w.do(http.MethodPut, pools+"/p", doc{"nodeVersion": newer})
		w.settled("c")
		check(w, "version after it was resumed", newer, w.pool("p").Version)
	})
}
