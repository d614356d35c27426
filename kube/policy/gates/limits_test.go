package gates

import (
	"testing"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/pool/rollouts"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	asked := func(during ...musterv1.GatePhase) musterv1.RolloutGate {
		return musterv1.RolloutGate{Name: "g", During: during}
	}
	approval := musterv1.RolloutGate{Name: "ok", Approval: &musterv1.ApprovalGate{}, During: []musterv1.GatePhase{musterv1.GateSoak}}
	in := func(phase, known Phase) State { return State{Phase: phase, LastKnown: known, Message: "m"} }
	const failed, unknown, awaiting = ReasonGateFailed, ReasonGateUnknown, ReasonAwaitingApproval
	for _, c := range []struct {
		why          string
		known        []Known
		before, soak string
	}{
		{why: "no gate"},
		{why: "passed", known: []Known{{Gate: asked(), State: in(Passed, Passed)}}},
		{why: "not asked yet", known: []Known{{Gate: asked(), State: NotAsked()}}, before: unknown},
		{why: "the zero state is not passed", known: []Known{{Gate: asked()}}, before: unknown},
		{why: "failed ends a soak", known: []Known{{Gate: asked(), State: in(Failed, Failed)}}, before: failed, soak: failed},
		{why: "one negative answer ends no soak", known: []Known{{Gate: asked(), State: in(Pending, Pending)}}, before: failed},
		{why: "in a soak the last known state counts: passed", known: []Known{{Gate: asked(), State: in(Unknown, Passed)}}, before: unknown},
		{why: "in a soak the last known state counts: failed", known: []Known{{Gate: asked(), State: in(Unknown, Failed)}}, before: failed,
			soak: failed},
		{why: "before waves alone", known: []Known{{Gate: asked(musterv1.GateBeforeWave), State: in(Failed, Failed)}}, before: failed},
		{why: "in soaks alone", known: []Known{{Gate: asked(musterv1.GateSoak), State: in(Failed, Failed)}}, soak: failed},
		{why: "in soaks alone, unknown", known: []Known{{Gate: asked(musterv1.GateSoak), State: NotAsked()}}},
		{why: "not approved", known: []Known{{Gate: approval}}, before: awaiting},
		{why: "approved", known: []Known{{Gate: approval, Approved: true}}},
		{why: "every gate must pass", known: []Known{{Gate: asked(), State: in(Passed, Passed)}, {Gate: approval}}, before: awaiting},
		{why: "one gate before the wave, another in the soak",
			known: []Known{{Gate: approval}, {Gate: asked(), State: in(Failed, Failed)}}, before: awaiting, soak: failed},
	} {
		before, soak := Limits(c.known)
		if before.Reason != c.before || soak.Reason != c.soak {
			t.Errorf("%s: want %q before the wave and %q in the soak, got %+v, %+v", c.why, c.before, c.soak, before, soak)
		}
	}
	_, soak := Limits([]Known{{Policy: "RolloutPolicy nightly", Gate: asked(), State: in(Failed, Failed)}})
	if want := (rollouts.Cause{Reason: failed, Message: "gate g of RolloutPolicy nightly has failed: m"}); soak != want {
		t.Errorf("want %+v, got %+v", want, soak)
	}
}
