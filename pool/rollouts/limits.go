// Package rollouts decides how far a rollout may go now: its waves, their soak, and what holds back the next one. It knows no instance and
// no cloud. Moments are arguments: a result depends on them and on what was recorded, never on a timer.
package rollouts

import (
	"slices"
	"time"
)

// Reason is the class of a reason for which a machine that serves is replaced. Windows, freezes and budgets of policies name classes.
type Reason string

// The classes.
const (
	// Template: a field of the specification changed that is neither the version nor the image.
	Template Reason = "Template"
	// Version: the version of Kubernetes changed.
	Version Reason = "Version"
	// Image: the machine image changed.
	Image Reason = "Image"
	// Age: the machine is older than a policy allows.
	Age Reason = "Age"
	// Restart: a user requested the replacement of all machines.
	Restart Reason = "Restart"
)

// Reasons lists all classes.
var Reasons = []Reason{Template, Version, Image, Age, Restart}

// Cause is a reason for programs and a sentence for people. The zero Cause is none.
type Cause struct {
	Reason, Message string
}

// Closure holds back replacements of one class of reasons.
type Closure struct {
	// Cause names the window or the exclusion.
	Cause Cause
	// GraceUntil is until when replacements may end that began before. Zero allows none.
	GraceUntil time.Time
}

// Limits are what policies allow at one moment. The zero value holds nothing back.
type Limits struct {
	// Closed has the classes for which no replacement begins now.
	Closed map[Reason]Closure
	// Changes is the next moment at which Closed, or a Budget that counts pools, changes by itself; zero if it never does.
	Changes time.Time
	// OpensAt is, for users, when the first of the closed classes opens again; zero if it is unknown, or none is closed.
	OpensAt time.Time
	// AtOnce is the number of machines of the pool that may be replaced at a time, where Budget is set.
	AtOnce int
	// Budget names what bounds AtOnce; zero if nothing does.
	Budget Cause
	// BeforeWave is a gate that has not passed and that the next wave waits for; DuringSoak one that ends a soak without success.
	BeforeWave, DuringSoak Cause
	// Approvals are gates that users pass, each for one rollout.
	Approvals []Approval
	// Gates are the other gates with their state, for users.
	Gates []Gate
	// Settle is for how long a change rests before it is rolled out, so that edits in a row are one rollout.
	Settle time.Duration
	// MaxAge is the age at which machines are replaced, less up to Jitter percent of it; zero for none.
	MaxAge time.Duration
	Jitter int
	// Promoted is what a user has promoted, as ID/wave or ID/full: the soak after that wave, or everything that is left, is skipped.
	Promoted string
	// RollsBack is true if a rollout that fails goes back to the last template whose rollout ended, Returns if this one goes back.
	RollsBack, Returns bool
}

// back returns the limits of a rollout back to a former template: windows, exclusions and budgets hold, and nothing that would judge or
// delay the change, which led here.
func (l Limits) back() Limits {
	l.BeforeWave, l.DuringSoak, l.Approvals = Cause{}, Cause{}, nil
	l.Settle, l.Promoted, l.RollsBack = 0, "", false
	return l
}

// Soak is for how long new machines are watched.
type Soak struct {
	// First follows the first of several waves, Wave each later one but the last, Final the last.
	First, Wave, Final time.Duration
}

// none reports whether nothing is watched.
func (s Soak) none() bool { return s == Soak{} }

// after returns the soak of a wave, counted from 1, of so many.
func (s Soak) after(wave, of int) time.Duration {
	switch {
	case wave >= of:
		return s.Final
	case wave == 1 && s.First > 0:
		return s.First
	}
	return s.Wave
}

// Gate is the state of a gate of a policy, for users.
type Gate struct {
	// Policy names the policy with its kind, such as RolloutPolicy nightly; Name is that of the gate.
	Policy, Name string
	// State is Unknown, Pending, GatePassed, Failed or AwaitingApproval. Message tells what was found; it holds no value that changes from one
	// answer to the next.
	State, Message string
}

// Approval is a gate that a user must pass for each rollout.
type Approval struct {
	// Gate names the gate; its state is that of a rollout that has not been approved. Cause is why that waits.
	Gate  Gate
	Cause Cause
	// For are the IDs of the rollouts that have been approved.
	For []string
	// By tells, for users, which client approved the rollout of the pool.
	By string
}

// GatePassed is the state of a gate that lets a rollout go on.
const GatePassed = "Passed"

// GateAwaitsApproval is the state of a gate that a user has not approved.
const GateAwaitsApproval = "AwaitingApproval"

// GatesOf returns all gates with their state for a rollout.
func (l Limits) GatesOf(id string) []Gate {
	list := slices.Clone(l.Gates)
	for _, a := range l.Approvals {
		if slices.Contains(a.For, id) {
			a.Gate.State, a.Gate.Message = GatePassed, a.By
		}
		list = append(list, a.Gate)
	}
	return list
}

// before returns what the next wave of a rollout waits for; zero if nothing.
func (l Limits) before(id string) Cause {
	if l.BeforeWave != (Cause{}) {
		return l.BeforeWave
	}
	for _, a := range l.Approvals {
		if !slices.Contains(a.For, id) {
			return a.Cause
		}
	}
	return Cause{}
}
