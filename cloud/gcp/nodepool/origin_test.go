package nodepool_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/gcp/container"
)

// TestAutomaticUpgradeIsLeft holds that an upgrade of nodes that GKE begins by itself, to a newer version than the wanted one, is neither
// cancelled nor rolled back, and that its version stays: with surge and blue-green, to a driver that has seen it begin and to one that has
// not, whether GKE shows who began it or not. Its operation has the type of any other upgrade.
func TestAutomaticUpgradeIsLeft(t *testing.T) {
	for _, how := range []string{"surge", "blue-green"} {
		for _, hidden := range []bool{false, true} {
			on := sim.Switches{}
			if hidden {
				on = sim.Switches{container.HidesUpgrades}
			}
			for _, seen := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, hidden: %t, seen: %t", how, hidden, seen), func(t *testing.T) {
					inWorldAs(t, on, func(w *world) {
						if how == "blue-green" {
							w.blueGreen()
						}
						w.automaticUpgrade(seen)
					})
				})
			}
		}
	}
}

// automaticUpgrade has GKE upgrade a node pool of three machines.
func (w *world) automaticUpgrade(seen bool) {
	w.Helper()
	p := newPlay(w, 3)
	p.run(maxPasses)
	if err := w.cloud.GKE.UpgradePool(clusterName+"/"+poolName, ""); err != nil {
		w.Fatal(err)
	}
	running := false
	sent := w.sent(func() {
		for n := range 60 {
			o := p.look()
			if r := o.ProviderRollout; r.Runs() {
				running = running || r.ByOthers
			}
			if !seen && n == 20 {
				w.newcomer()
			}
			p.pass()
		}
		p.run(maxPasses)
	})
	if len(p.steps) > 0 || slices.ContainsFunc(sent, func(call string) bool {
		return strings.HasSuffix(call, ".cancel") || strings.HasSuffix(call, ".rollback") || strings.HasSuffix(call, ".update")
	}) {
		w.Errorf("want the upgrade left alone, got the steps %v", p.steps)
	}
	o := p.look()
	if is := w.held(); !running || is.Version != master || fresh(o) != 3 || len(o.Issues) != 1 || o.Issues[0].Reason != "NewerVersion" {
		w.Errorf("want a rollout of others, and its version kept, got %t, %s, %d of 3, %+v", running, is.Version, fresh(o), o.Issues)
	}
}

// TestAutomaticUpgradeThatFails holds that the machines which a failed automatic upgrade leaves are not replaced by older ones, and that a
// blue-green one goes on. The machine that a failed upgrade with surge leaves beside the others goes.
func TestAutomaticUpgradeThatFails(t *testing.T) {
	for how, c := range map[string]struct {
		after time.Duration
		want  string
	}{"surge": {2 * time.Minute, string(pool.Remove)}, "blue-green": {6 * time.Minute, string(pool.StartProviderRollout)}} {
		t.Run(how, func(t *testing.T) {
			inWorld(t, func(w *world) {
				if how == "blue-green" {
					w.blueGreen()
				}
				p := newPlay(w, 3)
				p.run(maxPasses)
				if err := w.cloud.GKE.UpgradePool(clusterName+"/"+poolName, ""); err != nil {
					w.Fatal(err)
				}
				<-time.After(c.after)
				p.look()
				if err := w.cloud.GKE.FailPool(clusterName+"/"+poolName, "GCE_STOCKOUT", "none left"); err != nil {
					w.Fatal(err)
				}
				settle()
				w.newcomer()
				if steps := p.run(maxPasses); steps != c.want {
					w.Errorf("want the steps %q, got %q", c.want, steps)
				}
				if o := p.look(); fresh(o) != len(o.Instances) || len(o.Instances) != 3 {
					w.Errorf("want no machine replaced, got %d of %d as wanted", fresh(o), len(o.Instances))
				}
			})
		})
	}
}
