package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// Lookups stores what an observation resolved (Observed.ResolvedLookups) on the object of the pool, where it outlives the process.
type Lookups interface {
	// Store is called before a step of the driver starts, which may rest on what was resolved: if that were lost with the process, the next
	// pass could resolve something newer and replace machines. The step does not start if it fails. What is stored already is no error.
	Store(ctx context.Context, resolved map[string]string) error
}

// edge holds the Kubernetes side of a step: Nodes and look-ups.
type edge struct {
	nodes   Nodes
	lookups Lookups
}

// store stores what a step of the driver may rest on.
func (n edge) store(ctx context.Context, k pool.StepKind, resolved map[string]string) error {
	if n.lookups == nil || len(resolved) == 0 {
		return nil
	}
	if err := n.lookups.Store(ctx, resolved); err != nil {
		return fmt.Errorf("before %s: %w", k, err)
	}
	return nil
}

// start runs the planned step: Drain and Undrain through Nodes, all others through the driver, once what was resolved is stored.
func (e *Engine[S]) start(ctx context.Context, f Input[S], n edge, m *record, out *Outcome) {
	s := out.Plan.Step
	if s == nil {
		m.forgive(f.Now)
		if out.Plan.Quiescent {
			m.attempts = nil // what waits for its effect is wanted, and a pool that wants something is not settled
		}
		return
	}
	*s = m.attempts.withoutResting(*s, f.Now)
	var err error
	if OnNodes(s.Kind) {
		err = n.nodes.Start(ctx, *s)
	} else if err = n.store(ctx, s.Kind, out.Observed.ResolvedLookups); err == nil {
		err = e.driver.Start(m.queue.since(m.refusal[s.Kind].held).in(ctx, priorityOf(*s, f.Desired, out.Observed), f.Now), f.Target, *s)
	}
	m.presence.started(*s, err, f.Now)
	if err != nil {
		out.Failed = failedTargets(err)
		if out.NewError = newError(m.refusal[s.Kind].answer(), err); OnNodes(s.Kind) && conflicts(err) {
			out.NewError = nil // the next pass reads the Node again
		}
		m.refused(*s, f.Now, err)
		if cloud.StartedInPart(err) {
			m.startedInPart(*s, out.Observed, e.driver.Traits(), f.Now)
		}
		// What is waited for is said as if no back-off had ended, so that conditions do not flap with each try.
		f.Desired.StepsInBackoff = m.avoid(time.Time{})
		out.Plan.Waiting = e.decide(f, out.Observed, m, time.Time{}).Waiting
		return
	}
	out.Started = true
	m.began(s.Kind)
	if out.Repeated = m.begun(*s, out.Observed, e.driver.Traits(), f.Now); out.Repeated {
		out.Plan.Waiting = e.decide(f, out.Observed, m, time.Time{}).Waiting
	}
}

// failedTargets are the targets that an error names, or nil when it concerns the whole step.
func failedTargets(err error) map[string]bool {
	var partial *PartialError
	if errors.As(err, &partial) {
		return partial.Failed
	}
	return nil
}

// conflicts reports whether an error consists of conflicts alone.
func conflicts(err error) bool {
	var partial *PartialError
	if errors.As(err, &partial) {
		err = partial.Err
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(joined.Unwrap(), func(e error) bool { return !conflicts(e) })
	}
	var conflict *ConflictError
	return errors.As(err, &conflict)
}
