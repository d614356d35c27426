// Package undrainable decides what a rollout does about machines whose pods can't be evicted: it waits for them, quarantines a few of them
// and goes on with others, or removes them with their pods. Decisions rest on what was observed of drains, never on a timer.
package undrainable

import (
	"cmp"
	"slices"
	"time"

	"github.com/muster-project/muster/pool/clock"
	"github.com/muster-project/muster/pool/order"
	"github.com/muster-project/muster/pool/words"
)

// Action is what a rollout does about a machine whose pods can't be evicted.
type Action string

// The actions. The zero Action is Wait.
const (
	// Wait until the pods can be evicted, or the drain timeout has passed.
	Wait Action = "Wait"
	// Quarantine leaves the node cordoned, and lets the rollout go on with others.
	Quarantine Action = "Quarantine"
	// Force ends the drain as its timeout would.
	Force Action = "Force"
)

// Quarantined is the reason of what waits for machines in quarantine.
const Quarantined = "Quarantined"

// Rule is what a pool does about drains of a rollout that do not end. The zero Rule waits.
type Rule struct {
	Action Action
	// After is the time since the start of a drain after which the action is taken.
	After time.Duration
	// Max is the number of machines that may be quarantined at a time.
	Max int
}

// Drain is the drain of one machine that is about to go.
type Drain struct {
	ID string
	// Started is when it began.
	Started time.Time
	// Voluntary is true if a rollout replaces the machine.
	Voluntary bool
	// Blocked is true if pods are left, and some of them can't be evicted: others may wait for these in their turn.
	Blocked bool
	// Quarantined is true if the machine is quarantined already.
	Quarantined bool
}

// Quarantined returns the IDs of the machines to quarantine. One that is quarantined stays so until its drain ends or is given up, so that
// a budget that allows an eviction for a moment changes nothing; beyond the maximum, those whose drain began first are.
func (r Rule) Quarantined(drains []Drain, at *clock.Clock) map[string]bool {
	if r.Action != Quarantine {
		return nil
	}
	var list []Drain
	for _, d := range drains {
		if d.Quarantined || d.Voluntary && d.Blocked && at.Reached(d.Started.Add(r.After)) {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b Drain) int {
		return cmp.Or(order.FalseFirst(!a.Quarantined, !b.Quarantined), a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID))
	})
	out := map[string]bool{}
	for _, d := range list[:min(len(list), r.Max)] {
		out[d.ID] = true
	}
	return out
}

// Tolerated returns how many machines may be missing beyond those that may be unavailable, while so many are quarantined.
func (r Rule) Tolerated(quarantined int) int {
	if r.Action != Quarantine {
		return 0
	}
	return min(quarantined, r.Max)
}

// Timeout returns the bound of the drain of a machine that a rollout replaces, where that of every drain is the given one. Zero is no
// bound.
func (r Rule) Timeout(every time.Duration) time.Duration {
	if r.Action != Force || r.After <= 0 || every > 0 && every < r.After {
		return every
	}
	return r.After
}

// DrainBlocked is the reason of a drain that something keeps from ending.
const DrainBlocked = "DrainBlocked"

// Open are drains that have not ended.
type Open struct {
	names, keptBy []string
}

// Add adds the drain of a node, with what keeps it.
func (o *Open) Add(name string, keptBy []string) {
	o.names, o.keptBy = append(o.names, name), append(o.keptBy, keptBy...)
}

// sentence says what happens to the nodes, and what keeps them.
func (o *Open) sentence(what string) string {
	text := what + " " + words.First(o.names)
	if len(o.keptBy) > 0 {
		text += "; kept by " + words.First(o.keptBy)
	}
	return text
}

// Cause is a reason for programs and a sentence for people.
type Cause struct {
	Reason, Message string
}

// Report says which drains have not ended, and what keeps them: those of nodes in quarantine, and all others.
func Report(quarantined, others Open) (out []Cause) {
	if len(quarantined.names) > 0 {
		out = append(out, Cause{Quarantined, quarantined.sentence("in quarantine:")})
	}
	switch {
	case len(others.keptBy) > 0:
		out = append(out, Cause{DrainBlocked, others.sentence("draining")})
	case len(others.names) > 0:
		out = append(out, Cause{"Draining", others.sentence("draining")})
	}
	return out
}
