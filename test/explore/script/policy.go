package script

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Policy is a rollout policy that selects the pools of a scenario.
type Policy struct {
	// Closed are the spans from the beginning within which no replacement begins: exclusions. Shut is one outside of all windows, in whole
	// minutes, and empty for a policy without windows; Grace is for how long what has begun may end in it. Zone is the time zone of the
	// windows.
	Closed [][2]time.Duration
	Shut   [2]time.Duration
	Grace  time.Duration
	Zone   string
	// Settle is for how long a change rests. Machines is the number of machines that may be replaced at a time; 0 bounds nothing.
	Settle   time.Duration
	Machines int
	// Gates are asked; Approval is one that a user passes, nil for none.
	Gates    []Gate
	Approval *Approval
	// RollsBack has a rollout that fails go back. Retries is true if a user tries it again at once, and not only in the end.
	RollsBack, Retries bool
	// Pace is that of the strategy of the pools.
	Pace Pace
}

const (
	// policyOneIn is the number of scenarios of which one has a policy.
	policyOneIn = 3
	saltPolicy  = 0x706f6c69
	// graceOfExclusions is the grace of exclusions, as the project promises it, where no window sets another.
	graceOfExclusions = 30 * time.Minute
)

// DrawPolicy draws a policy for one scenario in a few, with edits whose rollouts it delays. It has rows of random numbers of its own.
func (s *Scenario) DrawPolicy() {
	d, ends := rand.New(rand.NewPCG(s.Seed, saltPolicy)), s.Ends
	if d.IntN(policyOneIn) > 0 {
		return
	}
	p := &Policy{Settle: []time.Duration{0, 0, 20 * time.Second, 2 * time.Minute}[d.IntN(4)], Machines: d.IntN(3)}
	for at := time.Duration(0); at < ends && d.IntN(4) > 0; {
		from := at + time.Duration(d.IntN(int(ends/time.Second)))*time.Second
		at = from + time.Duration(10+d.IntN(300))*time.Second
		p.Closed = append(p.Closed, [2]time.Duration{from, at})
	}
	s.Policy = p
	s.drawGates(rand.New(rand.NewPCG(s.Seed, saltGates))) // they change nothing of the above
}

// Windows reports whether the policy has windows.
func (p *Policy) Windows() bool { return p.Shut[0] < p.Shut[1] }

// ClosedAt returns since when the policy has been closed at a moment, and how long what had begun before may end; false if it is open.
func (p *Policy) ClosedAt(at time.Duration) (since, grace time.Duration, closed bool) {
	spans := slices.Clone(p.Closed)
	if grace = graceOfExclusions; p.Windows() {
		spans, grace = append(spans, p.Shut), p.Grace
	}
	since = at
	for again := true; again; {
		again = false
		for _, s := range spans {
			if s[0] <= since && since < s[1] || s[1] == since && closed {
				again = again || !closed || s[0] < since
				since, closed = min(since, s[0]), true
			}
		}
	}
	return since, grace, closed
}
