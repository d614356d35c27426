package prove

import (
	"fmt"

	"github.com/muster-project/muster/pool"
)

// rule is broken, or it is not.
type rule struct {
	broken bool
	wrong  string
}

// first returns the violation of the first broken rule, "" for none.
func first(rules ...rule) string {
	for _, r := range rules {
		if r.broken {
			return r.wrong
		}
	}
	return ""
}

// steps holds for each kind of step the check for violations in a state, which returns "" for none. It does not depend on how a step was
// decided.
var steps = map[pool.StepKind]func(c Case, s state, step *pool.Step) string{
	pool.PutTemplate: func(_ Case, s state, _ *pool.Step) string { return first(rule{s.exists, "the template exists"}) },
	pool.UpdateGroup: func(_ Case, s state, step *pool.Step) string {
		return first(rule{step.Template != templateNew.Ref || !s.exists, "the group would launch from what is not wanted"})
	},
	pool.CreateGroup: func(c Case, s state, step *pool.Step) string {
		return first(rule{s.stage != gone || c.Deleting, "no group is wanted"},
			rule{step.Template != templateNew.Ref || step.Size != c.Replicas, "such a group is not wanted"})
	},
	pool.DeleteTemplates: func(c Case, s state, _ *pool.Step) string {
		return first(rule{s.stage != gone || !c.Deleting, "the templates are in use"})
	},
	pool.DeleteGroup: Case.unsafeDeletion,
	pool.Resize:      Case.unsafeSize,
	pool.Undrain: func(c Case, s state, step *pool.Step) string {
		return first(rule{c.desiredSize(s) == 0, "no machine is wanted"},
			rule{s.any(step, func(m machine) bool { return m.drain == undrained }), "a machine is not being drained"})
	},
	pool.Drain: Case.unsafeRemoval, pool.Remove: Case.unsafeRemoval, pool.Replace: Case.unsafeRemoval,
}

// countOf counts the machines that a step names and that something is true of.
func (s state) countOf(step *pool.Step, is func(machine) bool) int {
	n := 0
	for _, at := range s.targets(step) {
		if is(machines[s.list[at]]) {
			n++
		}
	}
	return n
}

func (s state) any(step *pool.Step, is func(machine) bool) bool { return s.countOf(step, is) > 0 }

// holdsPods reports whether a drain of the machine has not ended.
func (m machine) holdsPods() bool { return m.hasNode() && m.drain != drained }

// rolls reports whether a machine goes for its template alone.
func (m machine) rolls() bool { return m.old && !m.named && m.life != failed }

// stuck reports whether a machine does not serve and does not change by itself.
func (m machine) stuck() bool { return m.life == lost || m.life == unready || m.life == failed }

// asWanted reports whether nothing is to be done about a machine.
func (c Case) asWanted(m machine) bool { return m.serves() && !m.named && (!m.old || c.Paused) }

// unsafe returns the violation of a step in a state, "" for none.
func (c Case) unsafe(s state, step *pool.Step) string {
	targets, seen := s.targets(step), map[int]bool{}
	for _, at := range targets {
		if seen[at] || !machines[s.list[at]].alive() {
			return fmt.Sprintf("it names machine %d twice, or one that goes anyway", at)
		}
		seen[at] = true
	}
	wrong := steps[step.Kind]
	switch {
	case len(targets) != len(step.Targets):
		return "it names a machine that does not exist"
	case wrong == nil:
		return "such a pool has no use for it"
	}
	return wrong(c, s, step)
}

// unsafeDeletion returns the violation in the deletion of the group.
func (c Case) unsafeDeletion(s state, _ *pool.Step) string {
	return first(rule{!c.Deleting || s.stage != there, "the pool stays, or its group is being deleted"},
		rule{s.count(machine.holdsPods) > 0, "a machine is not drained"})
}

// desiredSize returns the number of machines that is wanted.
func (c Case) desiredSize(s state) int {
	if c.External {
		return s.size
	}
	return c.Replicas
}

// unavailable returns how many of them may not serve.
func (c Case) unavailable(s state) int {
	if c.External { // without a record of a surge there is none
		return min(c.desiredSize(s), max(1, c.Unavailable))
	}
	return min(c.desiredSize(s), c.Unavailable)
}

// unsafeSize returns the violation in a size.
func (c Case) unsafeSize(s state, step *pool.Step) string {
	size, n := step.Size, s.alive()
	return first(rule{c.External, "another client sizes the group"}, rule{size == s.size, "it has that size"},
		rule{size < n, fmt.Sprintf("the cloud would choose which of %d machines go", n)},
		rule{size < c.Replicas, "it is less than what is wanted"},
		rule{size > s.size && size > max(c.Replicas+c.Surge, n), fmt.Sprintf("%d are wanted with a surge of %d", c.Replicas, c.Surge)})
}

// hasReason reports whether a machine may go whatever the number of machines is.
func (c Case) hasReason(m machine) bool {
	return c.Deleting || m.named || m.life == failed && c.KeepsFailed || m.old && !c.Paused
}

// unsafeRemoval returns the violation in a removal, or in the drain before it.
func (c Case) unsafeRemoval(s state, step *pool.Step) string {
	lost := s.countOf(step, machine.serves)
	without := len(step.Targets) - s.countOf(step, c.hasReason)
	drains, replaces, removes := step.Kind == pool.Drain, step.Kind == pool.Replace, step.Kind == pool.Remove
	return first(
		rule{len(step.Targets) == 0, "it names no machine"},
		rule{!drains && s.any(step, machine.holdsPods), "a machine is not drained"},
		rule{drains && s.any(step, func(m machine) bool { return !m.hasNode() }), "a machine has no node to drain"},
		rule{replaces && !c.Replaces, "the cloud has no such call"},
		rule{replaces && !s.pointed && s.any(step, machine.rolls), "another machine of the old template would be launched"},
		rule{without > max(0, s.alive()-c.desiredSize(s)), "a machine has no reason to go"},
		rule{!c.Deleting && lost > 0 && s.serving()-lost < c.desiredSize(s)-c.unavailable(s),
			fmt.Sprintf("%d serve, at most %d of %d may be unavailable, and it takes %d", s.serving(), c.unavailable(s), c.desiredSize(s), lost)},
		rule{removes && c.Replaces && s.size-len(step.Targets) < c.desiredSize(s), "the group would be smaller than wanted"},
	)
}

// unfinished returns the violation of a state in which nothing moves and nothing is planned, "" for none: the state must be the desired
// one, or the plan must report what it waits for.
func (c Case) unfinished(s state, p pool.Plan) string {
	reported := len(p.Waiting) > 0 || p.Refused != nil
	switch {
	case c.Deleting:
		return first(rule{s.stage != nothing || !p.DeletionComplete, "something of the pool is left"})
	case s.stage != there:
		return "there is no group"
	case s.count(machine.stuck) > 0:
		return first(rule{!reported, "machines do not serve, and the plan does not say so"})
	case c.Paused && reported:
		return ""
	}
	return first(
		rule{s.alive() != c.desiredSize(s) || s.size != c.desiredSize(s),
			fmt.Sprintf("%d machines in a group of %d, where %d are wanted", s.alive(), s.size, c.desiredSize(s))},
		rule{s.count(c.asWanted) < len(s.list), "a machine is not as wanted"},
		rule{!s.pointed, "the group launches from what is not wanted"},
		rule{!p.Quiescent, "something is said to be on its way"},
	)
}
