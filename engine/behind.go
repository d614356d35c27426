package engine

import (
	"slices"
	"time"

	"github.com/muster-project/muster/pool"
)

// holdScaleIn has instances that are too many stay while it is known that reads are behind: the cloud has just refused a write because what it
// rested on is out of date. The same read would let instances go that another client has released already, and nothing brings them back. What goes
// for another reason is not held. It returns the time of the wait, zero if nothing was held.
func (p *presence) holdScaleIn(out *Outcome, now time.Time) time.Duration {
	wait := p.outdated.Add(readsBehind).Sub(now)
	s := out.Plan.Step
	if wait <= 0 || p.outdated.IsZero() || s == nil || !slices.Contains(removing, s.Kind) {
		return 0
	}
	others := slices.DeleteFunc(slices.Clone(s.Targets), func(t pool.InstanceRef) bool { return t.Cause.Reason == pool.ScaleIn })
	if len(others) > 0 || len(s.Targets) == 0 {
		s.Targets = others
		return 0
	}
	out.Plan.Step = nil
	out.Plan.Waiting = append(out.Plan.Waiting, pool.Cause{Reason: "ReadsBehind",
		Message: "the cloud has refused a change because what was read is out of date: machines that are too many wait for a later look"})
	return wait
}

// removing are the steps that end instances, or begin to.
var removing = []pool.StepKind{pool.Drain, pool.Remove, pool.Release}
