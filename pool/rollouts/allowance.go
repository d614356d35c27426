package rollouts

import (
	"cmp"
	"slices"
	"time"

	"github.com/muster-project/muster/pool/undrainable"
	"github.com/muster-project/muster/pool/words"
)

// Machine is a machine of the pool as far as a rollout is concerned.
type Machine struct {
	ID string
	// Name is its name for users; empty if the ID is.
	Name string
	// Reasons are the classes of reasons for which it is to be replaced although it may serve; none if it is not.
	Reasons []Reason
	// Begun is true if its replacement has begun: it drains, or another machine was launched in its place.
	Begun bool
	// Held is why a user keeps it; zero if none does.
	Held Cause
	// PodsUnread is true if it is not known whether a pod keeps it: its replacement does not begin before that is known.
	PodsUnread bool
	// Quarantined is true if it can't be drained and the rollout goes on without it: to its waves, its replacement has not begun.
	Quarantined bool
	// Current is true if it was launched from the wanted template and is not to be replaced.
	Current bool
	// Serves is true if it is available, and ReadySince is when its node last turned Ready, or unready.
	Serves     bool
	ReadySince time.Time
	// TurnedUnready is true if its node was Ready and is not now.
	TurnedUnready bool
}

// PodReads are the machines whose pods may keep them. The plan is to be made again once more is known of their pods.
type PodReads struct {
	// Of are those that the rollout is to replace and whose replacement has not begun, in the order in which they would go.
	Of []string
	// Next is true if no more replacements can begin before pods are read that have not been.
	Next bool
}

// Allowance is how far a rollout may go now, with every machine considered.
type Allowance struct {
	Verdict
	// Begins is the number of replacements that may begin.
	Begins int
	// Held is why none begins although machines are to be replaced; zero otherwise.
	Held Cause
	// KeptSurge is the number of machines that were launched for others which a window, an exclusion or a budget holds back: they stay until
	// those go on, because what they wait for would be removed with them otherwise.
	KeptSurge int
	// ReadsPods is true if the pods of machines have to be read before more replacements can begin.
	ReadsPods bool
	limits    Limits
	now       time.Time
	// closed is the first closure of a machine whose replacement has not begun.
	closed Cause
	// takesServing is true if one of the machines that are to be replaced serves.
	takesServing bool
}

// Pool is what a decision is about: what is rolled out, to how many machines, and how.
type Pool struct {
	ID     string
	Size   int
	Plan   Plan
	Limits Limits
}

// counts are numbers of machines: those whose replacement may begin unless the waves or a budget hold it back, those that are replaced for
// their age, those of which it is not known whether pods keep them, those whose replacement has begun, those of them in quarantine, those
// that a closure holds back, those that serve and stay, and those of the wanted template.
type counts struct{ open, aged, unread, begun, quarantined, closed, serving, current int }

// add counts a machine.
func (n *counts) add(m Machine, l Limits) {
	if m.servesOn() {
		n.serving++
	}
	switch {
	case m.Current:
		n.current++
	case len(m.Reasons) == 0:
	case m.Begun && m.Quarantined:
		n.begun++
		n.quarantined++
	case m.Begun:
		n.begun++
	case m.Held != Cause{}:
	case l.closure(m.Reasons) != nil:
		n.closed++
	case m.PodsUnread:
		n.unread++
	case m.aged():
		n.aged++
	default:
		n.open++
	}
}

// servesOn reports whether a machine serves and its replacement has not begun.
func (m Machine) servesOn() bool { return m.Serves && (len(m.Reasons) == 0 || !m.Begun) }

// paced returns the pool with the pace that counts: a return to a former template has no waves, and nothing that would judge it.
func (p Pool) paced() Pool {
	if p.Limits.Returns {
		p.Limits, p.Plan = p.Limits.back(), Plan{}
	}
	return p
}

// Allow returns how far a rollout may go now.
func Allow(r Record, p Pool, machines []Machine, now time.Time) Allowance {
	p = p.paced()
	a := Allowance{limits: p.Limits, now: now}
	facts, n := Facts{ID: p.ID, Size: p.Size}, counts{}
	for _, m := range machines {
		facts.add(m)
		n.add(m, p.Limits)
	}
	a.closed = p.Limits.firstClosed(machines)
	keeps := n.closed > 0
	facts.Shut = n.closed > 0 && n.open+n.aged+n.unread == 0
	a.Verdict = Next(r, p.Plan, p.Limits, facts, now)
	a.Begins = min(n.open, a.Begin) + n.aged
	a.Reasons = classes(machines)
	a.takesServing = slices.ContainsFunc(machines, func(m Machine) bool { return len(m.Reasons) > 0 && m.Serves })
	a.InWork = n.begun + max(0, p.Size-n.serving-n.begun)
	a.ReadsPods = n.unread > 0 && n.open+n.aged == 0 && a.Begin > 0
	if room := max(0, p.Limits.AtOnce-a.InWork); p.Limits.Budget != (Cause{}) && a.Begins > room {
		keeps, a.Begins = true, room
	}
	if keeps {
		a.KeptSurge = n.current
	}
	a.name(machines)
	if a.Begins == 0 && n.begun == n.quarantined {
		a.Held = a.held(machines, n)
	}
	return a
}

// firstClosed returns the first closure of a machine whose replacement has not begun; zero if there is none.
func (l Limits) firstClosed(machines []Machine) Cause {
	for _, m := range machines {
		if c := l.closure(m.Reasons); c != nil && !m.Begun && m.Held == (Cause{}) {
			return c.Cause
		}
	}
	return Cause{}
}

// classes returns the classes of reasons for which machines are replaced, in their order.
func classes(machines []Machine) []Reason {
	var found []Reason
	for _, why := range Reasons {
		if slices.ContainsFunc(machines, func(m Machine) bool { return slices.Contains(m.Reasons, why) }) {
			found = append(found, why)
		}
	}
	return found
}

// HoldsRoll returns why a rollout of the cloud, which replaces every machine that is to be replaced, does not begin; zero if it may.
// Nothing holds back one that takes no machine that serves.
func (a Allowance) HoldsRoll() Cause {
	if !a.takesServing {
		return Cause{}
	}
	return cmp.Or(a.closed, a.Held)
}

// held returns why none of the machines begins to be replaced.
func (a Allowance) held(machines []Machine, n counts) Cause {
	switch open := n.open + n.aged; {
	case open+n.unread > 0 && a.Cause != Cause{}:
		return a.Cause
	case open > 0:
		return a.limits.Budget
	case n.unread > 0:
		return Cause{"PodsUnread", "the pods of the machines to replace have not been read, and may keep them"}
	}
	if a.closed != (Cause{}) {
		return a.closed
	}
	for _, m := range machines {
		if len(m.Reasons) > 0 && m.Held != (Cause{}) && !m.Begun {
			return m.Held
		}
	}
	if len(a.QuarantinedNames) > 0 {
		return Cause{undrainable.Quarantined, "only machines are left whose pods can't be evicted: " + words.First(a.QuarantinedNames)}
	}
	return Cause{}
}

// name notes for users which machines are held and which are quarantined.
func (a *Allowance) name(machines []Machine) {
	for _, m := range machines {
		switch name := cmp.Or(m.Name, m.ID); {
		case len(m.Reasons) == 0:
		case m.Begun && m.Quarantined:
			a.QuarantinedNames = append(a.QuarantinedNames, name)
		case m.Held != Cause{} && !m.Begun:
			a.HeldNames = append(a.HeldNames, name)
		}
	}
	slices.Sort(a.QuarantinedNames)
	slices.Sort(a.HeldNames)
}

// Permits reports whether the replacement of a machine may begin, or may end if it has begun, and until when a grace allows that; zero
// for no such bound.
func (a Allowance) Permits(m Machine) (ok bool, until time.Time) {
	c := a.limits.closure(m.Reasons)
	switch {
	case c != nil:
		return m.Begun && a.now.Before(c.GraceUntil), c.GraceUntil
	case m.Begun:
		return true, time.Time{}
	}
	return m.Held == Cause{} && a.Begins > 0, time.Time{}
}

// add counts a machine.
func (f *Facts) add(m Machine) {
	switch {
	case m.Current && m.Serves:
		f.Ready = append(f.Ready, m.ReadySince)
	case m.Current && m.TurnedUnready:
		f.Unready = append(f.Unready, Unready{m.ID, m.ReadySince})
	case len(m.Reasons) > 0 && !m.aged():
		if m.Held == (Cause{}) && !m.Quarantined {
			f.Left++
		}
		if !m.Begun || m.Quarantined {
			f.Stale++
		}
	}
}

// aged reports whether a machine is replaced for its age.
func (m Machine) aged() bool { return slices.Contains(m.Reasons, Age) }

// closure returns what keeps replacements for one of the reasons from beginning now, or nil.
func (l Limits) closure(reasons []Reason) *Closure {
	for _, why := range reasons {
		if c, closed := l.Closed[why]; closed {
			return &c
		}
	}
	return nil
}
