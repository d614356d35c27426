package aws

import (
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/wire"
)

// says reports whether the request says anything of a field.
func (x *exchange) says(field string) bool {
	if wire.ProtocolOf(x.Service).Kind == wire.RESTProtocol.Kind || wire.ProtocolOf(x.Service).Kind == wire.JSONProtocol.Kind {
		return sim.JSONHas(x.Body, field)
	}
	return sim.FormHas(x.Params, field)
}

// carryOut runs a write, or what faults leave of it. What is ignored is checked as ever, and refused if it is wrong.
func (x *exchange) carryOut(r *region, faults []sim.Fault) (any, error) {
	all, fields := sim.Ignored(faults)
	if !all && len(fields) == 0 {
		return x.operation.run(r, x)
	}
	trial, err := x.server.asOf(r, r.Now, 0)
	if err != nil {
		return nil, err
	}
	out, err := x.operation.run(trial, x)
	if err != nil || all {
		return out, err
	}
	if err := x.drop(fields); err != nil {
		return nil, err
	}
	if rest, err := x.operation.run(r, x); err == nil {
		return rest, nil
	}
	return out, nil // nothing is left of the request that makes sense alone
}

// drop takes fields out of the request.
func (x *exchange) drop(fields []string) error {
	if wire.ProtocolOf(x.Service).Kind != wire.RESTProtocol.Kind && wire.ProtocolOf(x.Service).Kind != wire.JSONProtocol.Kind {
		x.Params = sim.FormWithout(x.Params, fields...)
		return nil
	}
	body, err := sim.JSONWithout(x.Body, fields...)
	x.Body = body
	return err
}

// Ignorable are rules that each ignore one field that clients can set, or one operation that sets something as a whole: every such
// field of groups, hooks, tags, templates and node groups, without end.
func Ignorable() []sim.Fault {
	var out []sim.Fault
	add := func(service, action string, fields ...string) {
		for _, field := range fields {
			out = append(out, sim.Fault{Kind: sim.Ignore, Service: service, Action: action, Field: field, Name: "ignores " + action + " " + field})
		}
	}
	const whole = ""
	add(wire.ServiceAutoScaling, "UpdateAutoScalingGroup", "MinSize", "MaxSize", "VPCZoneIdentifier", "DefaultCooldown",
		"DefaultInstanceWarmup",
		"CapacityRebalance", "LaunchTemplate", "MixedInstancesPolicy")
	add(wire.ServiceAutoScaling, "PutLifecycleHook", whole, "HeartbeatTimeout", "NotificationTargetARN")
	for _, action := range []string{
		"SetDesiredCapacity", "CreateOrUpdateTags", "DeleteTags", "DeleteLifecycleHook", "SuspendProcesses", "ResumeProcesses",
		"SetInstanceProtection", "TerminateInstanceInAutoScalingGroup", "EnterStandby", "StartInstanceRefresh",
	} {
		add(wire.ServiceAutoScaling, action, whole)
	}
	add(wire.ServiceEC2, "ModifyLaunchTemplate", whole)
	add(wire.ServiceEC2, "DeleteLaunchTemplateVersions", whole)
	add(wire.ServiceEKS, "UpdateNodegroupConfig", "labels", "taints", "scalingConfig.minSize", "scalingConfig.maxSize",
		"scalingConfig.desiredSize",
		"updateConfig", "nodeRepairConfig")
	add(wire.ServiceEKS, "TagResource", whole)
	add(wire.ServiceEKS, "UntagResource", whole)
	return out
}
