package explore_test

import (
	"testing"
	"time"

	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
)

// excluded returns a write by which the drain of b begins, one of three old machines of which as many are wanted, a minute after the
// policies closed.
func excluded(change ...func(*oracle.Write)) oracle.Write {
	w := replacement(3, func(w *oracle.Write) {
		w.At, w.Drains, w.After = now, true, w.Before
		w.Closure = oracle.Closure{Closed: true, Since: now.Add(-time.Minute), Grace: 30 * time.Second}
		w.Before.Groups[0].Content = "new"
		for k := range w.Before.Groups[0].Members {
			w.Before.Groups[0].Members[k].Content = "old"
		}
	})
	for _, c := range change {
		c(&w)
	}
	return w
}

// member changes one of the members by their place.
func member(k int, change func(*oracle.Member)) func(*oracle.Write) {
	return func(w *oracle.Write) { change(&w.Before.Groups[0].Members[k]) }
}

// successors adds a machine of the new template that serves.
func successors(w *oracle.Write) {
	g := &w.Before.Groups[0]
	g.Members = append(g.Members, oracle.Member{ID: "d", Content: "new"})
	w.Nodes["d"], w.After = w.Nodes["a"], w.Before
}

func TestOracleOfWindows(t *testing.T) {
	const begins = "begins to replace instance b, 1m0s after"
	for _, c := range []struct {
		reason string
		w      oracle.Write
		want   string
	}{
		{"in an exclusion", excluded(), begins},
		{"while the policies are open", excluded(func(w *oracle.Write) { w.Closure.Closed = false }), ""},
		{"the grace is for what another was launched for", excluded(func(w *oracle.Write) { w.Closure.Grace = time.Hour }), begins},
		{"which may go in the grace", excluded(successors, func(w *oracle.Write) { w.Closure.Grace = time.Hour }), ""},
		{"and not after it", excluded(successors), begins},
		{"what does not serve", excluded(func(w *oracle.Write) { w.Nodes["b"] = oracle.Node{Joined: true} }), ""},
		{"what began to serve a moment ago", excluded(func(w *oracle.Write) { w.Risen = map[string]bool{"b": true} }), ""},
		{"what the cloud takes", excluded(member(1, func(m *oracle.Member) { m.Doomed = true })), ""},
		{"what a user deletes", excluded(func(w *oracle.Write) { w.Desired.DeletionRequested = map[string]bool{"b": true} }), ""},
		{"what is up to date", excluded(member(1, func(m *oracle.Member) { m.Content = "new" })), ""},
		{"unless a restart asks for it", excluded(member(1, func(m *oracle.Member) { m.Content = "new" }),
			func(w *oracle.Write) { w.Desired.Restart = now }), begins},
		{"too many, since a user scaled in", excluded(successors, func(w *oracle.Write) { w.Resized = true }), ""},
		{"a rollout of the cloud", excluded(func(w *oracle.Write) {
			w.Drains, w.Rolls, w.Named = false, true, nil
			w.Nodes["a"], w.Nodes["c"] = oracle.Node{}, oracle.Node{}
		}), begins},
	} {
		t.Run(c.reason, func(t *testing.T) { verdict(t, c.want, oracle.OutsideWindows(c.w)) })
	}
}

func TestOracleOfWaves(t *testing.T) {
	of := func(change ...func(*oracle.Progress)) oracle.Progress {
		p := oracle.Progress{Before: oracle.Step{Rollout: "r", Wave: 1}, After: oracle.Step{Rollout: "r", Wave: 1, Entered: true},
			Approvals: true, Approved: map[string]bool{"r": true}, Passed: map[string]bool{"g": true}}
		for _, c := range change {
			c(&p)
		}
		return p
	}
	another := func(p *oracle.Progress) { p.Approved = map[string]bool{"other": true} }
	fails := func(p *oracle.Progress) { p.Passed["g"] = false }
	goesOn := func(p *oracle.Progress) { p.Before = p.After }
	begins := func(p *oracle.Progress) { p.Begins = []string{"b"} }
	for _, c := range []struct {
		reason string
		p      oracle.Progress
		want   string
	}{
		{"all has passed", of(), ""},
		{"the approval of another rollout", of(another), "wave 1 of rollout r began, which was not approved"},
		{"a machine goes without an approval", of(another, goesOn, begins), "which was not approved"},
		{"a gate that has not passed", of(fails), "although gate g has not passed"},
		{"it may fail once the wave has begun", of(fails, goesOn, begins), ""},
		{"the next wave", of(fails, func(p *oracle.Progress) { p.Before.Entered, p.After.Wave = true, 2 }), "wave 2 of rollout r began although"},
		{"fewer waves", of(fails, func(p *oracle.Progress) { p.Before = oracle.Step{Rollout: "r", Wave: 2, Entered: true} }), ""},
		{"a machine goes before its wave", of(begins, func(p *oracle.Progress) { p.After.Entered = false }),
			"the replacement of instance b began before wave 1"},
		{"a return waits for nothing", of(fails, another, func(p *oracle.Progress) { p.After.Returns = true }), ""},
	} {
		t.Run(c.reason, func(t *testing.T) { verdict(t, c.want, oracle.Entered(c.p)) })
	}
}

// TestOracleOfQuarantine holds that machines in quarantine may be missing beside others, up to their own bound.
func TestOracleOfQuarantine(t *testing.T) {
	for bound, want := range []string{"took 1 of those that serve and left 2 of 4", ""} {
		w := replacement(4, four, func(w *oracle.Write) {
			w.Desired.Unavailable, w.Desired.Quarantined = oracle.Share{N: 1}, bound
			w.Nodes["a"] = oracle.Node{Joined: true, Ready: true, Cordoned: true, Quarantined: true, DrainStarted: now}
		})
		verdict(t, want, oracle.Available(w))
	}
}

// TestClosedAt holds when a policy of a scenario is closed.
func TestClosedAt(t *testing.T) {
	t.Parallel()
	minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	p := script.Policy{Closed: [][2]time.Duration{{minutes(1), minutes(2)}, {minutes(6), minutes(7)}}, Shut: [2]time.Duration{minutes(2),
		minutes(4)}, Grace: time.Second}
	for at, want := range map[time.Duration]time.Duration{0: -1, minutes(1): minutes(1), minutes(3): minutes(1), minutes(4): -1,
		minutes(6) + 1: minutes(6), minutes(7): -1} {
		since, grace, closed := p.ClosedAt(at)
		if !closed {
			since = -1
		}
		if since != want || grace != time.Second {
			t.Errorf("at %s: want closed since %s, got %s with a grace of %s", at, want, since, grace)
		}
	}
}
