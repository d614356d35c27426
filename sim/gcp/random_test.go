package gcp_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp"
)

// walks is how many random walks are taken, with -short shortWalks, steps how many steps each has.
const walks, shortWalks, steps = 60, 12, 40

// TestAnyWalkComesToRest holds that whatever is done to a group, it comes to rest with as many instances as it wants, all of which run, and
// with no other machine on.
func TestAnyWalkComesToRest(t *testing.T) {
	seeds := uint64(walks)
	if testing.Short() {
		seeds = shortWalks
	}
	for seed := range seeds {
		inBubble(t, gcp.Options{Seed: seed}, func(w *world) {
			k := &walk{world: w, r: rand.New(rand.NewPCG(seed, 1)), path: groups + "/pool"}
			if seed%2 == 1 {
				k.path = regional + "/pool"
			}
			k.begin()
			for range steps {
				k.step()
				w.rest(time.Duration(k.r.IntN(8000)) * time.Millisecond)
			}
			k.end()
			if t.Failed() {
				t.Fatalf("seed %d: %v", seed, k.done)
			}
		})
	}
}

// walk is a group to which random things are done.
type walk struct {
	*world
	r    *rand.Rand
	path string
	done []string
}

func (k *walk) begin() {
	first := k.template("t0", spot)
	k.template("t1", spot)
	k.template("t2", spot, func(d doc) { document.Place(d, "properties.machineType", "n2-standard-4") })
	d := doc{"name": "pool", "targetSize": k.r.IntN(6), "instanceTemplate": first}
	k.do(http.MethodPost, k.path[:len(k.path)-len("/pool")], d)
}

// spot has Compute Engine take instances back.
func spot(d doc) { document.Place(d, "properties.scheduling", doc{"provisioningModel": "SPOT"}) }

// some names random instances of the group by their URLs.
func (k *walk) some() (names []string, links []any) {
	all := k.managed(k.path)
	for _, name := range keys(all) {
		if k.r.IntN(3) == 0 {
			names, links = append(names, name), append(links, all[name]["instance"])
		}
	}
	return names, links
}

// step does one thing. What is refused has no effect, and is as good.
func (k *walk) step() {
	k.Helper()
	names, links := k.some()
	named := doc{"instances": links, "skipInstancesOnValidationError": true}
	only := doc{"instances": links}
	switch n := k.r.IntN(12); n {
	case 0, 1:
		k.act("resize", k.path+fmt.Sprintf("/resize?size=%d", k.r.IntN(8)), nil)
	case 2:
		k.act("delete", k.path+"/deleteInstances", named)
	case 3:
		k.act("recreate", k.path+"/recreateInstances", only)
	case 4:
		k.act("abandon", k.path+"/abandonInstances", only)
	case 5:
		k.act("template", k.path+"/setInstanceTemplate", doc{"instanceTemplate": fmt.Sprintf("global/instanceTemplates/t%d", k.r.IntN(3))})
	case 6:
		k.act("apply", k.path+"/applyUpdatesToInstances", doc{"allInstances": true})
	case 7:
		k.patch(doc{"updatePolicy": doc{"type": []string{"PROACTIVE", "OPPORTUNISTIC"}[k.r.IntN(2)]}})
	case 8:
		k.patch(doc{"allInstancesConfig": doc{"properties": doc{"labels": doc{"n": fmt.Sprint(k.r.IntN(3))}}}})
	case 9:
		k.act("create", k.path+"/createInstances", doc{"instances": []any{doc{"name": fmt.Sprintf("mine-%d", k.r.IntN(5))}}})
	case 10:
		zones := []string{"a", "b", "c", "f"}
		if err := k.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Zone: "us-central1-" + zones[k.r.IntN(4)], Times: 3}); err != nil {
			k.Fatal(err)
		}
	case 11:
		k.harm(names)
	}
}

// act sends a request that may be refused.
func (k *walk) act(what, path string, body any) {
	status, _ := k.ask(http.MethodPost, path, body)
	k.done = append(k.done, fmt.Sprintf("%s %v: %d", what, body, status))
}

func (k *walk) patch(body doc) {
	status, _ := k.ask(http.MethodPatch, k.path, body)
	k.done = append(k.done, fmt.Sprintf("patch %v: %d", body, status))
}

// harm does something to instances that the group has not asked for.
func (k *walk) harm(names []string) {
	for _, name := range names {
		harms := []func(string) error{k.Stop, k.Terminate, k.Preempt, k.Sicken}
		n := k.r.IntN(len(harms))
		k.done = append(k.done, fmt.Sprintf("harm %d %s: %v", n, name, harms[n](name)))
	}
}

// end lets everything come to rest, and looks.
func (k *walk) end() {
	k.Helper()
	k.Faults().Clear()
	k.rest(2 * time.Hour)
	g := k.get(k.path)
	size, _ := document.Number(g, "targetSize")
	members := k.managed(k.path)
	check(k.world, "instances", size, len(members))
	check(k.world, "stable", true, document.Truth(g, "status.isStable"))
	for name, m := range members {
		check(k.world, name+" action", "NONE", document.Text(m, "currentAction"))
		check(k.world, name+" state", "RUNNING", document.Text(m, "instanceStatus"))
	}
	var running []string
	items, _ := k.get(base + "/aggregated/instances")["items"].(doc)
	for _, scope := range items {
		under, _ := scope.(doc)
		for _, one := range document.Objects(under, "instances") {
			if document.Text(one, "status") == "RUNNING" {
				running = append(running, document.Text(one, "name"))
			}
		}
	}
	slices.Sort(running)
	if on := keys(k.host.machines()); !slices.Equal(on, running) {
		k.Errorf("machines: want those of running instances %v, got %v", running, on)
	}
}
