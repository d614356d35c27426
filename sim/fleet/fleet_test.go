package fleet_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/fleet"
)

// vm is a machine of a cloud: its name begins with that of its zone.
type vm struct {
	fleet.Machine
	fleet.Disruptions
	name         string
	running, old bool
}

// host notes what is powered on and off.
type host struct{ calls []string }

func (h *host) PowerOn(m sim.Machine) { h.calls = append(h.calls, "on "+m.ID) }
func (h *host) PowerOff(id string)    { h.calls = append(h.calls, "off "+id) }
func (*host) Console(string) []byte   { return nil }

// cloud returns the machines of a group, numbered in the order of their names, and their host.
func cloud(t *testing.T, names string, faults ...sim.Fault) (*fleet.Machines[vm, *vm], *host) {
	t.Helper()
	h := &host{}
	state := core.NewState(&core.Environment{Host: h, Faults: sim.NewFaults(1, sim.Known{})}, "")
	if err := state.Faults.Add(faults...); err != nil {
		t.Fatal(err)
	}
	all := fleet.New(state, "vm/", fleet.Kind[*vm]{
		Group: func(*vm) string { return "g" }, Occupies: func(m *vm) bool { return !m.old }, Runs: func(m *vm) bool { return m.running },
		Guest: func(m *vm) sim.Machine { return sim.Machine{ID: m.name} },
	})
	for i, name := range strings.Fields(names) {
		m := &vm{Machine: fleet.Machine{Number: int64(-i), Zone: name[:1], Type: "small"}, name: name, running: true}
		all.Put("g|"+name, m)
	}
	return all, h
}

func named(machines []*vm) string {
	var out []string
	for _, m := range machines {
		out = append(out, m.name)
	}
	return strings.Join(out, " ")
}

func TestPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, zones string
		fault      sim.Fault
		want       string
	}{
		{"without a fault in the first zone", "a b", sim.Fault{Kind: sim.NeverBoots}, "a"},
		{"in the first zone that has capacity", "a b", sim.Fault{Kind: sim.NoCapacity, Zone: "a"}, "b"},
		{"in none", "a b", sim.Fault{Kind: sim.NoCapacity}, "full"},
		{"within the limit of the zone", "a", sim.Fault{Kind: sim.NoCapacity, Zone: "a", Limit: 3}, "a"},
		{"beyond the limit of the zone", "a b", sim.Fault{Kind: sim.NoCapacity, Zone: "a", Limit: 2}, "b"},
		{"beyond the limit of a pattern", "a b", sim.Fault{Kind: sim.NoCapacity, Zone: "[ab]", Limit: 3}, "full"},
		{"within the limit of another type", "a", sim.Fault{Kind: sim.NoCapacity, Type: "large", Limit: 1}, "a"},
		{"beyond the limit of its group", "a", sim.Fault{Kind: sim.NoCapacity, Group: "g", Limit: 3}, "full"},
		{"within the limit of another group", "a", sim.Fault{Kind: sim.NoCapacity, Group: "h", Limit: 1}, "a"},
	} {
		all, _ := cloud(t, "a1 a2 b1 a3", c.fault)
		all.Get("g|a3").old = true
		got, _, full := all.Place(strings.Fields(c.zones), "small", "g")
		if full != nil {
			got = "full"
		}
		if got != c.want {
			t.Errorf("%s: want %s, got %s", c.why, c.want, got)
		}
	}
}

func TestDisrupt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	later := func(kind sim.FaultKind) sim.Fault { return sim.Fault{Kind: kind, Delay: sim.Duration(time.Minute)} }
	faults := []sim.Fault{later(sim.NeverBoots), later(sim.Impaired), later(sim.Dies), later(sim.SpotInterruption)}
	want := fleet.Disruptions{NeverBoots: true, ImpairedAt: now.Add(time.Minute), StopsAt: now.Add(time.Minute)}
	var got fleet.Disruptions
	if got.Disrupt(faults, false, now); got != want {
		t.Errorf("on demand: want %v, got %v", want, got)
	}
	want.ReclaimAt = now.Add(time.Minute)
	if got.Disrupt(faults, true, now); got != want {
		t.Errorf("spot: want %v, got %v", want, got)
	}
}

func TestOrderAndSurplus(t *testing.T) {
	t.Parallel()
	machines, _ := cloud(t, "a1 b1 a2 c1 a3")
	all := machines.Of("g|")
	if got := named(all); got != "a3 c1 a2 b1 a1" {
		t.Errorf("want machines by their numbers, got %s", got)
	}
	if got := strings.Join(fleet.SpreadOf(all).Emptiest([]string{"a", "c", "d", "b"}), ""); got != "dcba" {
		t.Errorf("want the zones with the fewest machines first, got %s", got)
	}
	open := slices.DeleteFunc(slices.Clone(all), func(m *vm) bool { return m.name == "a2" })
	for many, want := range []string{"", "a1", "a1 a3", "a1 a3 b1", "a1 a3 b1 c1", "a1 a3 b1 c1"} {
		got := named(fleet.Surplus(all, open, many, func(stay []*vm) func(a, b *vm) int {
			spread := fleet.SpreadOf(stay)
			return func(a, b *vm) int { return cmp.Or(spread.ByMost(a.Zone, b.Zone), cmp.Compare(a.name, b.name)) }
		}))
		if got != want {
			t.Errorf("%d machines too many: want %q removed, got %q", many, want, got)
		}
	}
}

func TestPower(t *testing.T) {
	t.Parallel()
	all, h := cloud(t, "a1 a2 a3")
	all.Get("g|a2").running, all.Get("g|a3").NeverBoots = false, true
	all.Resume()
	all.PowerOff("x")
	all.PowerOn("g|a2") // it stopped again before the state was on disk
	all.PowerOn("g|a4") // it is gone already
	all.Power()
	all.Power()
	if got := strings.Join(h.calls, ", "); got != "off x, on a1" {
		t.Errorf("want the machine that runs and boots powered on once, got %q", got)
	}
}
