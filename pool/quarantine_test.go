package pool

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/muster-project/muster/pool/undrainable"
)

// quarantines has up to so many machines quarantined whose drain is blocked for half an hour; forces removes them then.
func quarantines(most int) func(*Desired) { return undrained(undrainable.Quarantine, most) }
func forces(d *Desired)                   { undrained(undrainable.Force, 1)(d) }

func undrained(action undrainable.Action, most int) func(*Desired) {
	return func(d *Desired) {
		s := *d.Strategy
		s.Undrainable = undrainable.Rule{Action: action, After: 30 * time.Minute, Max: most}
		d.Strategy = &s
	}
}

// labelled is a drain that has been blocked for an hour on a node in quarantine.
func labelled(i *Instance) {
	blockedFor(time.Hour)(i)
	i.Node.Quarantined = true
}

func TestUndrainable(t *testing.T) {
	long, short := blockedFor(time.Hour), blockedFor(29*time.Minute)
	// One is missing of three, which the strategy allows.
	three := func(first func(*Instance)) []Instance {
		return list(machine("i-1", 9, first), machine("i-2", 8), machine("i-3", 7))
	}
	const waits = ", waiting DrainBlocked"
	checkOn(t, func(*Traits) {}, []row{
		{"wait", "as ever: the others wait for it", wants(3, rolls(0, 1)), fleet(three(long), newTemplate),
			"Drain i-1 (TemplateChanged)" + waits},
		{"quarantine, too early", "its pods may go", wants(3, rolls(0, 1), quarantines(1)), fleet(three(short), newTemplate),
			"Drain i-1 (TemplateChanged)" + waits},
		{"quarantine", "the mark comes first, and the rollout rests on it", wants(3, rolls(0, 1), quarantines(1)),
			fleet(three(long), newTemplate), "Drain i-1 (TemplateChanged)" + waits},
		{"quarantined", "the next one goes", wants(3, rolls(0, 1), quarantines(1)), fleet(three(labelled), newTemplate),
			"Drain i-1 i-2 (TemplateChanged), waiting Quarantined"},
		{"quarantined, and as many are missing as may be", "no other begins", wants(3, rolls(0, 1), quarantines(1)), fleet(list(
			machine("i-1", 9, labelled), machine("i-2", 8, long), machine("i-3", 7)), newTemplate),
			"Drain i-1 i-2 (TemplateChanged), waiting Quarantined" + waits},
		{"its pods are gone", "it is removed as usual", wants(3, rolls(0, 1), quarantines(1)), fleet(three(func(i *Instance) {
			labelled(i)
			i.Node.Remaining, i.Node.Blocked = 0, nil
		}), newTemplate), "Replace i-1 (TemplateChanged)"},
		{"wanted again", "it serves again", wants(3, rolls(0, 1), quarantines(1)), fleet(three(labelled)),
			"Undrain i-1 (StillWanted), waiting Quarantined"},
		{"only such are left", "the rollout says so", wants(3, rolls(0, 1), quarantines(1)), fleet(list(machine("i-1", 9, labelled),
			machine("i-2", 8, current), machine("i-3", 7, current)), newTemplate),
			"Drain i-1 (TemplateChanged), waiting Quarantined"},
		{"force, too early", "never before its time", wants(3, rolls(0, 1), forces), fleet(three(short), newTemplate),
			"Drain i-1 (TemplateChanged)" + waits},
		{"force", "as the drain timeout would", wants(3, rolls(0, 1), forces), fleet(three(long), newTemplate),
			"Replace i-1 (TemplateChanged)" + waits},
		{"force, volumes", "they have a bound of their own", wants(3, rolls(0, 1), forces), fleet(three(func(i *Instance) {
			long(i)
			i.Node.Detaching = 1
		}), newTemplate), "Drain i-1 (TemplateChanged)" + waits},
		{"force, a scale-in", "it is no rollout", wants(2, rolls(0, 1), forces), fleet(three(long)), "Drain i-1 (ScaleIn)" + waits},
		{"force, deleted by a user", "neither is this", wants(3, rolls(0, 1), forces), fleet(three(func(i *Instance) {
			long(i)
			condemnedOne(i)
		})), "Drain i-1 (MachineDeleted)" + waits},
	})
}

// TestQuarantineIsNamed holds that targets say which nodes are to be marked, and that the rollout names them.
func TestQuarantineIsNamed(t *testing.T) {
	for _, c := range []struct {
		why  string
		node func(*Instance)
		want bool
	}{
		{"too early", blockedFor(29 * time.Minute), false},
		{"its time has come", blockedFor(30 * time.Minute), true},
		{"one pod of several, for which others may wait in their turn", func(i *Instance) {
			blockedFor(time.Hour)(i)
			i.Node.Remaining = 3
		}, true},
		{"its pods leave, slowly", func(i *Instance) {
			blockedFor(time.Hour)(i)
			i.Node.Blocked = nil
		}, false},
		{"it stays", labelled, true},
	} {
		o := fleet(list(machine("i-1", 9, c.node), machine("i-2", 8), machine("i-3", 7)), newTemplate)
		p := Decide(wants(3, rolls(0, 1), quarantines(1)), o, traits, now)
		if target := p.Step.Targets[0]; target.ID != "i-1" || target.Quarantined != c.want || !target.Voluntary {
			t.Errorf("%s: want i-1 quarantined %t, got %+v", c.why, c.want, target)
		}
		if names := p.Progress.QuarantinedNames; slices.Equal(names, []string{"node-i-1"}) != o.Instances[0].Node.Quarantined {
			t.Errorf("%s: want the quarantined nodes named, got %q", c.why, names)
		}
	}
}

// Whatever nodes can't be drained, no more are missing than may be unavailable and quarantined together, none of them goes before its time,
// as many as possible are replaced, and when their pods go, all are.
func TestRolloutGoesOnBesideQuarantine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, most := rapid.IntRange(1, 9).Draw(t, "machines"), rapid.IntRange(1, 3).Draw(t, "max")
		tr := clouds[rapid.SampledFrom([]string{"replaces", "sets aside", "only removes", "scale set"}).Draw(t, "cloud")]
		d := wants(n, unlimited)
		d.Strategy = aStrategy().Draw(t, "strategy")
		if d.Strategy.bothZero() != nil {
			d.Strategy.MaxSurge = IntOrPercent{Value: 1}
		}
		d.Strategy.Waves = rapid.SampledFrom([][]IntOrPercent{nil, {{Value: 1}}, {{Value: 1}, percent(50)}}).Draw(t, "waves")
		d.Strategy.Undrainable = undrainable.Rule{Action: undrainable.Quarantine, After: 30 * time.Minute, Max: most}
		if rapid.Bool().Draw(t, "forces") {
			d.Strategy.Undrainable.Action, most = undrainable.Force, 0
		}
		c := &ideal{o: fleet(serving(n)), now: now, tr: tr}
		c.o.Group.Max, c.o.Wanted.Content = 1000, "v1:b"
		stuck := map[string]bool{}
		for _, i := range c.o.Instances {
			stuck[i.ID] = rapid.Bool().Draw(t, "stuck")
		}
		_, _, unavailable := wanted(d, c.o, tr)
		c.goOn(t, &d, stuck, n-unavailable-most)
		if left := c.oldLeft(); most > 0 && left > 0 && slices.ContainsFunc(c.o.Instances, func(i Instance) bool {
			return i.Template.Content != "v1:b" && !stuck[i.ID]
		}) && c.marked() < most {
			t.Fatalf("want the others replaced beside %d quarantined, got %+v", c.marked(), c.o.Instances)
		}
		for id := range stuck {
			stuck[id] = false
		}
		c.goOn(t, &d, stuck, n-unavailable-most)
		if c.isStale(d) || len(c.o.Instances) != n {
			t.Fatalf("want all %d replaced when the pods are gone, got %+v", n, c.o.Instances)
		}
	})
}

// goOn lets a rollout go on until it rests. A node that is stuck keeps one pod; floor is the number that must serve at any moment.
func (c *ideal) goOn(t *rapid.T, d *Desired, stuck map[string]bool, floor int) {
	for range 40 + 14*d.Replicas {
		p := Decide(*d, c.o, c.tr, c.now)
		d.Progress = p.Progress.Record
		if p.Step != nil {
			c.mayGo(t, *d, *p.Step)
			c.blockedStep(t, *p.Step, stuck, map[string]int{})
			c.mark(*p.Step)
		}
		if got := c.marked(); got > d.Strategy.Undrainable.Max {
			t.Fatalf("want at most %d quarantined, got %d: %s", d.Strategy.Undrainable.Max, got, say(p))
		}
		serves := 0
		for _, i := range c.o.Instances {
			if available(*d, c.tr, i, c.now) {
				serves++
			}
		}
		if serves < floor {
			t.Fatalf("want %d serving at least, got %d: %s, %+v", floor, serves, say(p), c.o.Instances)
		}
		c.now = c.now.Add(2 * time.Minute)
		c.tick()
	}
}

// mayGo holds that what goes is drained, or its time has come.
func (c *ideal) mayGo(t *rapid.T, d Desired, s Step) {
	if s.Kind != Remove && s.Kind != Replace {
		return
	}
	for _, i := range c.o.Instances {
		if i.Node == nil {
			continue
		}
		early := d.Strategy.Undrainable.Action != undrainable.Force || c.now.Before(i.Node.DrainStarted.Add(30*time.Minute))
		if named(s)(i) && (i.Node.DrainStarted.IsZero() || i.Node.Remaining > 0 && early) {
			t.Fatalf("want %s drained before it goes, got %+v at %s", i.ID, *i.Node, c.now)
		}
	}
}

// mark sets and removes the label of nodes as a step says.
func (c *ideal) mark(s Step) {
	for k, i := range c.o.Instances {
		at := slices.IndexFunc(s.Targets, func(t InstanceRef) bool { return t.ID == i.ID })
		if at < 0 || i.Node == nil || s.Kind != Drain && s.Kind != Undrain {
			continue
		}
		node := *i.Node
		node.Quarantined = s.Kind == Drain && s.Targets[at].Quarantined
		c.o.Instances[k].Node = &node
	}
}

// oldLeft and marked count the machines that are left to be replaced, and those in quarantine.
func (c *ideal) oldLeft() int {
	return len(slices.DeleteFunc(slices.Clone(c.o.Instances), func(i Instance) bool { return i.Template.Content == "v1:b" }))
}

func (c *ideal) marked() int {
	return len(slices.DeleteFunc(slices.Clone(c.o.Instances), func(i Instance) bool { return i.Node == nil || !i.Node.Quarantined }))
}
