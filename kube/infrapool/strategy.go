package infrapool

import (
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/pool"
)

// StrategyOf translates the strategy that all self-managed kinds share. field is its field in the object, for messages: "spec.strategy".
// Without a strategy it returns the default order alone.
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
