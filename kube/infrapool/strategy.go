package infrapool

import (
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/pool"
)

// StrategyOf translates the limits and the order that all self-managed kinds share. field is the strategy's field in the object, for
// messages: "spec.strategy". Without any it returns the defaults.
func StrategyOf(r *common.RollingUpdate, field string) (*pool.Strategy, pool.DeletePolicy) {
	return &pool.Strategy{
		MaxSurge:         limit(r.Surge()),
		MaxUnavailable:   limit(r.Unavailable()),
		SurgeField:       field + ".rollingUpdate.maxSurge",
		UnavailableField: field + ".rollingUpdate.maxUnavailable",
	}, pool.DeletePolicy(r.Policy())
}

func limit(value int, percent bool) pool.IntOrPercent {
	return pool.IntOrPercent{Value: value, Percent: percent}
}
