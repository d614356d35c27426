package autoscaling

import (
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/evidence"
)

// ProtectsAny protects instances in any state from scale-in.
const ProtectsAny sim.Switch = "asg.ProtectsAny"

// Beliefs returns the behaviour of Auto Scaling that drivers rely on.
func Beliefs() []evidence.Row {
	const sdk = "aws-sdk-go-v2/service/autoscaling v1.79.3"
	return evidence.Of("Auto Scaling",
		evidence.Documented("A terminated instance is replaced unless the request decrements the desired capacity",
			"TerminateInstanceInAutoScalingGroup", sdk),
		evidence.Documented("One request protects at most 50 instances", "SetInstanceProtectionInput.InstanceIds", sdk),
		evidence.Documented("A group with instances is deleted only with ForceDelete, which terminates them", "DeleteAutoScalingGroup", sdk),
		evidence.Documented("An instance in standby is replaced unless the request decrements the desired capacity", "EnterStandby", sdk),
		evidence.Documented("An instance refresh waits for protected instances by default", "RefreshPreferences.ScaleInProtectedInstances", sdk),
		evidence.Documented("An instance refresh waits for instances in standby by default", "RefreshPreferences.StandbyInstances", sdk),
		evidence.Documented("A refresh replaces matching instances unless SkipMatching is set", "RefreshPreferences.SkipMatching", sdk),
		evidence.Documented("MinHealthyPercentage of a refresh is 90 by default, or that of the maintenance policy",
			"RefreshPreferences.MinHealthyPercentage", sdk),
		evidence.Documented("An instance that was terminated out of band is replaced",
			"Health checks for instances in an Auto Scaling group", "EC2 Auto Scaling User Guide of 2026").
			Declared("sim.GroupBehavior.RecreatesInstances"),
		evidence.Documented("Earlier instance refreshes are listed with their status", "DescribeInstanceRefreshes", sdk).
			Declared("sim.GroupBehavior.RecordsRollouts"),
		evidence.Documented("Properties that an update leaves out stay as they are", "UpdateAutoScalingGroup", sdk),
		evidence.Documented("Another launch template changes no instance that runs", "UpdateAutoScalingGroup", sdk),
		evidence.Documented("A lifecycle hook waits 3600 seconds by default, and 30 to 7200 by its heartbeat timeout",
			"PutLifecycleHookInput.HeartbeatTimeout", sdk),
		evidence.Documented("A group that exists is refused with AlreadyExists, an activity that runs with ScalingActivityInProgress",
			"deserializers of CreateAutoScalingGroup and UpdateAutoScalingGroup", sdk),
		evidence.Documented("A request without a required parameter is refused", "validators", sdk),
		evidence.Assumed("Only instances in service or in standby can be protected").Switch(ProtectsAny, "instances in any state"),
	)
}
