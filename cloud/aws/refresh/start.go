package refresh

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
)

const (
	// CodeInProgress is the service's code if a refresh is under way already.
	CodeInProgress = "InstanceRefreshInProgress"
	// codeNone is the service's code if no refresh is under way.
	codeNone = "ActiveInstanceRefreshNotFound"
)

// Preferences returns the pool's preferences as they are sent; what the pool leaves out is left to the service. Instances in standby are
// left alone by default: they belong to another client, or are about to be terminated. With keepProtected the refresh ignores instances
// that are protected from scale-in; with replaceMatching it also replaces those of the wanted version.
func Preferences(preferences *awsv1.RefreshPreferences, keepProtected, replaceMatching bool) *asgtypes.RefreshPreferences {
	sent := &asgtypes.RefreshPreferences{StandbyInstances: asgtypes.StandbyInstancesIgnore}
	if preferences != nil {
		fill(sent, preferences)
	}
	sent.SkipMatching = new(!replaceMatching)
	if keepProtected {
		sent.ScaleInProtectedInstances = asgtypes.ScaleInProtectedInstancesIgnore
	}
	return sent
}

// fill takes the pool's preferences over.
func fill(sent *asgtypes.RefreshPreferences, preferences *awsv1.RefreshPreferences) {
	sent.InstanceWarmup = narrow(preferences.InstanceWarmup)
	sent.MinHealthyPercentage = narrow(preferences.MinHealthyPercentage)
	sent.MaxHealthyPercentage = narrow(preferences.MaxHealthyPercentage)
	sent.CheckpointPercentages = preferences.CheckpointPercentages
	if len(preferences.CheckpointPercentages) > 0 {
		// The service rejects a delay without checkpoints.
		sent.CheckpointDelay = narrow(preferences.CheckpointDelay)
	}
	sent.BakeTime = narrow(preferences.BakeTime)
	if preferences.AutoRollback {
		sent.AutoRollback = &preferences.AutoRollback
	}
	if alarms := preferences.AlarmSpecification; alarms != nil && len(alarms.Alarms) > 0 {
		sent.AlarmSpecification = &asgtypes.AlarmSpecification{Alarms: alarms.Alarms}
	}
	sent.ScaleInProtectedInstances = asgtypes.ScaleInProtectedInstances(preferences.ScaleInProtectedInstances)
	if preferences.StandbyInstances != "" {
		sent.StandbyInstances = asgtypes.StandbyInstances(preferences.StandbyInstances)
	}
}

// narrow returns a number of the specification in the type that the service has for it.
func narrow(n *int64) *int32 {
	if n == nil {
		return nil
	}
	return new(int32(*n))
}

// Start begins a refresh to a configuration.
func Start(ctx context.Context, c asg.Client, to *asgtypes.DesiredConfiguration, preferences *asgtypes.RefreshPreferences) error {
	_, err := c.Session.AutoScaling.StartInstanceRefresh(ctx, &autoscaling.StartInstanceRefreshInput{
		AutoScalingGroupName: &c.Name, DesiredConfiguration: to, Preferences: preferences, Strategy: asgtypes.RefreshStrategyRolling,
	})
	return session.Refusal(err, c.Now)
}

// Cancel ends the refresh that is under way. It is no error if there is none.
func Cancel(ctx context.Context, c asg.Client) error {
	_, err := c.Session.AutoScaling.CancelInstanceRefresh(ctx, &autoscaling.CancelInstanceRefreshInput{AutoScalingGroupName: &c.Name})
	if err = session.Refusal(err, c.Now); cloud.CodeOf(err) == codeNone || session.Absent(err) {
		return nil
	}
	return err
}
