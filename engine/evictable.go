package engine

import (
	"context"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// undecidedEvery is the interval at which pods are listed of nodes that could be removed in place of one whose drain is blocked.
const undecidedEvery = time.Minute

// preferEvictable finds out what a drain would find on some nodes, and decides again: nodes that others cordoned and that have nothing to
// evict go before others, and nodes whose pods can be evicted go in place of one whose drain is blocked. The pods of these nodes are listed
// only in a pass that chooses an instance, or now and then while a drain is blocked.
func (e *Engine[S]) preferEvictable(ctx context.Context, f Input[S], n Nodes, m *record, out *Outcome) {
	if f.Desired.NoDrain != nil || f.Desired.Deleting {
		return
	}
	e.decideKnowing(ctx, f, n, m, out, chosenAmong(*out))
	undecided := out.Plan.Undecided
	if len(undecided) == 0 || !chooses(out.Plan.Step, out.Observed.Instances) && f.Now.Before(m.undecided.Add(undecidedEvery)) &&
		!f.Now.Equal(m.undecided) {
		return
	}
	m.undecided = f.Now
	e.decideKnowing(ctx, f, n, m, out, func(i pool.Instance) bool { return slices.Contains(undecided, i.ID) })
}

// decideKnowing asks what a drain would find on the nodes of some instances, and decides again with the answer. An error is no reason not
// to go on: the choice is right without this preference.
func (e *Engine[S]) decideKnowing(ctx context.Context, f Input[S], n Nodes, m *record, out *Outcome, of func(pool.Instance) bool) {
	o := &out.Observed
	var keys []string
	for _, i := range o.Instances {
		if key := cloud.ProviderKey(i.ProviderID); key != "" && i.Node != nil && of(i) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return
	}
	known, err := n.Evictable(ctx, keys)
	if err != nil {
		return
	}
	for _, i := range o.Instances {
		if i.Node != nil && of(i) {
			i.Node.Evictable = known[cloud.ProviderKey(i.ProviderID)]
		}
	}
	out.Plan = e.decide(f, *o, m, f.Now)
}

// chosenAmong selects the nodes that others cordoned, if a pass chooses an instance.
func chosenAmong(out Outcome) func(pool.Instance) bool {
	begins := chooses(out.Plan.Step, out.Observed.Instances)
	return func(i pool.Instance) bool {
		return begins && i.State != pool.Terminating && i.Node.CordonedByOthers()
	}
}

// chooses reports whether a step begins to take an instance that could be another one.
func chooses(s *pool.Step, instances []pool.Instance) bool {
	if s == nil || !slices.Contains(takingSteps, s.Kind) {
		return false
	}
	named := make(map[string]bool, len(s.Targets))
	for _, t := range s.Targets {
		named[t.ID] = true
	}
	for _, i := range instances {
		if named[i.ID] && exchangeable(i) {
			return true
		}
	}
	return false
}

// takingSteps are the steps that take an instance out of service.
var takingSteps = []pool.StepKind{pool.Drain, pool.Remove, pool.Replace, pool.EnterStandby}

// exchangeable reports whether another instance could be removed instead of this one: its removal has not begun, and neither its Machine's
// deletion nor a termination by the cloud requires it.
func exchangeable(i pool.Instance) bool {
	return i.Node != nil && i.Node.DrainStarted.IsZero() && i.State != pool.Terminating && i.DeletionRequested == nil &&
		i.TerminationNotice == nil
}
