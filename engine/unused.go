package engine

import (
	"context"
	"slices"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// preferUnused finds out which nodes that others cordoned have nothing to evict, and decides again: those go before others. The pods of
// these nodes are listed only in a pass that chooses an instance.
func (e *Engine[S]) preferUnused(ctx context.Context, f Input[S], n Nodes, m *record, out *Outcome) {
	o := &out.Observed
	if f.Desired.NoDrain != nil || f.Desired.Deleting || !chooses(out.Plan.Step, o.Instances) {
		return
	}
	var keys []string
	for _, i := range o.Instances {
		if key := cloud.ProviderKey(i.ProviderID); key != "" && i.State != pool.Terminating && i.Node.CordonedByOthers() {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return
	}
	// An error is no reason not to go on: the choice is right without this preference.
	unused, err := n.Empty(ctx, keys)
	if err != nil {
		return
	}
	for _, i := range o.Instances {
		if i.Node.CordonedByOthers() {
			i.Node.Empty = unused[cloud.ProviderKey(i.ProviderID)]
		}
	}
	out.Plan = e.decide(f, *o, m, f.Now)
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

// exchangeable reports whether another instance could go in the place of this one: its removal has not begun, and neither its Machine's
// deletion nor a termination by the cloud requires it.
func exchangeable(i pool.Instance) bool {
	return i.Node != nil && i.Node.DrainStarted.IsZero() && i.State != pool.Terminating && i.DeletionRequested == nil &&
		i.TerminationNotice == nil
}
