package awsmachinepool

import (
	"time"

	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/pool"
)

// translateRollout sets how instances are replaced: by Muster within the limits of the strategy, or of the refresh preferences where there
// is none, or by the group's instance refresh where the strategy names it; unless the preferences disable it.
func translateRollout(spec *awsv1.AWSMachinePoolSpec, t *infrapool.Translation[*awsv1.MachinePoolSource]) {
	preferences := ptr.Deref(spec.RefreshPreferences, awsv1.RefreshPreferences{})
	strategy := ptr.Deref(spec.Strategy, awsv1.Strategy{})
	t.Strategy, t.DeletePolicy = infrapool.StrategyOf(common.Strategy{Type: common.StrategyType(strategy.Type),
		RollingUpdate: strategy.RollingUpdate, Pace: strategy.Pace}, "spec.strategy")
	switch {
	case strategy.Type == awsv1.StrategyInstanceRefresh:
		t.Strategy, t.Rollback = nil, preferences.AutoRollback
	case spec.Strategy == nil && spec.RefreshPreferences != nil:
		limitBy(t.Strategy, preferences)
		t.MinReady = time.Duration(ptr.Deref(preferences.InstanceWarmup, 0)) * time.Second
	}
	if preferences.Disable && spec.Strategy == nil {
		t.RollDisabled = &pool.Cause{Reason: "RefreshDisabled",
			Message: "a changed launch template replaces no machine: spec.refreshPreferences.disable is true"}
	}
}

// limitBy sets the limits of a rollout to those of an instance refresh: what may be missing below 100 percent, and what may exist above.
// An absent percentage stands for the default of a rollout, and so does the surge where both leave no room.
func limitBy(s *pool.Strategy, preferences awsv1.RefreshPreferences) {
	minPercent, maxPercent := ptr.Deref(preferences.MinHealthyPercentage, 100), ptr.Deref(preferences.MaxHealthyPercentage, 100)
	s.SurgeField, s.UnavailableField = "spec.refreshPreferences.maxHealthyPercentage", "spec.refreshPreferences.minHealthyPercentage"
	s.MaxSurge, s.MaxUnavailable = pool.IntOrPercent{Value: common.DefaultMaxSurge}, pool.IntOrPercent{Value: common.DefaultMaxUnavailable}
	if minPercent < 100 {
		s.MaxUnavailable = pool.IntOrPercent{Value: int(100 - minPercent), Percent: true}
	}
	if preferences.MaxHealthyPercentage != nil && (maxPercent > 100 || minPercent < 100) {
		s.MaxSurge = pool.IntOrPercent{Value: int(maxPercent - 100), Percent: true}
	}
}
