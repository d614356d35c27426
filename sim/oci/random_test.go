package oci_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/evidence"
	"github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/oci/compute"
)

// player plays at random with an instance pool.
type player struct {
	*client
	*rand.Rand
	path    string
	host    *powers
	history []string
}

// step makes one change as a client or by hand, which may be refused, or lets time pass.
func (p *player) step() {
	members := p.members(p.path)
	instance := func() string {
		if len(members) == 0 {
			return "ocid1.instance.oc1.iad.none"
		}
		return document.Text(members[p.IntN(len(members))], "id")
	}
	ask := func(method, path string, body doc) func() {
		return func() {
			var sent any
			if body != nil {
				sent = body
			}
			reply, text := p.ask(method, p.path+path, sent)
			p.history = append(p.history, fmt.Sprint(method, " ", path, " ", body, ": ", reply.StatusCode))
			if reply.StatusCode >= http.StatusInternalServerError {
				p.Errorf("%s %s %v: %d %s", method, path, body, reply.StatusCode, text)
			}
		}
	}
	hand := func(action sim.Action, on sim.Resource) func() {
		return func() {
			_, err := p.GroupCapabilities().OutOfBand.Do(action, on)
			p.history = append(p.history, fmt.Sprint(action, " ", on, ": ", err))
		}
	}
	domains := []any{place(p.IntN(3))}
	if p.IntN(2) == 0 {
		domains = []any{place(0), place(1, "FAULT-DOMAIN-2"), place(2)}
	}
	steps := []func(){
		ask(http.MethodPut, "", doc{"size": p.IntN(6)}), ask(http.MethodPut, "", doc{"placementConfigurations": domains}),
		ask(http.MethodPut, "", doc{"lifecycleManagement": hookOf(1 + p.IntN(600))}),
		ask(http.MethodPut, "", doc{"instanceConfigurationId": p.configuration(nil)}),
		ask(http.MethodPost, "/actions/detachInstance", doc{"instanceId": instance(), "isAutoTerminate": p.IntN(3) > 0,
			"isDecrementSize": p.IntN(2) == 0}),
		ask(http.MethodPost, "/actions/terminationProceed", doc{"instanceId": instance()}),
		ask(http.MethodPost, "/instances", doc{"instanceId": instance()}),
		ask(http.MethodPost, "/actions/"+[]string{"start", "stop", "reset"}[p.IntN(3)], nil),
		hand([]sim.Action{sim.TerminateInstance, sim.StopInstance, sim.DetachInstance, sim.InterruptInstance}[p.IntN(4)],
			sim.Resource{Instance: instance()}),
		hand([]sim.Action{sim.RemoveHooks, sim.StopGroup, sim.StartGroup}[p.IntN(3)], sim.Resource{Name: "p"}),
		func() { pass(time.Duration(p.IntN(180)) * time.Second) }, func() { pass(time.Minute) },
	}
	steps[p.IntN(len(steps))]()
}

// holds compares what the pool shows with its instances, and these with the machines that are on.
func (p *player) holds() {
	p.Helper()
	pool, on := p.get(p.path), 0
	g := p.GroupSnapshot().Group("p")
	exists, staying, moving := 0, 0, false
	for _, m := range g.Members {
		exists++
		if !m.Leaving {
			staying++
		}
		if _, is := p.host.now()[m.ID]; is != (m.State == "RUNNING") {
			p.Errorf("instance %s is %s, and its machine is on: %t", m.ID, m.State, is)
		}
		moving = moving || m.Leaving || m.State == "PROVISIONING" || m.State == "STARTING"
	}
	for _, i := range p.GroupSnapshot().Instances {
		if _, is := p.host.now()[i.ID]; is {
			on++
		}
	}
	if pool["currentSize"] != float64(exists) || pool["size"].(float64) < 0 || on != len(p.host.now()) {
		p.Errorf("want %d instances and only machines of instances, got %v and %d of %d", exists, pool, on, len(p.host.now()))
	}
	if pool["lifecycleState"] == "RUNNING" && (moving || staying != g.Size) {
		p.Errorf("want the instances of a RUNNING pool at rest, got %+v", g)
	}
}

// TestRandomInstancePools: whatever is done to a pool, it agrees with its instances, and comes to rest.
func TestRandomInstancePools(t *testing.T) {
	if testing.Short() {
		t.Skip("forty changes of each of twenty pools")
	}
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random, host := rand.New(rand.NewPCG(seed, 0)), &powers{on: map[string]sim.Machine{}}
			on := slices.DeleteFunc(sim.DrawSwitches(evidence.Switches(compute.Beliefs()), random), func(s sim.Switch) bool {
				return s == compute.ForgetsTerminated
			})
			inCloud(t, oci.Options{Switches: on, Seed: seed, MachineHost: host}, func(k *client) {
				p := &player{client: k, Rand: random, path: k.createGroup(2, nil), host: host}
				if random.IntN(2) == 0 {
					if err := k.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Group: "p", Limit: 3, Probability: 0.5}); err != nil {
						t.Fatal(err)
					}
				}
				for range 40 {
					p.step()
					p.holds()
				}
				k.Faults().Clear()
				pass(time.Hour)
				p.holds()
				if state := k.get(p.path)["lifecycleState"]; state != "RUNNING" && state != "STOPPED" {
					t.Errorf("want the pool at rest, got %v", k.get(p.path))
				}
				if t.Failed() {
					t.Logf("switches %v: %q", on, p.history)
				}
			})
		})
	}
}
