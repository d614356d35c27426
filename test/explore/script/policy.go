package script

import (
	"math/rand/v2"
	"time"
)

// Policy is a rollout policy that selects the pools of a scenario.
type Policy struct {
	// Closed are the spans from the beginning within which no replacement begins.
	Closed [][2]time.Duration
	// Settle is for how long a change rests. Machines is the number of machines that may be replaced at a time; 0 bounds nothing.
	Settle   time.Duration
	Machines int
}

const (
	// policyOneIn is the number of scenarios of which one has a policy.
	policyOneIn = 3
	saltPolicy  = 0x706f6c69
)

// DrawPolicy returns the policy of a seed whose edits end at a time, or nil. It has a row of random numbers of its own.
func DrawPolicy(seed uint64, ends time.Duration) *Policy {
	d := rand.New(rand.NewPCG(seed, saltPolicy))
	if d.IntN(policyOneIn) > 0 {
		return nil
	}
	p := &Policy{Settle: []time.Duration{0, 0, 20 * time.Second, 2 * time.Minute}[d.IntN(4)], Machines: d.IntN(3)}
	for at := time.Duration(0); at < ends && d.IntN(4) > 0; {
		from := at + time.Duration(d.IntN(int(ends/time.Second)))*time.Second
		at = from + time.Duration(10+d.IntN(300))*time.Second
		p.Closed = append(p.Closed, [2]time.Duration{from, at})
	}
	return p
}
