package pool

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// slow is a cloud in which machines take time to boot and drains take rounds, and in which things go wrong when a test wants
// them to.
type slow struct {
	ideal
	// boot is the time that a machine takes to join, round the time between two looks.
	boot, round time.Duration
	// bad contents make machines that never join; full is true if the cloud has no capacity now.
	// failing is true if machines fail as soon as they are made.
	bad           map[string]bool
	full, failing bool
	// made and ended count machines; lowest and highest are the least available and the most existing ever seen.
	made, ended, lowest, highest int
	// refusals counts how often the cloud could not bring what it was asked for.
	refusals int
}

// stocked is a slow cloud with n machines, all serving and all of the group's template.
func stocked(n int, tr Traits) *slow {
	o := fleet(serving(n))
	c := &slow{ideal: ideal{o: o, now: now, tr: tr}, boot: 5 * time.Minute, round: 10 * time.Second, bad: map[string]bool{}, lowest: n,
		highest: n}
	c.o.Group.Max = 1000
	return c
}

// change makes the specification ask for another content.
func (c *slow) change(content string) { c.o.Wanted.Content = "v1:" + content }

// pass decides until there is nothing to do at once, holding every step against the rules, and then lets time go on.
func (c *slow) pass(t failer, d Desired) Plan {
	var p Plan
	for range 40 {
		seen := c.seen()
		p = Decide(d, seen, c.tr, c.now)
		if p.Step == nil {
			break
		}
		if fault := unsafeStep(d, seen, c.tr, c.now, *p.Step); fault != "" {
			t.Fatalf("%s: %s", say(p), fault)
		}
		c.do(t, *p.Step)
		c.measure(d)
		if p.Step.Kind == Drain {
			break
		}
	}
	c.pause()
	c.measure(d)
	return p
}

// seen returns the observation of a pass: no node while the workload cluster is away.
func (c *slow) seen() Observed {
	o := copied(c.o)
	for k := range o.Instances {
		if o.NodesUnknown {
			o.Instances[k].Node = nil
		}
	}
	return o
}

func (c *slow) measure(d Desired) {
	serve := 0
	for _, i := range c.o.Instances {
		if available(d, c.tr, i, c.now) {
			serve++
		}
	}
	c.lowest, c.highest = min(c.lowest, serve), max(c.highest, len(alive(c.o)))
}

// pause lets the cloud do its part for one round.
func (c *slow) pause() {
	c.now = c.now.Add(c.round)
	c.o.Issues = nil
	before := len(c.o.Instances)
	c.o.Instances = slices.DeleteFunc(c.o.Instances, func(i Instance) bool {
		return i.State == Terminating || i.State == Failed && !c.tr.KeepsFailedInstances
	})
	c.ended += before - len(c.o.Instances)
	for k, i := range c.o.Instances {
		if c.o.NodesUnknown {
			continue
		}
		if i.Node == nil && i.State != Failed && c.now.Sub(i.Created) >= c.boot && !c.bad[i.Template.Content] {
			c.o.Instances[k].State, c.o.Instances[k].Node = Running, &Node{Name: "node-" + i.ID, Joined: c.now, Ready: true, ReadySince: c.now}
		}
	}
	counted := slices.DeleteFunc(alive(c.o), func(i Instance) bool { return i.Standby })
	missing := c.o.Group.Size - len(counted)
	if missing < 0 {
		// Who lowers a size has the cloud take those that it picks.
		c.leave(func(i Instance) bool {
			return slices.ContainsFunc(counted[:-missing], func(o Instance) bool { return o.ID == i.ID })
		})
	}
	if c.full && missing > 0 {
		c.o.Issues = []Cause{{"NoCapacity", "no capacity in zone a"}}
		if !c.tr.ReplaceKeepsSize && c.o.Group.Size > len(counted) {
			// A cloud that does not try again is left with what exists.
			c.o.Group.Size, c.o.Group.ScaleUpFailedAt = len(counted), c.now
			c.refusals++
		}
		return
	}
	for range missing {
		c.made++
		id := fmt.Sprintf("n-%04d", c.made)
		c.o.Instances = append(c.o.Instances, Instance{ID: id, ProviderID: "aws:///x/" + id, Zone: []string{"a", "b", "c"}[c.made%3],
			Template: c.version(c.o.Group.Template), State: Pending, Created: c.now})
		if c.failing {
			c.o.Instances[len(c.o.Instances)-1].State = Failed
		}
	}
	if missing > 0 {
		c.o.Group.ScaleUpFailedAt = time.Time{}
	}
}

// run lets passes go by until the rollout is done, and says how long that took.
func (c *slow) run(t failer, d Desired, bound time.Duration) (took time.Duration, rest Plan) {
	began := c.now
	for c.now.Sub(began) < bound {
		rest = c.pass(t, d)
		if rest.Step == nil && rest.Quiescent && rest.Rollout.State == RolloutDone {
			return c.now.Sub(began), rest
		}
	}
	return bound, rest
}

func quick() Traits {
	tr := traits
	tr.RemoveBatch = 1000
	return tr
}

// Rule 10: D machines roll in at most ceil(D/(surge+unavailable)) waves of booting and draining; as many machines are made
// as are replaced; what serves and what exists stay within the budgets; and then no step is left.
func TestRolloutOnAnIdealCloud(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(t, "replicas")
		d := wants(n, rolls(rapid.IntRange(0, 5).Draw(t, "surge"), rapid.IntRange(0, 5).Draw(t, "unavailable")))
		d.Max = rapid.SampledFrom([]int{n, 100}).Draw(t, "max")
		d.ReplicasManagedExternally = rapid.Bool().Draw(t, "external")
		d.DeletePolicy = rapid.SampledFrom([]DeletePolicy{Oldest, Newest, Random}).Draw(t, "policy")
		if d.Strategy.bothZero() != nil {
			d.Strategy.MaxSurge.Value = 1
		}
		tr := quick()
		switch rapid.IntRange(0, 2).Draw(t, "cloud") {
		case 0:
			setsAside(&tr)
		case 1:
			scaleSet(&tr)
		}
		if !tr.ReplaceKeepsSize && d.ReplicasManagedExternally {
			d.Strategy.MaxSurge.Value = max(1, d.Strategy.MaxSurge.Value)
		}
		c := stocked(n, tr)
		c.change("b")
		surge, unavailable := d.Strategy.limits(n)
		size := surge + unavailable
		if !tr.ReplaceKeepsSize && d.ReplicasManagedExternally {
			size = surge
		}
		waves := (n + size - 1) / size
		planned := forecastOf(t, Decide(d, c.o, tr, c.now), n)
		if planned != waves {
			t.Fatalf("want %d waves announced, got %d", waves, planned)
		}
		took, rest := c.run(t, d, 10*time.Hour)
		drain := 4 * c.round
		if bound := time.Duration(waves)*(c.boot+drain) + drain + 2*c.round; took > bound {
			t.Errorf("want %d waves within %s, took %s", waves, bound, took)
		}
		if rest.Step != nil || c.made != n || c.ended != n || c.o.Group.Size != n || c.o.Group.Surge != 0 {
			t.Fatalf("want %d made, %d gone and rest, got %d and %d, a size of %d, and %s", n, n, c.made, c.ended, c.o.Group.Size, say(rest))
		}
		if c.lowest < n-unavailable || c.highest > n+surge {
			t.Fatalf("want %d to %d machines, got %d serving and %d existing", n-unavailable, n+surge, c.lowest, c.highest)
		}
		if tr.SupportsStandby && c.o.Group.Max != 1000 {
			t.Fatalf("want the group's limits left alone")
		}
	})
}

// forecastOf checks that a forecast names each of n machines once, and gives the number of its waves.
func forecastOf(t *rapid.T, p Plan, n int) int {
	seen := map[string]bool{}
	for _, wave := range p.Forecast {
		for _, target := range wave.Targets {
			seen[target.ID] = true
			if target.Cause.Reason != templateChanged {
				t.Fatalf("want the cause of %s, got %v", target.ID, target.Cause)
			}
		}
		if wave.LowestAvailable != n-min(p.Budget.MaxUnavailable, len(wave.Targets)) {
			t.Fatalf("want the lowest number that serve, got %d", wave.LowestAvailable)
		}
	}
	if len(seen) != n || len(p.Instances) != n {
		t.Fatalf("want all %d machines announced, got %d, and %d verdicts", n, len(seen), len(p.Instances))
	}
	return len(p.Forecast)
}

// Whatever a user edits and whatever goes wrong in the middle of a rollout, each step keeps the budgets of that moment and
// has a cause; once the specification is good and the cloud well again, the pool becomes as it should be, and then is silent.
func TestRolloutInAHostileWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := quick()
		if tr.SupportsStandby, tr.KeepsFailedInstances = rapid.Bool().Draw(t, "sets aside"),
			rapid.Bool().Draw(t, "keeps failed"); !tr.SupportsStandby && rapid.Bool().Draw(t, "scale set") {
			scaleSet(&tr)
		}
		n := rapid.IntRange(1, 10).Draw(t, "replicas")
		d := wants(n, rolls(1, 0))
		d.Max = 100
		c := stocked(n, tr)
		c.boot, c.round = 2*time.Minute, 30*time.Second
		c.bad["v1:bad"] = true
		for k := range rapid.IntRange(1, 60).Draw(t, "rounds") {
			c.trouble(t, &d, k)
			c.pass(t, d)
		}
		c.full, c.o.NodesUnknown, d.ReplicasManagedExternally = false, false, false
		c.change("good")
		d.RolloutPaused, d.Strategy = nil, &Strategy{MaxSurge: IntOrPercent{Value: 1}}
		for k, i := range c.o.Instances {
			if i.Node != nil && !i.Node.Ready {
				node := *i.Node
				node.Ready, node.ReadySince = true, c.now
				c.o.Instances[k].Node = &node
			}
		}
		if _, rest := c.run(t, d, 24*time.Hour); rest.Step != nil || rest.Rollout.State != RolloutDone || !rest.Quiescent {
			t.Fatalf("want rest, got %s with %+v of %+v", say(rest), c.o.Group, c.o.Instances)
		}
		for _, i := range c.o.Instances {
			if i.Template.Content != "v1:good" || i.Standby || len(c.o.Instances) != d.Replicas {
				t.Fatalf("want %d good machines, got %+v", d.Replicas, c.o.Instances)
			}
		}
		for range 5 {
			if p := c.pass(t, d); p.Step != nil {
				t.Fatalf("want silence, got %s", say(p))
			}
		}
	})
}

// trouble applies changes by users and faults.
func (c *slow) trouble(t *rapid.T, d *Desired, k int) {
	switch rapid.IntRange(0, 14).Draw(t, fmt.Sprintf("trouble %d", k)) {
	case 0:
		c.change(rapid.SampledFrom([]string{"a", "b", "bad", "c"}).Draw(t, "content"))
	case 1:
		d.Replicas = rapid.IntRange(0, 10).Draw(t, "replicas")
	case 2:
		d.Strategy = aStrategy().Draw(t, "strategy")
	case 3:
		c.full = !c.full
	case 4:
		d.RolloutPaused = nil
		if rapid.Bool().Draw(t, "paused") {
			d.RolloutPaused = &Cause{"RolloutPaused", "x"}
		}
	case 5:
		c.o.NodesUnknown = !c.o.NodesUnknown
	case 6, 7:
		if len(c.o.Instances) == 0 {
			return
		}
		i := &c.o.Instances[rapid.IntRange(0, len(c.o.Instances)-1).Draw(t, "who")]
		switch rapid.IntRange(0, 3).Draw(t, "how") {
		case 0:
			i.State = Failed
		case 1:
			i.DeletionRequested = &Cause{"MachineDeleted", "a user deleted the Machine"}
		case 2:
			i.Marked = true
		default:
			if i.Node != nil {
				node := *i.Node
				node.Ready, node.ReadySince = !node.Ready, c.now
				i.Node = &node
			}
		}
	case 8:
		d.DeletePolicy = Newest
	case 9:
		d.ReplicasManagedExternally = !d.ReplicasManagedExternally
	case 10, 11:
		if d.ReplicasManagedExternally {
			c.o.Group.Size = rapid.IntRange(0, 10).Draw(t, "size")
			if c.o.Group.Surge > c.o.Group.Size {
				c.o.Group.Surge = 0
			}
		}
	}
}

// A cloud that shows what was so a moment ago, as clouds do: the budgets hold for what is so now, and nothing is made or
// removed twice.
func TestRolloutSeenLate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "replicas")
		d := wants(n, rolls(rapid.IntRange(1, 3).Draw(t, "surge"), rapid.IntRange(0, 2).Draw(t, "unavailable")))
		surge, unavailable := d.Strategy.limits(n)
		tr := quick()
		if tr.SupportsStandby = rapid.Bool().Draw(t, "sets aside"); !tr.SupportsStandby && rapid.Bool().Draw(t, "scale set") {
			scaleSet(&tr)
		}
		c := stocked(n, tr)
		c.boot = time.Minute
		c.change("b")
		late := copied(c.o)
		for round := range 400 {
			seen := c.seen()
			if round < 300 && rapid.IntRange(0, 2).Draw(t, "late") > 0 {
				seen = withNodes(late, c.o)
			}
			late = copied(c.o)
			if p := Decide(d, seen, tr, c.now); p.Step != nil && !c.conflicts(seen, *p.Step) {
				before := c.serving(d)
				c.do(t, *p.Step)
				if after := c.serving(d); after < before && after < n-unavailable {
					t.Fatalf("%s: want at least %d serving, got %d", say(p), n-unavailable, after)
				}
			}
			if rapid.Bool().Draw(t, "time goes on") || round > 300 {
				c.pause()
			}
			c.measure(d)
		}
		if c.made != n || len(c.o.Instances) != n || c.highest > n+surge {
			t.Fatalf("want %d made and gone and never more than %d, got %d, %d and %d; now %+v", n, n+surge, c.made, c.ended, c.highest,
				c.o.Instances)
		}
	})
}

// conflicts reports whether a driver refuses the step: the size that it rests on is not the one that the group was asked for last.
func (c *slow) conflicts(seen Observed, s Step) bool {
	return slices.Contains([]StepKind{Resize, Remove, Replace}, s.Kind) && seen.Group.Size != c.o.Group.Size
}

// withNodes is an old observation of the cloud joined with the nodes of now.
func withNodes(old, is Observed) Observed {
	old = copied(old)
	nodes := map[string]*Node{}
	for _, i := range is.Instances {
		nodes[i.ID] = i.Node
	}
	for k, i := range old.Instances {
		old.Instances[k].Node = nodes[i.ID]
	}
	old.Wanted = is.Wanted
	return old
}

func (c *slow) serving(d Desired) int {
	n := 0
	for _, i := range c.o.Instances {
		if available(d, c.tr, i, c.now) {
			n++
		}
	}
	return n
}
