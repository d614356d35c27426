package gates

import (
	"fmt"
	"slices"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/policy/gates/approval"
	"github.com/muster-project/muster/pool/rollouts"
)

// The reasons for which a gate holds a rollout.
const (
	// ReasonGateFailed is that of a gate whose last answer was negative.
	ReasonGateFailed = "GateFailed"
	// ReasonGateUnknown is that of a gate that was not asked yet, or whose last answer decides nothing.
	ReasonGateUnknown = "GateUnknown"
	// ReasonAwaitingApproval is that of a gate that a user must approve.
	ReasonAwaitingApproval = rollouts.GateAwaitsApproval
)

// Known is what is known of a gate of a policy for one rollout.
type Known struct {
	// Policy names the policy with its kind, such as RolloutPolicy nightly.
	Policy string
	Gate   musterv1.RolloutGate
	// State of a gate that is asked.
	State State
	// Approved is true if a user has approved the rollout; of an approval alone.
	Approved bool
}

// Limits returns the first gates that hold a rollout: before its next wave, and in the soak of a wave, which ends without success. Before a
// wave a gate must have passed. In a soak it must not have failed: while its state is unknown, the last known one counts.
func Limits(all []Known) (beforeWave, duringSoak rollouts.Cause) {
	for _, k := range all {
		if beforeWave == (rollouts.Cause{}) && k.asksDuring(musterv1.GateBeforeWave) {
			beforeWave = k.beforeWave()
		}
		if duringSoak == (rollouts.Cause{}) && k.asksDuring(musterv1.GateSoak) && k.State.failed() {
			duringSoak = rollouts.Cause{Reason: ReasonGateFailed, Message: k.sentence("has failed")}
		}
	}
	return beforeWave, duringSoak
}

// beforeWave returns why the next wave waits for the gate; zero if it does not.
func (k Known) beforeWave() rollouts.Cause {
	switch {
	case k.Gate.Approval != nil && k.Approved, k.Gate.Approval == nil && k.State.Phase == Passed:
		return rollouts.Cause{}
	case k.Gate.Approval != nil:
		return rollouts.Cause{Reason: ReasonAwaitingApproval, Message: fmt.Sprintf("gate %s of %s waits for the approval of a user: add "+
			"%s@<status.rollout.id> to the annotation %s", k.Gate.Name, k.Policy, k.Gate.Name, approval.Annotation)}
	case k.State.failed():
		return rollouts.Cause{Reason: ReasonGateFailed, Message: k.sentence("has failed")}
	case k.State.Phase == Pending:
		return rollouts.Cause{Reason: ReasonGateFailed, Message: k.sentence("has not passed")}
	default:
		return rollouts.Cause{Reason: ReasonGateUnknown, Message: k.sentence("is unknown")}
	}
}

// asksDuring reports whether the gate counts in a phase. An approval counts before waves alone.
func (k Known) asksDuring(phase musterv1.GatePhase) bool {
	if k.Gate.Approval != nil {
		return phase == musterv1.GateBeforeWave
	}
	return len(k.Gate.During) == 0 || slices.Contains(k.Gate.During, phase)
}

func (k Known) sentence(is string) string {
	return fmt.Sprintf("gate %s of %s %s: %s", k.Gate.Name, k.Policy, is, k.State.Message)
}

// failed reports whether the last decided answer made the gate fail.
func (s State) failed() bool { return s.Phase == Failed || s.Phase == Unknown && s.LastKnown == Failed }
