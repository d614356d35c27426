package prove

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/muster-project/muster/pool"
)

// Case describes a pool as its object wants it, and the abilities of its cloud.
type Case struct {
	// Replicas is the number of machines that is wanted, Surge and Unavailable are the strategy's.
	Replicas, Surge, Unavailable int
	// Replaces is true if the cloud can terminate a machine and launch another in one call (Traits.ReplaceKeepsSize), KeepsFailed if failed
	// machines stay until they are removed (Traits.KeepsFailedInstances).
	Replaces, KeepsFailed bool
	// Paused is true if no machine is replaced for being of the old template, External if another client sizes the group, Deleting if the
	// pool is being deleted.
	Paused, External, Deleting bool
}

func (c Case) String() string {
	text := fmt.Sprintf("%d machines, surge %d, unavailable %d", c.Replicas, c.Surge, c.Unavailable)
	for _, word := range []struct {
		is   bool
		text string
	}{
		{!c.Replaces, "no replacing call"}, {c.KeepsFailed, "failed machines stay"}, {c.Paused, "paused"},
		{c.External, "sized by another client"}, {c.Deleting, "being deleted"},
	} {
		if word.is {
			text += ", " + word.text
		}
	}
	return text
}

// largest is the maximum of every pool, so that no bound is met.
const largest = 10

// policy decides for a case.
type policy struct {
	c       Case
	desired pool.Desired
	traits  pool.Traits
}

func policyOf(c Case) policy {
	p := policy{c: c, desired: pool.Desired{
		Replicas: c.Replicas, ReplicasManagedExternally: c.External, Deleting: c.Deleting,
		Max: largest, MaxField: "max", MinField: "min", DeletePolicy: pool.Oldest,
		Strategy: &pool.Strategy{MaxSurge: pool.IntOrPercent{Value: c.Surge}, MaxUnavailable: pool.IntOrPercent{Value: c.Unavailable}},
	}, traits: pool.Traits{
		Group: "group", Template: "template", RemoveBatch: largest, CanCancelRollout: true,
		ReplaceKeepsSize: c.Replaces, KeepsFailedInstances: c.KeepsFailed,
	}}
	if c.Paused {
		p.desired.RolloutPaused = &pool.Cause{Reason: "RolloutPaused", Message: "paused"}
	}
	return p
}

// versions are those that exist before and after the new template does.
var versions = [][]pool.Template{{templateOld}, {templateNew, templateOld}}

// observed returns what a driver reports of the state.
func (s state) observed() pool.Observed {
	o := pool.Observed{
		Group:    &pool.Group{ID: "group", Size: s.size, Max: largest, Template: templateOld.Ref},
		Wanted:   pool.Template{Content: templateNew.Content, Data: templateNew.Data},
		Versions: versions[0], Instances: make([]pool.Instance, 0, len(s.list)), Cache: pool.CacheStatus{Fresh: true, GroupFresh: true},
	}
	if s.exists {
		o.Versions = versions[1]
	}
	switch s.stage {
	case nothing:
		o.Group, o.Versions = nil, nil
	case gone:
		o.Group = nil
	default:
		o.Group.Deleting = s.stage == leaving
	}
	if s.pointed {
		o.Group.Template = templateNew.Ref
	}
	for at, place := range s.list {
		o.Instances = append(o.Instances, instances[at][place])
	}
	return o
}

// plans calls f with the decision in a state, and with the decisions after the previous steps were rejected, until there is no step. The
// plans share the observation.
func (p policy) plans(s state, f func(plan pool.Plan, refused bool)) {
	o, d := s.observed(), p.desired
	for refused := false; ; refused = true {
		plan := pool.Decide(d, o, p.traits, now)
		f(plan, refused)
		if plan.Step == nil {
			return
		}
		if d.StepsInBackoff == nil {
			d.StepsInBackoff = map[pool.StepKind]pool.Cause{}
		}
		d.StepsInBackoff[plan.Step.Kind] = pool.Cause{Reason: "Denied", Message: "not now"}
	}
}

// targets returns the places in the list of the machines that a step names.
func (s state) targets(step *pool.Step) []int {
	var out []int
	for _, t := range step.Targets {
		if at, err := strconv.Atoi(t.ID); err == nil && at < len(s.list) {
			out = append(out, at)
		}
	}
	return out
}

// done returns the state after the cloud has carried the step out, for the first n of its machines.
func (s state) done(step *pool.Step, n int) state {
	next := s
	next.list = slices.Clone(s.list)
	switch step.Kind {
	case pool.PutTemplate:
		next.exists, next.stage = true, min(s.stage, gone)
	case pool.CreateGroup:
		next.stage, next.size, next.pointed = there, step.Size, step.Template == templateNew.Ref
	case pool.DeleteGroup:
		next.stage = leaving
		return next
	case pool.DeleteTemplates:
		next.stage, next.exists = nothing, false
	case pool.UpdateGroup:
		next.pointed = step.Template == templateNew.Ref
	case pool.Resize:
		next.size = step.Size
	}
	for _, at := range s.targets(step)[:min(n, len(step.Targets))] {
		m := machines[s.list[at]]
		switch step.Kind {
		case pool.Drain:
			m.drain = min(m.drain+1, drained)
		case pool.Undrain:
			m.drain = undrained
		case pool.Remove:
			next.size = max(0, next.size-1)
			m = machine{life: terminating}
		case pool.Replace:
			m = machine{life: terminating}
		}
		next.list[at] = placeOf[m]
	}
	return next.with(next.list)
}

// answers calls the function with the state after each answer to a step that changes something: it is carried out, or for the first of its
// machines alone.
func (s state) answers(step *pool.Step, f func(next state)) {
	f(s.done(step, len(step.Targets)))
	if len(step.Targets) > 1 {
		f(s.done(step, 1))
	}
}

// goesOn calls the function with the state after each move that the cloud, a machine or a node makes by itself. All of them are good: each
// brings a machine further in its life.
func (c Case) goesOn(s state, f func(next state)) {
	seen := uint8(255)
	for at, place := range s.list {
		if place == seen {
			continue // another like it makes the same move
		}
		seen = place
		if next, moves := c.lives(s, at); moves {
			f(next)
		}
	}
	switch n := s.alive(); {
	case s.stage == leaving && len(s.list) == 0:
		f(state{stage: gone, exists: s.exists})
	case s.stage == leaving && n > 0:
		c.shrink(s, f)
	case s.stage != there:
	case n < s.size && len(s.list) < most:
		f(s.with(append(slices.Clone(s.list), placeOf[machine{life: pending, old: !s.pointed}])))
	case n > s.size:
		c.shrink(s, f)
	}
}

// lives returns the state after the next move of one machine.
func (c Case) lives(s state, at int) (next state, moves bool) {
	m := machines[s.list[at]]
	switch {
	case m.life == terminating, m.life == failed && !c.KeepsFailed:
		return s.without(at), true
	case m.life == pending:
		m.life = booted
	case m.life == booted:
		m.life = joined
	case m.life == joined:
		m.life = ready
	default:
		return s, false
	}
	return s.replaced(at, m), true
}

// shrink lets the cloud terminate any one machine of a group that is larger than its size.
func (c Case) shrink(s state, f func(next state)) {
	seen := uint8(255)
	for at, place := range s.list {
		if place != seen && machines[place].alive() {
			seen = place
			f(s.replaced(at, machine{life: terminating}))
		}
	}
}
