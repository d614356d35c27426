package managed_test

import (
	"slices"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/managed"
)

// cluster is a workload: the nodes that are Ready, those that are cordoned, and those whose pods have budgets that allow nothing.
type cluster struct {
	unready, cordoned, guarded, forced map[string]bool
	on                                 map[string]sim.Machine
}

func (c *cluster) PowerOn(m sim.Machine)    { c.on[m.ID] = m }
func (c *cluster) PowerOff(string)          {}
func (c *cluster) Console(string) []byte    { return nil }
func (c *cluster) Ready(id string) bool     { return !c.unready[id] }
func (c *cluster) Cordon(id string, y bool) { c.cordoned[id] = y }
func (c *cluster) Mark(string, sim.Marks)   {}
func (c *cluster) Unregister(string)        {}
func (c *cluster) Drain(id string, force bool) bool {
	c.forced[id] = c.forced[id] || force
	return force || !c.guarded[id]
}

// world is a cluster whose clock stands at start, and the nodes that its cloud sees.
func world() (*core.State, *cluster, *managed.Nodes) {
	c := &cluster{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]sim.Machine{}}
	base := core.NewState(&core.Environment{Host: c}, "")
	base.Speed.Set(1)
	base.Now = start
	return base, c, managed.NewNodes(base)
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// machines returns machines that run: those named in capitals are stale.
func machines(keys string) []managed.Machine {
	var out []managed.Machine
	for _, key := range keys {
		out = append(out, managed.Machine{Key: string(key), UID: string(key), Up: true, Booted: start, Stale: key < 'a'})
	}
	return out
}

func keys(machines []managed.Machine) string {
	out := ""
	for _, m := range machines {
		out += m.Key
	}
	return out
}

func leavers(d managed.Departures) string {
	out := ""
	for key := range d {
		out += key
	}
	all := []rune(out)
	slices.Sort(all)
	return string(all)
}

func TestReady(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		machine managed.Machine
		alone   bool
		after   time.Duration
		want    bool
	}{
		{name: "one that runs and has joined", machine: managed.Machine{UID: "a", Up: true}, want: true},
		{name: "one whose node is not Ready", machine: managed.Machine{UID: "u", Up: true}},
		{name: "one that is off", machine: managed.Machine{UID: "a"}},
		{name: "one on its way out", machine: managed.Machine{UID: "a", Up: true, Deleting: true}},
		{name: "without a workload, half a minute after its boot", alone: true, after: 30 * time.Second,
			machine: managed.Machine{UID: "u", Up: true, Booted: start}, want: true},
		{name: "without a workload, before that", alone: true, after: 29 * time.Second,
			machine: managed.Machine{UID: "a", Up: true, Booted: start}},
		{name: "without a workload, one that never boots", alone: true, after: time.Hour, machine: managed.Machine{UID: "a", Up: true}},
		{name: "one of a cluster without an API server", after: time.Hour, machine: managed.Machine{UID: "u", Up: true, Booted: start,
			Unserved: true}, want: true},
	} {
		base, c, nodes := world()
		c.unready["u"] = true
		if row.alone {
			base.Host = nil
		}
		base.Now = start.Add(row.after)
		if got := nodes.Ready(row.machine); got != row.want {
			t.Errorf("%s: want Ready %v, got %v", row.name, row.want, got)
		}
	}
}

func TestDrain(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		guarded bool
		how     managed.Drain
		after   time.Duration
		want    managed.Progress
		forced  bool
	}{
		{name: "an empty one goes at once", how: managed.Drain{Limit: time.Minute}, want: managed.Drained},
		{name: "an empty one soaks", how: managed.Drain{Limit: time.Minute, Soak: time.Second}, want: managed.Draining},
		{name: "one whose pods may not go waits", guarded: true, how: managed.Drain{Limit: time.Minute}, after: 59 * time.Second,
			want: managed.Draining},
		{name: "and is stuck when its time is up", guarded: true, how: managed.Drain{Limit: time.Minute}, after: time.Minute,
			want: managed.Stuck},
		{name: "or goes all the same", guarded: true, how: managed.Drain{Limit: time.Minute, Late: managed.LateGoes}, after: time.Minute,
			want: managed.Drained},
		{name: "or has its pods deleted", guarded: true, how: managed.Drain{Limit: time.Minute, Late: managed.LateForces}, after: time.Minute,
			want: managed.Drained, forced: true},
		{name: "by force at once", guarded: true, how: managed.Drain{Limit: time.Minute, Force: true}, want: managed.Drained, forced: true},
	} {
		base, c, nodes := world()
		c.guarded["a"] = row.guarded
		leaving := managed.Departures{}
		d := nodes.Leave(leaving, machines("a")[0])
		base.Now = start.Add(row.after)
		if got := nodes.Drain(d, row.how); got != row.want || c.forced["a"] != row.forced || !c.cordoned["a"] {
			t.Errorf("%s: want %v, forced %v, and a cordoned node, got %v, %v, %v", row.name, row.want, row.forced, got, c.forced["a"],
				c.cordoned["a"])
		}
	}
}

// TestForget: a machine that is created anew under its name does not leave any more.
func TestForget(t *testing.T) {
	t.Parallel()
	_, _, nodes := world()
	leaving := managed.Departures{}
	nodes.Fewer(machines("abc"), leaving, 3)
	again := machines("ab")
	again[1].UID = "new"
	if leaving.Forget(again); leavers(leaving) != "a" {
		t.Errorf("want a alone to leave, got %s", leavers(leaving))
	}
}

func TestRoll(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, machines, unready, guarded, leaves string
		roll                                     managed.Roll
		// closed are the machines that leave afterwards.
		closed, drained, stuck string
	}{
		{name: "nothing may be missing", machines: "ABC", roll: managed.Roll{Want: 3}},
		{name: "a new one makes room for one", machines: "ABCd", roll: managed.Roll{Want: 3}, closed: "A"},
		{name: "one that is not Ready makes no room", machines: "ABCd", unready: "d", roll: managed.Roll{Want: 3}},
		{name: "two may be missing", machines: "ABC", roll: managed.Roll{Want: 3, Missing: 2}, closed: "AB"},
		{name: "one at a time", machines: "ABC", roll: managed.Roll{Want: 3, Missing: 2, AtOnce: 1}, closed: "A"},
		{name: "an old one that is not Ready needs no room", machines: "ABC", unready: "B", roll: managed.Roll{Want: 3}, closed: "B"},
		{name: "a drained one is replaced, and the next one leaves once another is Ready", machines: "ABC", leaves: "A",
			roll: managed.Roll{Want: 3, Missing: 1}, drained: "A"},
		{name: "a drained one counts no more against those at a time", machines: "ABC", leaves: "A",
			roll: managed.Roll{Want: 3, Missing: 2, AtOnce: 1}, drained: "A", closed: "B"},
		{name: "the first that can't be drained ends it", machines: "ABC", leaves: "AB", guarded: "AB", roll: managed.Roll{Want: 3, Missing: 3},
			stuck: "A", closed: "AB"},
		{name: "or it goes on without those", machines: "ABC", leaves: "AB", guarded: "AB", roll: managed.Roll{Want: 3, Missing: 3, Keeps: true},
			stuck: "AB", closed: "C"},
	} {
		base, c, nodes := world()
		for _, key := range row.unready {
			c.unready[string(key)] = true
		}
		for _, key := range row.guarded {
			c.guarded[string(key)] = true
		}
		leaving := managed.Departures{}
		nodes.Fewer(machines(row.leaves), leaving, len(row.leaves))
		base.Now = start.Add(time.Minute)
		row.roll.Drain = managed.Drain{Limit: time.Minute}
		turn := nodes.Roll(machines(row.machines), leaving, row.roll)
		if keys(turn.Drained) != row.drained || keys(turn.Stuck) != row.stuck || leavers(leaving) != row.closed {
			t.Errorf("%s: want drained %q, stuck %q, leaving %q, got %q, %q, %q", row.name, row.drained, row.stuck, row.closed,
				keys(turn.Drained), keys(turn.Stuck), leavers(leaving))
		}
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]int{"2": 2, "10%": 1, "33%": 4, "100%": 10, "": 0, "x": 0} {
		if got := managed.Share(written, 10); got != want {
			t.Errorf("want %d of 10 for %q, got %d", want, written, got)
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	versions := []string{"1.33.9", "1.33.10", "1.34.0", "1.34.1", "1.35.0"}
	for requested, want := range map[string]string{
		"1.33.9": "1.33.9", "1.33": "1.33.10", "1.34": "1.34.1", "1": "", "": "", "1.3": "", "1.33.1": "", "1.36": "", "v1.34.0": "",
	} {
		if got := managed.Offered(versions, requested); got != want {
			t.Errorf("want version %q for %q, got %q", want, requested, got)
		}
	}
	builds := []string{"1.34.2-gke.200", "1.34.2-gke.1000", "1.34.1-gke.3000"}
	if got := managed.Offered(builds, "1.34"); got != "1.34.2-gke.1000" {
		t.Errorf("want the newest build, got %q", got)
	}
	for limit, want := range map[string][]string{"": {"1.33.10", "1.34.0", "1.34.1"}, "1.34.0": {"1.33.10", "1.34.0"}, "1.33.9": {}} {
		if got := managed.Upgrades(versions, "1.33.9", limit); !slices.Equal(got, want) {
			t.Errorf("want upgrades %v up to %q, got %v", want, limit, got)
		}
	}
	if managed.Minor("1.34.2") != 34 || managed.Minor("1") != -1 || managed.Minor("1.x") != -1 {
		t.Error("want the minor number of a version, and -1 for none")
	}
}
