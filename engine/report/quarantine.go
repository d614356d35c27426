package report

import (
	"fmt"
	"slices"

	"github.com/muster-project/muster/pool"
)

// quarantines are the events of machines that a rollout goes on without, and of those that leave quarantine: their pods are gone, or their
// drain is cancelled.
func quarantines(f facts) []Event {
	if !tellsStep(f) {
		return nil
	}
	var moved []pool.InstanceRef
	for _, t := range f.out.Plan.Step.Targets {
		if i := instanceOf(f.o, t.ID); i.Node != nil && !f.out.Failed[t.ID] && moves(f.out.Plan.Step.Kind, t, *i.Node) {
			moved = append(moved, t)
		}
	}
	if len(moved) == 0 {
		return nil
	}
	switch f.out.Plan.Step.Kind {
	case pool.Drain:
		return []Event{{Warning: true, Reason: "NodeQuarantined", Message: fmt.Sprintf(
			"Quarantined %s: the drain has been blocked for more than %s by %s. The rollout goes on with other machines", names(moved),
			f.d.Strategy.Undrainable.After, joined(keeping(f.o, moved)))}}
	case pool.Undrain:
		return []Event{{Reason: "NodeReleased", Message: fmt.Sprintf("Released %s from quarantine: %s", names(moved),
			f.out.Plan.Step.Cause.Message)}}
	}
	return []Event{{Reason: "NodeReleased", Message: fmt.Sprintf("Released %s from quarantine: the drain has ended", names(moved))}}
}

// moves reports whether a step of a kind puts a node into quarantine, or ends that.
func moves(kind pool.StepKind, t pool.InstanceRef, n pool.Node) bool {
	switch kind {
	case pool.Drain:
		return t.Quarantined && !n.Quarantined
	case pool.Undrain, pool.Remove, pool.Replace: // what a termination hook holds is released after that
		return n.Quarantined
	}
	return false
}

// keeping names what keeps the drains of instances from ending.
func keeping(o pool.Observed, targets []pool.InstanceRef) (list []string) {
	for _, t := range targets {
		list = append(list, instanceOf(o, t.ID).Node.Blocked...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
