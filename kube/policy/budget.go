package policy

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/pool/rollouts"
)

// ReasonBudgetSpent is the reason of a pool that other pools leave no room.
const ReasonBudgetSpent = "BudgetSpent"

// Usage holds what other pools use of a budget, and the number that its percentage refers to.
type Usage struct {
	// Desired is the number of desired machines of all counted pools, this one included.
	Desired int
	// Replacing is the number of machines of the other pools that are being replaced for a reason of the budget.
	Replacing int
	// Rollouts is the number of other pools that are in a rollout.
	Rollouts int
}

// Counts reports whether a budget limits removals for a reason.
func (b Budget) Counts(r rollouts.Reason) bool {
	return len(b.Reasons) == 0 || slices.Contains(b.Reasons, musterv1.RolloutReason(r))
}

// MachineLimit returns the number of machines that may be replaced at the same time; limited is false if the budget has no such limit. A
// percentage of the desired machines is rounded down, and is at least 1.
func (b Budget) MachineLimit(desired int) (n int, limited bool) {
	if b.Machines == nil {
		return 0, false
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(b.Machines, desired, false)
	if err != nil {
		return 1, true // the API server refuses such values
	}
	return max(n, 1), true
}

// AtOnce returns how many machines of a pool may be replaced at the same time for the reasons of its rollout, and the budget that leaves
// the least room. usage returns how far the other pools use a budget. Without a budget for the reasons limited is false.
func AtOnce(budgets []Budget, reasons []rollouts.Reason, usage func(Budget) Usage) (n int, cause rollouts.Cause, limited bool) {
	take := func(room int, b Budget) {
		if room = max(room, 0); !limited || room < n {
			n, limited = room, true
			cause = rollouts.Cause{Reason: ReasonBudgetSpent, Message: "other pools use up a budget of " + b.Policy.String()}
		}
	}
	for _, b := range budgets {
		if !slices.ContainsFunc(reasons, b.Counts) {
			continue
		}
		used := usage(b)
		if limit, ok := b.MachineLimit(used.Desired); ok {
			take(limit-used.Replacing, b)
		}
		if b.Pools != nil && used.Rollouts >= int(*b.Pools) {
			take(0, b)
		}
	}
	return n, cause, limited
}
