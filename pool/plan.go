package pool

import "time"

// Plan is what the decision says about a pool: at most one step, who goes and why, what is waited for, and what is
// refused.
type Plan struct {
	// Step is nil when there is nothing to do, or nothing that may be done yet.
	Step *Step
	// Waiting says what the pool waits for, most important first.
	Waiting []Cause
	// Refused says why the object can't be followed until somebody changes something.
	Refused *Cause
	// Quiescent says that nothing in the cloud is on its way: the next look can wait for the resync.
	Quiescent bool
	// Next is the earliest moment at which time alone may change the plan: a deadline ends, a node has been Ready for long
	// enough. It is zero when only something that happens can.
	Next time.Time
	// DeletionComplete says that nothing of the pool is left in the cloud, so that the object may go.
	DeletionComplete bool
	// Instances are those that there is a reason to remove or to replace, now or later, in the order of Observed.
	Instances []InstanceDecision
	// InPlace are those that the cloud changes without replacing them, now or later, in the order of Observed.
	InPlace []InstanceDecision
	// Forecast are the waves in which the rest of a rollout by Strategy replaces instances, if nothing goes wrong.
	Forecast []Wave
	// Budget is what the rollout and every other step of ours may take.
	Budget Budget
	// Rollout says how far the replacement of instances has come.
	Rollout Rollout
}

// InstanceDecision is why one instance goes.
type InstanceDecision struct {
	ID    string
	Cause Cause
	// LowersAvailable says that the pool has one available machine less when it goes, so that it has to wait for its turn.
	LowersAvailable bool
	// Selected says that its turn has come: it is being drained or removed.
	Selected bool
}

// Wave is one round of a rollout: Targets go, and as many come.
type Wave struct {
	Targets []InstanceRef
	// Surge is how many machines above the wanted number run meanwhile.
	Surge int
	// LowestAvailable is the least number of machines that serve meanwhile.
	LowestAvailable int
}

// Budget holds the numbers behind a decision.
type Budget struct {
	// Desired is the number of machines that budgets are counted from: the pool's replicas, or the group's own size without
	// our surge where somebody else sizes the group.
	Desired int
	// Available serve now: joined, Ready for as long as asked, not drained by us, not on their way out.
	Available int
	// MaxSurge and MaxUnavailable are the strategy's values for Desired, as numbers of machines.
	MaxSurge, MaxUnavailable int
	// Unavailable is how many of Desired do not serve, at least zero.
	Unavailable int
	// Surge is how many machines above Desired there are or will be for the rollout.
	Surge int
	// Left is how many instances a rollout has still to replace.
	Left int
}

// RolloutState is a rollout in one word.
type RolloutState string

// The states of a rollout.
const (
	// RolloutDone: no instance has to be replaced.
	RolloutDone RolloutState = "Done"
	// RolloutInProgress: instances are being replaced, by us or by the cloud.
	RolloutInProgress RolloutState = "InProgress"
	// RolloutHalted: new instances do not become Ready, so that no more are replaced.
	RolloutHalted RolloutState = "Halted"
	// RolloutPaused: somebody asked to replace none for now.
	RolloutPaused RolloutState = "Paused"
	// RolloutWaiting: the cloud's own roll has failed or was cancelled and is begun again after a pause, or something that
	// it needs is missing.
	RolloutWaiting RolloutState = "Waiting"
	// RolloutNone: instances are stale, and nothing replaces them.
	RolloutNone RolloutState = "None"
)

// Rollout says how far the replacement of instances has come.
type Rollout struct {
	State RolloutState
	// Cause is why instances are replaced, or why none is, in one sentence with counts; zero when Done.
	Cause Cause
	// Left is how many instances are still to be replaced, Total how many the pool has.
	Left, Total int
}
