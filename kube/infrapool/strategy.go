package infrapool

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/rollouts"
	"github.com/muster-project/muster/pool/undrainable"
)

// StrategyOf translates the limits, the order and the pace that all self-managed kinds share. field is the strategy's field in the object,
// for messages: "spec.strategy". Without any it returns the defaults.
func StrategyOf(s common.Strategy, field string) (*pool.Strategy, pool.DeletePolicy) {
	r := s.RollingUpdate
	out := &pool.Strategy{
		MaxSurge:         limit(r.Surge()),
		MaxUnavailable:   limit(r.Unavailable()),
		SurgeField:       field + ".rollingUpdate.maxSurge",
		UnavailableField: field + ".rollingUpdate.maxUnavailable",
		OnDelete:         s.Type == common.StrategyOnDelete,
		Undrainable:      undrainableRule(s.Undrainable),
		Soak:             rollouts.Soak{First: elapsed(s.Soak.First), Wave: elapsed(s.Soak.Wave), Final: elapsed(s.Soak.Final)},
	}
	for _, wave := range s.Waves {
		out.Waves = append(out.Waves, limit(common.AmountOf(wave)))
	}
	return out, pool.DeletePolicy(r.Policy())
}

func limit(value int, percent bool) pool.IntOrPercent {
	return pool.IntOrPercent{Value: value, Percent: percent}
}

// undrainableRule translates what is done about nodes that can't be drained. An action without its time, which admission refuses, is none.
func undrainableRule(u *common.Undrainable) undrainable.Rule {
	if u == nil || u.Action == "" || u.Action == common.UndrainableWait || elapsed(u.After) == 0 {
		return undrainable.Rule{}
	}
	return undrainable.Rule{Action: undrainable.Action(u.Action), After: elapsed(u.After),
		Max: int(max(0, ptr.Deref(u.Max, common.DefaultMaxQuarantined)))}
}

// forceAfter returns the time after which the drain of a machine that a rollout replaces ends; zero is none.
func forceAfter(s *pool.Strategy) time.Duration {
	if s == nil {
		return 0
	}
	return s.Undrainable.Timeout(0)
}

// elapsed returns a duration of an object, never below zero.
func elapsed(d *metav1.Duration) time.Duration {
	return max(0, ptr.Deref(d, metav1.Duration{}).Duration)
}
