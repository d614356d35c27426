package aws

import (
	"slices"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/wire"
	"github.com/muster-project/muster/sim/core"
)

// fields are what the request says.
func (x *exchange) fields() core.Fields {
	switch wire.ProtocolOf(x.Service).Kind {
	case wire.RESTProtocol.Kind, wire.JSONProtocol.Kind:
		return core.JSON{Text: &x.Body}
	}
	return core.Form{Values: &x.Params}
}

// Ignorable are rules that each ignore one field that clients can set, or one operation that sets something as a whole: every such
// field of groups, hooks, tags, templates and node groups, without end.
func Ignorable() []sim.Fault {
	const whole = ""
	out := slices.Concat(
		core.Ignoring(wire.ServiceAutoScaling, "UpdateAutoScalingGroup", "MinSize", "MaxSize", "VPCZoneIdentifier", "DefaultCooldown",
			"DefaultInstanceWarmup", "CapacityRebalance", "LaunchTemplate", "MixedInstancesPolicy"),
		core.Ignoring(wire.ServiceAutoScaling, "PutLifecycleHook", whole, "HeartbeatTimeout", "NotificationTargetARN"),
	)
	for _, action := range []string{
		"SetDesiredCapacity", "CreateOrUpdateTags", "DeleteTags", "DeleteLifecycleHook", "SuspendProcesses", "ResumeProcesses",
		"SetInstanceProtection", "TerminateInstanceInAutoScalingGroup", "EnterStandby", "StartInstanceRefresh",
	} {
		out = append(out, core.Ignoring(wire.ServiceAutoScaling, action, whole)...)
	}
	return slices.Concat(out,
		core.Ignoring(wire.ServiceEC2, "ModifyLaunchTemplate", whole),
		core.Ignoring(wire.ServiceEC2, "DeleteLaunchTemplateVersions", whole),
		core.Ignoring(wire.ServiceEKS, "UpdateNodegroupConfig", "labels", "taints", "scalingConfig.minSize", "scalingConfig.maxSize",
			"scalingConfig.desiredSize", "updateConfig", "nodeRepairConfig"),
		core.Ignoring(wire.ServiceEKS, "TagResource", whole),
		core.Ignoring(wire.ServiceEKS, "UntagResource", whole),
	)
}
