package infrapool

import (
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/pool"
)

// StrategyOf translates the strategy that all self-managed kinds share. Field is where the object has it, for messages:
// "spec.strategy". Without a strategy there is the default order alone.
func StrategyOf(s *common.Strategy, field string) (*pool.Strategy, pool.DeletePolicy) {
	if s == nil {
		return nil, pool.Oldest
	}
	r := s.RollingUpdate
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
