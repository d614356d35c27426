package pool

import (
	"fmt"
	"time"

	"github.com/muster-project/muster/pool/rollouts"
	"github.com/muster-project/muster/pool/undrainable"
)

// IntOrPercent is a number of machines, or a share of them.
type IntOrPercent = rollouts.IntOrPercent

// Strategy bounds the replacement of instances by Muster (strategy type RollingUpdate). Its order is Desired.DeletePolicy.
type Strategy struct {
	// MaxSurge is the number of machines that may exist above the wanted number. A percentage rounds up.
	MaxSurge IntOrPercent
	// MaxUnavailable is the number of wanted machines that may be missing, at most all of them. A percentage rounds down.
	MaxUnavailable IntOrPercent
	// Waves are cumulative numbers of machines after each of which a rollout rests for the Soak; percentages round up. None is one wave.
	Waves []IntOrPercent
	Soak  rollouts.Soak
	// Undrainable is what is done about machines that a rollout can't drain.
	Undrainable undrainable.Rule
	// OnDelete is true if stale instances stay until a user deletes them or requests a restart (strategy type OnDelete).
	OnDelete bool
	// SurgeField and UnavailableField name the object's fields, for messages.
	SurgeField, UnavailableField string
}

// Restart asks for a replacement of every instance that was created before a moment.
type Restart struct {
	Before time.Time
	// Cause is why, in the words of the request.
	Cause Cause
}

const (
	// DefaultJoinDeadline is more than the slowest images of the big clouds take to boot and join.
	DefaultJoinDeadline = 15 * time.Minute
	// DefaultProgressDeadline leaves a machine that joined late the time to become Ready.
	DefaultProgressDeadline = 20 * time.Minute
)

// bothZero returns that a strategy allows no replacement, or nil.
func (s *Strategy) bothZero() *Cause {
	if s == nil || s.MaxSurge.Value > 0 || s.MaxUnavailable.Value > 0 {
		return nil
	}
	return &Cause{"StrategyInvalid", fmt.Sprintf("%s and %s are both 0, so no machine could ever be replaced: set one of them to 1 or more",
		s.SurgeField, s.UnavailableField)}
}

// undrainable returns what is done about machines that a rollout can't drain.
func (s *Strategy) undrainable() (r undrainable.Rule) {
	if s != nil {
		r = s.Undrainable
	}
	return r
}

// limits returns the numbers of a strategy for a pool of that size. Without a strategy, or with one that allows nothing, the defaults hold
// (surge 1, unavailable 0) for what is replaced even then. A percentage of unavailable machines that rounds down to 0 counts as 1 with
// maxSurge 0, as in Deployments: there is no room for a replacement otherwise.
func (s *Strategy) limits(of int) (surge, unavailable int) {
	if s == nil || s.bothZero() != nil {
		return 1, 0
	}
	surge, unavailable = s.MaxSurge.Up(of), min(s.MaxUnavailable.Down(of), of)
	if surge == 0 && unavailable == 0 {
		unavailable = min(1, of)
	}
	return surge, unavailable
}

// ProviderRolloutState is the state of a cloud's own roll.
type ProviderRolloutState string

// The states of a roll.
const (
	ProviderRolloutRunning ProviderRolloutState = "Running"
	// ProviderRolloutBaking has replaced everything and watches for a while.
	ProviderRolloutBaking     ProviderRolloutState = "Baking"
	ProviderRolloutCancelling ProviderRolloutState = "Cancelling"
	// ProviderRolloutReverting takes back what was replaced.
	ProviderRolloutReverting ProviderRolloutState = "Reverting"
	ProviderRolloutSucceeded ProviderRolloutState = "Succeeded"
	ProviderRolloutFailed    ProviderRolloutState = "Failed"
	ProviderRolloutCancelled ProviderRolloutState = "Cancelled"
	// ProviderRolloutReverted has taken back what was replaced.
	ProviderRolloutReverted ProviderRolloutState = "Reverted"
)

// ProviderRollout is a roll that the cloud runs by itself.
type ProviderRollout struct {
	ID    string
	State ProviderRolloutState
	// Template is the target of the rollout. Its Content is empty if it is not known or not a template of Muster.
	Template Template
	// ByOthers is true if another client began it, to what the object asks for or for what it says nothing about.
	ByOthers bool
	// Percent is the progress, from 0 to 100.
	Percent int
	// Reason is the cloud's own words on its state.
	Reason string
	// Started and Ended are zero when the cloud does not say, or it has not ended.
	Started, Ended time.Time
	// Failures counts the rolls to the same content that have ended without success in a row, this one included.
	Failures int
}

// ended reports whether the rollout has ended.
func (r *ProviderRollout) ended() bool {
	switch r.State {
	case ProviderRolloutSucceeded, ProviderRolloutFailed, ProviderRolloutCancelled, ProviderRolloutReverted:
		return true
	}
	return false
}

// Runs reports whether there is a rollout and it has not ended.
func (r *ProviderRollout) Runs() bool { return r != nil && !r.ended() }

// brought reports whether an instance came while the rollout ran or was paused. Older ones serve beside those when it is taken back.
func (r *ProviderRollout) brought(i *Instance) bool {
	return r != nil && !provisioned(i).Before(r.Started)
}

// cancellable reports whether the rollout is still replacing instances.
func (r *ProviderRollout) cancellable() bool {
	return !r.ended() && r.State != ProviderRolloutCancelling && r.State != ProviderRolloutReverting
}
