package infrapool

import (
	"context"
	"time"

	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/kube/policy/limiter"
	"github.com/muster-project/muster/pool/rollouts"
)

// limited returns a pool as rollout policies see it.
func limited[O Object](kind string, s scope[O], now time.Time) limiter.Pool {
	return limiter.Pool{Kind: kind, Object: s.object, MachinePool: s.machinePool, Cluster: s.cluster, Now: now,
		Desired: int(ptr.Deref(s.object.GetCommonStatus().DesiredReplicas, int32(replicas(s.machinePool))))}
}

// limits returns what rollout policies and the user allow now. They hold back no pool that is being deleted.
func limits[O Object](ctx context.Context, by *limiter.Limiter, kind string, s scope[O], now time.Time) rollouts.Limits {
	if s.deleting() {
		return rollouts.Limits{}
	}
	l, err := by.Limits(ctx, limited(kind, s, now))
	switch {
	case err != nil:
		l = policiesUnknown(err, now)
	case s.settings.RolloutNow:
		l.Closed = nil
	}
	l.Promoted = s.settings.Promoted
	return l
}

// policiesUnknown returns the limits while the policies can't be read: no replacement begins, and what has begun may end. Everything else
// that a pass does rests on no policy.
func policiesUnknown(err error, now time.Time) rollouts.Limits {
	l := rollouts.Limits{Closed: map[rollouts.Reason]rollouts.Closure{}}
	for _, why := range rollouts.Reasons {
		l.Closed[why] = rollouts.Closure{GraceUntil: now.Add(time.Minute), Cause: rollouts.Cause{Reason: reasonPoliciesUnknown,
			Message: "no replacement begins while the rollout policies can't be read: " + err.Error()}}
	}
	return l
}

// reasonPoliciesUnknown is the reason of a rollout whose policies can't be read.
const reasonPoliciesUnknown = "PoliciesUnknown"
