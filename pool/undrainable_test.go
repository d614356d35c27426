package pool

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// blockedFor is a drain that a budget has kept from ending since it began.
func blockedFor(d time.Duration) func(*Instance) {
	return func(i *Instance) {
		i.Node.Cordoned, i.Node.DrainStarted = true, now.Add(-d)
		i.Node.Remaining, i.Node.Blocked = 1, []string{"default/web-0 (PodDisruptionBudget web)"}
	}
}

func abandoned(ago time.Duration) func(*Instance) {
	return func(i *Instance) { i.Node.DrainAbandoned = now.Add(-ago) }
}

func finds(what Evictable) func(*Instance) { return func(i *Instance) { i.Node.Evictable = what } }

func TestSurplusAvoidsBlockedDrains(t *testing.T) {
	long := blockedFor(time.Hour)
	room := func() []Instance { return list(machine("i-3", 3), machine("i-4", 2), machine("i-5", 1)) }
	two := func(first, second func(*Instance)) []Instance {
		return append(list(machine("i-1", 9, first), machine("i-2", 8, second)), room()...)
	}
	const waits = ", waiting DrainBlocked"
	checkOn(t, func(*Traits) {}, []row{
		{"blocked for a moment", "evicted pods soon run elsewhere", wants(4), fleet(two(blockedFor(time.Minute), finds(EvictAll))),
			"Drain i-1 (ScaleIn)" + waits},
		{"blocked", "another one can go", wants(4), fleet(two(long, finds(EvictAll))), "Undrain i-1 (DrainBlocked)" + waits},
		{"blocked, nothing to evict", "likewise", wants(4), fleet(two(long, finds(EvictNothing))), "Undrain i-1 (DrainBlocked)" + waits},
		{"all blocked", "the first stays: others would only be cordoned in their turn", wants(4), fleet(two(long, finds(EvictSome))),
			"Drain i-1 (ScaleIn)" + waits},
		{"not known", "it is asked about before the choice is changed", wants(4), fleet(two(long, func(*Instance) {})),
			"Drain i-1 (ScaleIn)" + waits},
		{"abandoned", "the other one is drained", wants(4), fleet(two(abandoned(time.Minute), finds(EvictAll))), "Drain i-2 (ScaleIn)"},
		{"abandoned, all blocked", "the first goes on", wants(4), fleet(two(abandoned(time.Minute), finds(EvictSome))), "Drain i-1 (ScaleIn)"},
		{"abandoned long ago", "it may be drainable by now", wants(4), fleet(two(abandoned(25*time.Hour), finds(EvictAll))),
			"Drain i-1 (ScaleIn)"},
		{"both blocked", "none takes the place of the other", wants(4), fleet(two(long, long)), "Undrain i-2 (StillWanted)" + waits},
		{"the other is being drained", "the choice stands after a restart", wants(4), fleet(two(abandoned(time.Minute), drainingNode)),
			"Drain i-2 (ScaleIn), waiting Draining"},
		{"two go, one is blocked", "the other one goes on", wants(3), fleet(two(long, drainingNode), func(o *Observed) {
			finds(EvictAll)(&o.Instances[2])
		}), "Undrain i-1 (DrainBlocked)" + waits},
		{"two go, one was abandoned", "the started drain is not undone for it", wants(3), fleet(two(long, abandoned(time.Minute)),
			func(o *Observed) { finds(EvictAll)(&o.Instances[2]) }), "Drain i-1 i-3 (ScaleIn)" + waits},
		{"marked", "a mark names exactly this one", wants(4), fleet(append(list(machine("i-1", 9, long, marked), machine("i-2", 8,
			finds(EvictAll))), room()...)), "Drain i-1 (ScaleIn)" + waits},
		{"deleted", "likewise", wants(4), fleet(two(func(i *Instance) { long(i); condemnedOne(i) }, finds(EvictAll))),
			"Drain i-1 (MachineDeleted)" + waits},
		{"guarded", "the deletion of its Machine can't be taken back", wants(4),
			fleet(two(func(i *Instance) { long(i); i.Guard = &Guard{Requested: true} }, finds(EvictAll))), "Drain i-1 (ScaleIn), waiting Draining"},
		{"unready", "no pod is better off on it", wants(4), fleet(two(func(i *Instance) { long(i); unready(i) }, finds(EvictAll))),
			"Drain i-1 (ScaleIn)" + waits + ", waiting NodesNotReady"},
		{"time is up", "nothing keeps it any more", wants(4, func(d *Desired) { d.DrainTimeout = time.Minute }),
			fleet(two(long, finds(EvictAll))), "Remove i-1 (ScaleIn)" + waits},
		{"wanted again", "its drain was not abandoned", wants(5), fleet(two(long, finds(EvictAll))), "Undrain i-1 (StillWanted)" + waits},
	})
}

// A failed provider rollout is reported while drains keep the next one from starting, however long ago it failed.
func TestFailedRolloutIsReported(t *testing.T) {
	failed := rollOf(ProviderRolloutFailed, "b", func(r *ProviderRollout) {
		r.Ended, r.Failures, r.Reason = now.Add(-time.Hour), 1, "UpgradeFailed: drain node i-1 failed"
	})
	stale := append(serving(3), machine("i-9", 1, current))
	blockedFor(time.Hour)(&stale[0])
	checkOn(t, rollsChanges, []row{
		{"blocked", "the drain and the failed upgrade are two causes", wants(3, rolls(1, 0)), fleet(stale, newTemplate, failed),
			"Drain i-1 (ScaleIn), waiting Draining, waiting ProviderRolloutFailed, waiting DrainBlocked"},
	})
}

// Whatever nodes can't be drained, as many instances go as can, each drain is begun at most once, and what can't be drained is not rotated.
func TestBlockedDrainsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 9).Draw(t, "machines")
		want := rapid.IntRange(1, n-1).Draw(t, "wanted")
		c := &ideal{o: fleet(serving(n)), now: now, tr: traits}
		d := wants(want, rolls(rapid.IntRange(0, 1).Draw(t, "surge"), 1))
		stuck := map[string]bool{}
		for _, i := range c.o.Instances {
			stuck[i.ID] = rapid.Bool().Draw(t, "blocked")
		}
		begun := map[string]int{}
		var last Plan
		for range 20 * n {
			p := Decide(d, c.o, c.tr, c.now)
			for k, i := range c.o.Instances {
				if slices.Contains(p.Undecided, i.ID) {
					node := *i.Node
					node.Evictable = map[bool]Evictable{true: EvictSome, false: EvictAll}[stuck[i.ID]]
					c.o.Instances[k].Node = &node
				}
			}
			if len(p.Undecided) > 0 {
				p = Decide(d, c.o, c.tr, c.now)
			}
			last = p
			if p.Step != nil {
				c.blockedStep(t, *p.Step, stuck, begun)
			}
			c.now = c.now.Add(4 * time.Minute)
			c.tick()
			for k := range c.o.Instances { // known for one decision
				c.o.Instances[k].Node.Evictable = ""
			}
		}
		can := 0
		for id, is := range stuck {
			if !is {
				can++
			}
			if begun[id] > 1 {
				t.Fatalf("want each drain begun once, %s was %d times", id, begun[id])
			}
		}
		if left := len(c.o.Instances); left != max(want, n-can) {
			t.Fatalf("want %d left of %d of which %d can be drained, got %d; %s", max(want, n-can), n, can, left, say(last))
		}
	})
}

// blockedStep begins a step where some nodes can't be drained.
func (c *ideal) blockedStep(t failer, s Step, stuck map[string]bool, begun map[string]int) {
	for _, target := range s.Targets {
		k := slices.IndexFunc(c.o.Instances, func(i Instance) bool { return i.ID == target.ID })
		if i := c.o.Instances[k]; s.Kind == Drain && i.Node.DrainStarted.IsZero() {
			begun[i.ID]++
		}
	}
	c.do(t, s)
	for k, i := range c.o.Instances {
		if !stuck[i.ID] || i.Node.DrainStarted.IsZero() {
			continue
		}
		node := *i.Node
		node.Remaining, node.Blocked = 1, []string{"a pod of " + i.ID}
		c.o.Instances[k].Node = &node
	}
}
