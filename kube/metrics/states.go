package metrics

import "github.com/muster-project/muster/pool"

// The states of instances: each instance is in exactly one, so that their sum is the size of the pool in the cloud.
const (
	statePending     = "pending"
	stateJoining     = "joining"
	stateReady       = "ready"
	stateNotReady    = "not_ready"
	stateDraining    = "draining"
	stateTerminating = "terminating"
	stateFailed      = "failed"
	stateUnknown     = "unknown"
)

var states = []string{statePending, stateJoining, stateReady, stateNotReady, stateDraining, stateTerminating, stateFailed, stateUnknown}

// rollouts are the states of a rollout.
var rollouts = []pool.RolloutState{
	pool.RolloutDone, pool.RolloutInProgress, pool.RolloutHalted, pool.RolloutPaused, pool.RolloutWaiting, pool.RolloutNone,
}

// stateOf returns the state of one instance: the one that the cloud reports, and for a running instance that of its node.
func stateOf(i *pool.Instance, nodesUnknown bool) string {
	switch i.State {
	case pool.Failed:
		return stateFailed
	case pool.Terminating:
		return stateTerminating
	case pool.Pending:
		return statePending
	}
	switch n := i.Node; {
	case n == nil && nodesUnknown:
		return stateUnknown
	case n != nil && !n.DrainStarted.IsZero():
		return stateDraining
	case n == nil || n.Joining():
		return stateJoining
	case n.Ready:
		return stateReady
	default:
		return stateNotReady
	}
}
