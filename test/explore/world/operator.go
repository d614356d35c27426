package world

import (
	"slices"
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/api/common"
)

// The annotations by which people approve a rollout and try one again, as the project promises them. approvalGate is the gate that they
// approve.
const (
	approveAnnotation = "muster.dev/approve"
	retryAnnotation   = "muster.dev/retry"
	approvalGate      = "go"
)

// operator is a user who looks at the status of a pool now and then: approves its rollouts, and tries those again that were rolled back.
type operator struct {
	world *World
	// seen is the rollout that waited for approval at the last look. An approval of it is written at the next one, whatever waits by then.
	seen string
	// approved are the rollouts that were approved.
	approved map[string]bool
}

const (
	// looksEach is the time between two looks, lookWithin the least one.
	looksEach, lookWithin = 40 * time.Second, 5 * time.Second
	// anotherRollout is approved from the beginning.
	anotherRollout = "another"
)

// begin has the operator look at a pool from now on.
func (op *operator) begin() {
	p := op.world.Scenario.Policy
	if p == nil || p.Approval == nil && !p.RollsBack {
		return
	}
	each := looksEach
	if p.Approval != nil {
		op.approve(anotherRollout)
		each = max(lookWithin, p.Approval.After)
	}
	op.again(each)
}

// again has the operator look once more after a while, until the pool is gone.
func (op *operator) again(each time.Duration) {
	w := op.world
	w.At(time.Now().Add(each), func() {
		if !w.gone {
			op.look()
			op.again(each)
		}
	})
}

// look acts on the status of the pool.
func (op *operator) look() {
	w := op.world
	_, o := w.Objects.Both()
	if o == nil {
		return
	}
	is := w.pool.Status(o)
	p, over := w.Scenario.Policy, !w.rest.calmed.IsZero()
	if back := is.Rollback; p.RollsBack && back != nil && (p.Retries || over) {
		w.Objects.EditPool(func(mp *clusterv1.MachinePool) {
			if mp.Annotations[retryAnnotation] != back.Rollout {
				w.Trace("event", "a user tries rollout %s again", back.Rollout)
				annotate(mp, retryAnnotation, back.Rollout)
			}
		})
	}
	if p.Approval == nil {
		return
	}
	seen := op.seen
	if over {
		seen = awaiting(is.Rollout)
	}
	if op.seen = awaiting(is.Rollout); seen != "" && !op.approved[seen] {
		op.approve(seen)
	}
}

// awaiting returns the rollout that waits for approval; empty if none does.
func awaiting(r *common.RolloutStatus) string {
	waits := func(g common.GateStatus) bool { return g.Name == approvalGate && g.State == "AwaitingApproval" }
	if r == nil || !slices.ContainsFunc(r.Gates, waits) {
		return ""
	}
	return r.ID
}

// approve approves a rollout beside those that are approved already.
func (op *operator) approve(id string) {
	w := op.world
	w.Trace("event", "a user approves rollout %s", id)
	op.approved[id] = true
	w.Objects.EditPool(func(mp *clusterv1.MachinePool) {
		annotate(mp, approveAnnotation, strings.TrimPrefix(mp.Annotations[approveAnnotation]+","+approvalGate+"@"+id, ","))
	})
}
