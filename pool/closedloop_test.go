package pool

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write docs/closed-loop.md anew")

// loop is one closed loop that is known of the best algorithm in use, with what became of it there.
type loop struct {
	name, today string
	n           int
	d           Desired
	content     string
	// then is the content that is asked for after everything has come to rest; empty for none.
	then string
	// want is the outcome of Muster on every cloud: the numbers of machines that are created and removed, the least that serve and the most
	// that exist, how it ends, and, after a second change, how that ends.
	want string
}

// loops returns the rows of the table. The outcomes of today's algorithm were measured against a toy cloud.
func loops() []loop {
	newest := func(d *Desired) { d.DeletePolicy = Newest }
	skip := func(d *Desired) { d.SkipModel = true }
	return []loop{
		{"3 machines, surge 1, Oldest", "3 made, 3 gone, 3 to 4", 3, wants(3, rolls(1, 0)), "b", "", "3 made, 3 gone, 3 to 4, Done"},
		{"3 machines, surge 1, Newest", "3 made, 3 gone, 3 to 4", 3, wants(3, rolls(1, 0), newest), "b", "", "3 made, 3 gone, 3 to 4, Done"},
		{"3 machines, unavailable 1", "done, 2 to 3", 3, wants(3, rolls(0, 1)), "b", "", "3 made, 3 gone, 2 to 3, Done"},
		{"10 machines, surge 25 %, unavailable 1", "**12 made, 12 gone** (two brand-new ones wasted), 9 to 13", 10, wants(10, rolling25), "b", "",
			"10 made, 10 gone, 9 to 13, Done"},
		{"10 machines, surge 100 %", "done, 10 to 20", 10, wants(10, by(percent(100), percent(0))), "b", "", "10 made, 10 gone, 10 to 20, Done"},
		{"3 machines, unavailable 5", "all gone at once, 0 serve", 3, wants(3, rolls(0, 5)), "b", "", "3 made, 3 gone, 0 to 3, Done"},
		{"surge 0 %, unavailable 0", "taken, and **never rolls**", 3, wants(3, by(percent(0), percent(0))), "b", "",
			"0 made, 0 gone, 3 to 3, None: StrategyInvalid"},
		{"bad image, surge 1", "stops at 3 old and 1 new, **for ever and without a word**", 3, wants(3, rolls(1, 0)), "bad", "c",
			"1 made, 0 gone, 3 to 4, Halted: RolloutHalted; then good: Done"},
		{"bad image, surge 1, unavailable 1", "stops at 2 old and 2 new", 3, wants(3, rolls(1, 1)), "bad", "c",
			"2 made, 1 gone, 2 to 4, Halted: RolloutHalted; then good: Done"},
		{"bad image, unavailable 1", "stops at 2 old and 1 new; a good image afterwards does **not** recover", 3, wants(3, rolls(0, 1)), "bad",
			"c", "1 made, 1 gone, 2 to 3, Halted: RolloutHalted; then good: Done"},
		{"bad image, unavailable 1, then back", "likewise", 3, wants(3, rolls(0, 1)), "bad", "a",
			"1 made, 1 gone, 2 to 3, Halted: RolloutHalted; then good: Done"},
		{"list with images, surge 1 (Flexible)", "**stalls** at 2 old and 1 new", 3, wants(3, rolls(1, 0)), "b", "",
			"3 made, 3 gone, 3 to 4, Done"},
		{"list with images, surge 1, unavailable 1 (Flexible)", "done; surplus comes back by a plain scale-up alone", 3, wants(3, rolls(1, 1)),
			"b", "", "3 made, 3 gone, 2 to 4, Done"},
		{"list without images, surge 1 (Flexible)", "the replacement is removed: **0 of 3 rolled**, for ever", 3, wants(3, rolls(1, 0)), "b", "",
			"3 made, 3 gone, 3 to 4, Done"},
		{"list without images, unavailable 1 (Flexible)", "**endless**: 20 made, 21 gone in 60 rounds", 3, wants(3, rolls(0, 1)), "b", "",
			"3 made, 3 gone, 2 to 3, Done"},
		{"model skipped, surge 1, Oldest", "**everything replaced** in spite of the gate", 3, wants(3, rolls(1, 0), skip), "b", "",
			"0 made, 0 gone, 3 to 3, Done"},
		{"model skipped, surge 1, Newest", "**endless**: 20 made, 20 gone", 3, wants(3, rolls(1, 0), skip, newest), "b", "",
			"0 made, 0 gone, 3 to 3, Done"},
		{"model skipped, unavailable 1", "stale ones stay", 3, wants(3, rolls(0, 1), skip), "b", "", "0 made, 0 gone, 3 to 3, Done"},
		{"image, and from 5 to 3", "done; one machine removed by the cloud **without a drain**", 5, wants(3, rolls(1, 0)), "b", "",
			"3 made, 5 gone, 3 to 5, Done"},
		{"image, and from 3 to 5", "done, at most 6", 3, wants(5, rolls(1, 0)), "b", "", "5 made, 3 gone, 3 to 6, Done"},
	}
}

// clouds are the kinds of cloud on which a loop is played: what a plain group can, one that sets machines aside, one that knows no
// replacement, and a scale set.
var clouds = map[string]Traits{"replaces": quick(), "sets aside": onQuick(setsAside), "only removes": onQuick(noReplace),
	"scale set": onQuick(scaleSet)}

func onQuick(change func(*Traits)) Traits {
	tr := quick()
	change(&tr)
	return tr
}

// play lets a loop run, and says what became of it. Each of its steps is held against the rules.
func (l loop) play(t *testing.T, tr Traits) string {
	c := stocked(l.n, tr)
	c.bad["v1:bad"] = true
	c.change(l.content)
	var p Plan
	for range 800 {
		p = c.pass(t, l.d)
	}
	text := fmt.Sprintf("%d made, %d gone, %d to %d, %s", c.made, c.ended, c.lowest, c.highest, p.Rollout.State)
	if p.Rollout.Cause.Reason != "" {
		text += ": " + p.Rollout.Cause.Reason
	}
	if l.then == "" {
		return text
	}
	c.change(l.then)
	_, p = c.run(t, l.d, 3*time.Hour)
	return text + "; then good: " + string(p.Rollout.State)
}

// The closed loops that are known of another provider, each with what becomes of it here, on every kind of cloud. The table
// is written down in docs/closed-loop.md.
func TestClosedLoops(t *testing.T) {
	text := &strings.Builder{}
	text.WriteString(closedLoopHead)
	names := slices.Sorted(maps.Keys(clouds))
	for k, l := range loops() {
		for at, name := range names {
			if testing.Short() && k%len(names) != at {
				continue // each loop on one cloud, each cloud in its turn
			}
			tr := clouds[name]
			t.Run(l.name+", "+name, func(t *testing.T) {
				if got := l.play(t, tr); got != l.want {
					t.Errorf("want %s, got %s", l.want, got)
				}
			})
		}
		fmt.Fprintf(text, "| %s | %s | %s |\n", l.name, l.today, l.want)
	}
	const file = "../docs/closed-loop.md"
	if *update {
		if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	is, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(is) != text.String() {
		t.Errorf("%s is not what the loops are: run go test ./pool -run TestClosedLoops -args -update", file)
	}
}

const closedLoopHead = `# Closed loops

The outcome of each known rollout when planner and cloud play against each other until nothing changes any more, beside that of the
best-known algorithm in use.
` + "`TestClosedLoops`" + ` in ` + "`pool`" + ` writes the table, and fails when it is no longer true:

    go test ./pool -run TestClosedLoops

## How to read the table

* "Today" is the algorithm of AzureMachinePool, run against a toy scale set.
* "Muster" is ` + "`pool.Decide`" + ` against four clouds: one that replaces machines, one with standby, one that only removes machines, and one like scale sets (the template is
  a part of the group, and Muster replaces failed machines). The outcome is the same on all four.
* "9 to 13" are the fewest machines that served at any time, and the most that existed. Machines of a bad image never join.
* Every row is a change of the image. Machines take five minutes to join, a pass runs every ten seconds, and each
  step is checked against the rules: drained before removal, never below what must serve, never above the surge.
* Scale sets whose list shows no images have the same outcome as others: a machine is stale by the content that it was launched
  from, which the driver keeps with it, not by what a list shows.

## Outcomes

| Setting | Today | Muster |
| --- | --- | --- |
`

// A bad image is rolled forward and back, whatever the strategy: no wedge.
func TestBadImageIsNoWedge(t *testing.T) {
	for name, strategy := range map[string]func(*Desired){"surge": rolls(1, 0), "unavailable": rolls(0, 1), "both": rolls(1, 1),
		"all": rolls(0, 3)} {
		for content, made := range map[string]string{"c": "forward", "a": "back"} {
			t.Run(name+" "+made, func(t *testing.T) {
				d, c := wants(3, strategy), stocked(3, quick())
				c.bad["v1:bad"] = true
				c.change("bad")
				for range 200 {
					c.pass(t, d)
				}
				c.change(content)
				if took, p := c.run(t, d, 3*time.Hour); p.Rollout.State != RolloutDone || len(c.o.Instances) != 3 {
					t.Fatalf("want the pool well again, got %s after %s", say(p), took)
				}
			})
		}
	}
}

// Whatever the fleet, and though some of its machines never join, a pool that waits for no event outside of it ends with as many machines
// as are wanted and all of them serving, or names what keeps it from that.
func TestNoDeadlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, o := aDesired().Draw(t, "desired"), aFleet().Draw(t, "observed")
		d.StepsInBackoff, d.CreateBlocked, d.RolloutPaused, d.NoDrain, d.Deleting, d.ReplicasManagedExternally = nil, nil, nil, nil, false, false
		unlimited(&d)
		o.Wanted.Content, o.Wanted.UserManaged, o.NodesUnknown, o.ProviderRollout = "v1:0", false, false, nil
		if o.Group == nil || o.Group.Deleting {
			t.Skip("there is no group")
		}
		o.Group.Failed, o.Group.Busy, o.Group.ScaleUpFailedAt, o.Group.Unchangeable = nil, nil, time.Time{}, nil
		tr := someTraits().Draw(t, "traits")
		c := &ideal{o: copied(seenBy(tr, o)), now: now, tr: tr, barren: map[string]bool{}}
		for k := range c.o.Instances {
			i := &c.o.Instances[k]
			i.DeletionRequested, i.TerminationNotice, i.LifecycleHook = nil, nil, nil
			if i.Created.IsZero() {
				i.Created = now
			}
			if i.Node != nil {
				i.Node.SkipRemediation = false
			} else if rapid.Bool().Draw(t, "never joins") {
				c.barren[i.ID] = true
			}
		}
		fails := rapid.IntRange(0, 2).Draw(t, "new machines that never join")
		for pass := range 2 * (passBound(d, c.o)) {
			p := Decide(d, c.o, c.tr, c.now)
			if p.Step != nil {
				c.do(t, *p.Step)
			}
			first := c.next
			if c.tick(); pass > 0 {
				c.now = c.now.Add(time.Minute)
			}
			for _, i := range c.o.Instances {
				if fails > 0 && i.ID >= fmt.Sprintf("n-%d", first) && i.State == Pending {
					c.barren[i.ID], fails = true, fails-1
				}
			}
		}
		c.endsWell(t, d)
	})
}

// endsWell says what a pool that does not go on owes its user.
func (c *ideal) endsWell(t *rapid.T, d Desired) {
	p := Decide(d, c.o, c.tr, c.now)
	serve, list := 0, alive(c.o)
	for _, i := range list {
		if available(d, c.tr, i, c.now) {
			serve++
		}
	}
	named := p.Refused != nil || slices.ContainsFunc(p.Waiting, func(w Cause) bool {
		return slices.Contains([]string{"NodesJoining", budgetSpent, "RolloutHalted"}, w.Reason)
	})
	switch {
	case len(list) == d.Replicas && serve == d.Replicas:
	case !named:
		t.Fatalf("want %d that serve or to be told why not, got %d of %d and %s", d.Replicas, serve, len(list), say(p))
	case len(list) > d.Replicas && p.Rollout.State == RolloutDone:
		t.Fatalf("want %d machines, got %d of which %d serve, and %s", d.Replicas, len(list), serve, say(p))
	}
}
