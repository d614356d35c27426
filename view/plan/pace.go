package plan

import (
	"time"

	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/rollouts"
)

// pace is what delays the rollout of a forecast: rollout policies, waves and soaks. Its gates pass; the first that would not is noted.
type pace struct {
	// at returns what policies allow at a time; nil without policies.
	at func(time.Time) rollouts.Limits
	// delays is true if something may delay the rollout. jumps bounds how often the time advances for it.
	delays bool
	jumps  int
	// ageless is true once no machine is replaced for its age any more.
	ageless bool
	// begins are the times at which the rounds begin.
	begins map[int]time.Time
	// gate is the first gate that holds back the rollout, and gated the round from which it does.
	gate  *pool.Cause
	gated int
}

// newPace returns what delays the rollout of a pool.
func newPace(l preview.Look) pace {
	p := pace{at: l.Limits, begins: map[int]time.Time{}}
	limits := l.Desired.Limits
	p.delays = len(limits.Closed) > 0 || !limits.Changes.IsZero() || gates(limits) || limits.Settle > 0
	if s := l.Desired.Strategy; s != nil && (len(s.Waves) > 0 || s.Soak != rollouts.Soak{}) {
		p.delays = true
	}
	if p.delays { // for each machine a window opens, closes and lets it end, and the new one must have been Ready for a while
		p.jumps = 4 * (len(l.Observed.Instances) + 1)
	}
	if p.at == nil {
		p.at = func(time.Time) rollouts.Limits { return limits }
	}
	return p
}

// gates reports whether gates may hold back the rollout.
func gates(l rollouts.Limits) bool { return l.BeforeWave != (rollouts.Cause{}) || len(l.Approvals) > 0 }

// limits returns what policies allow at a time if their gates pass.
func (p pace) limits(at time.Time) rollouts.Limits {
	l := p.readable(at)
	l.BeforeWave, l.DuringSoak, l.Approvals = rollouts.Cause{}, rollouts.Cause{}, nil
	if p.ageless {
		l.MaxAge = 0
	}
	return l
}

// readable returns what policies allow at a time. Those that the user may not read hold back nothing here: the manager may read them.
func (p pace) readable(at time.Time) rollouts.Limits {
	l := p.at(at)
	if unread(l) {
		l.Closed = nil
	}
	return l
}

// unread reports whether the user may not read the policies.
func unread(l rollouts.Limits) bool {
	for _, c := range l.Closed {
		if c.Cause.Reason == policy.ReasonPoliciesForbidden {
			return true
		}
	}
	return false
}

// note notes when the present round begins, and the first gate that would hold back the rollout in it.
func (p *pace) note(c *idealCloud) {
	if !p.delays {
		return
	}
	if _, known := p.begins[c.round]; !known {
		p.begins[c.round] = c.now.UTC().Truncate(time.Second)
	}
	real := p.readable(c.now)
	if p.gate != nil || !gates(real) {
		return
	}
	d := c.d
	d.Limits = real
	held := pool.Decide(d, c.o, c.t, c.now).Progress
	passes := pool.Decide(c.d, c.o, c.t, c.now).Progress
	if held.State == rollouts.Waiting && held.Cause != passes.Cause {
		p.gate, p.gated = &pool.Cause{Reason: held.Cause.Reason, Message: held.Cause.Message}, c.round
	}
}

// begin returns when a round begins. No time is known once a gate decides.
func (p pace) begin(round int) Begin {
	switch {
	case !p.delays:
		return Begin{}
	case p.gate != nil && round >= p.gated:
		return Begin{Gate: p.gate}
	}
	return Begin{At: p.begins[round]}
}

// bootsUntil returns when an instance has booted.
func (c *idealCloud) bootsUntil(i *pool.Instance) time.Time {
	if i.Created.After(c.began) {
		return i.Created.Add(boot)
	}
	return c.began.Add(boot)
}

// booted returns when the present round ends: when the first machine has booted that is booting, else when one launched now would have.
func (c *idealCloud) booted() time.Time {
	end := c.now.Add(boot)
	for k := range c.o.Instances {
		i := &c.o.Instances[k]
		if at := c.bootsUntil(i); c.pace.delays && i.State == pool.Pending && at.After(c.now) && at.Before(end) {
			end = at
		}
	}
	return end
}
