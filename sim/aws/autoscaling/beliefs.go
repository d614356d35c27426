package autoscaling

import (
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/evidence"
)

// ProtectsAny protects instances in any state from scale-in.
const ProtectsAny sim.Switch = "asg.ProtectsAny"

// Beliefs returns the behaviour of Auto Scaling that drivers rely on.
func Beliefs() []evidence.Row {
	const (
		sdk = "aws-sdk-go-v2/service/autoscaling v1.79.3"
		// examples of the service model; verified are tests of another client that pass on AWS, too.
		examples = "examples of the service model in botocore of August 2026"
		verified = "getmoto/moto: tests/test_autoscaling/test_autoscaling.py (verified on AWS), "
		mixed    = verified + "test_create_auto_scaling_group_with_mixed_instances_policy"
		template = verified + "test_describe_autoscaling_groups_launch_template"
	)
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
		evidence.Observed("Only instances in service or in standby can be protected",
			"infrahouse/infrahouse-toolkit: issue 223 (Pending:Wait), guardian/riff-raff: pull request 510 (terminating)").
			Switch(ProtectsAny, "instances in any state"),
		evidence.Observed("An update of a group that does not exist is refused with the words AutoScalingGroup name not found - null",
			verified+"test_update_unknown_group"),
		evidence.Observed("A launch template that is given without a version is shown without one",
			verified+"test_create_auto_scaling_from_template_version__no_version"),
		evidence.Observed("The version $Default of a launch template is shown as it was given",
			verified+"test_create_auto_scaling_from_template_version__default"),
		evidence.Observed("A launch template that is given by its name is shown with its ID, too", template),
		evidence.Observed("An instance shows its launch template with ID, name and the number of the version, whatever the group names", mixed),
		evidence.Observed("A policy without a distribution shows prioritized, 0, 100, lowest-price and 2 pools", mixed),
		evidence.Documented("HealthStatus is Healthy at a group's instances and HEALTHY where instances are listed",
			"DescribeAutoScalingGroups and DescribeAutoScalingInstances", examples),
		evidence.Documented("The reason of a refresh names one instance that warms up", "DescribeInstanceRefreshes", examples),
		evidence.Documented("A refresh that has ended shows EndTime, PercentageComplete 100, InstancesToUpdate 0 and no reason",
			"DescribeInstanceRefreshes", examples),
		evidence.Documented("A lifecycle hook shows DefaultResult ABANDON, and GlobalTimeout 172800 for a heartbeat of an hour",
			"DescribeLifecycleHooks", examples),
		evidence.Documented("A launch is an activity with the words Launching a new EC2 instance: and the ID; its cause tells of the request",
			"DescribeScalingActivities", examples),
	)
}
