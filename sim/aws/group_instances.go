package aws

import (
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
)

// managed finds a member by its instance, in the group where one is named.
func (r *realm) managed(groupName *string, instance string) (*group, *member, error) {
	m := r.memberOf(instance)
	if m == nil || groupName != nil && *groupName != "" && m.Group != *groupName {
		return nil, nil, invalid("Instance Id not found - No managed instance found for instance ID: %s", instance)
	}
	g, err := r.findGroup(&m.Group)
	return g, m, err
}

func (r *realm) terminateInGroup(in *autoscaling.TerminateInstanceInAutoScalingGroupInput) (*autoscaling.TerminateInstanceInAutoScalingGroupOutput, error) {
	ids := slices.Clone(in.InstanceIds)
	if id := str(in.InstanceId); id != "" {
		ids = append(ids, id)
	}
	if len(ids) == 0 || in.ShouldDecrementDesiredCapacity == nil {
		return nil, invalid("1 validation error detected: InstanceId and ShouldDecrementDesiredCapacity must not be null")
	}
	g, members, err := r.managedAll(in.AutoScalingGroupName, ids)
	if err != nil {
		return nil, err
	}
	lower := *in.ShouldDecrementDesiredCapacity
	fewer := 0
	for _, m := range members {
		if m.leaving() {
			return nil, refuse("ScalingActivityInProgress", "Activity %s is in progress.", str(r.activities.Get(m.Activity).ActivityId))
		}
		if m.serving() && m.AtRisk == "" {
			fewer += m.weight()
		}
	}
	have, low := int(*g.Spec.DesiredCapacity), int(*g.Spec.MinSize)
	if lower && have-fewer < low {
		return nil, invalid("Currently, desiredSize equals minSize (%d). Terminating instance without replacement will violate group's min size constraint. "+
			"Either set shouldDecrementDesiredCapacity flag to false or lower group's min size.", low)
	}
	out := &autoscaling.TerminateInstanceInAutoScalingGroupOutput{}
	for _, m := range members {
		a := r.terminateMember(g, m, lower)
		out.Activities = append(out.Activities, a.Activity)
	}
	out.Activity = &out.Activities[0]
	return out, nil
}

// managedAll finds several members of one group.
func (r *realm) managedAll(groupName *string, ids []string) (*group, []*member, error) {
	if len(ids) == 0 {
		return nil, nil, invalid("1 validation error detected: Value '[]' at 'instanceIds' failed to satisfy constraint: Member must have length greater than or equal to 1")
	}
	var g *group
	var members []*member
	for _, id := range ids {
		of, m, err := r.managed(groupName, id)
		if err != nil {
			return nil, nil, err
		}
		if g != nil && g != of {
			return nil, nil, invalid("Instances %s are not of one Auto Scaling group", strings.Join(ids, ", "))
		}
		g = of
		if !slices.Contains(members, m) {
			members = append(members, m)
		}
	}
	return g, members, nil
}

// terminateMember lets go one member for a user, with or without another taking its place. The API refuses members of a warm pool
// and no others: one in standby goes through its hooks as well, and the capacity, in which it is not counted, stays.
func (r *realm) terminateMember(g *group, m *member, lower bool) *activity {
	have := *g.Spec.DesiredCapacity
	why := "instance " + m.Instance + " was taken out of service in response to a user request"
	g.Cause = ""
	if lower && m.serving() && m.AtRisk == "" {
		now := max(*g.Spec.MinSize, have-int32(m.weight()))
		g.Spec.DesiredCapacity = ptr(now)
		why += ", shrinking the capacity from " + itoa(have) + " to " + itoa(now)
	}
	r.groups.Touch(g.name())
	a := r.dismiss(g, m, "", why)
	r.wake(g)
	return a
}

func (r *realm) attachInstances(in *autoscaling.AttachInstancesInput) (*autoscaling.AttachInstancesOutput, error) {
	g, err := r.findGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	have := int(*g.Spec.DesiredCapacity) + len(in.InstanceIds)
	if have > int(*g.Spec.MaxSize) {
		return nil, invalid("AutoScalingGroup: %s, the new desired capacity %d is above its max size %d", g.name(), have, *g.Spec.MaxSize)
	}
	var found []*instance
	for _, id := range in.InstanceIds {
		i := r.instances.Get(id)
		switch {
		case i == nil:
			return nil, invalid("Invalid Instance IDs: [%s]", id)
		case i.State != stateRunning:
			return nil, invalid("Instance %s is not in correct state. Instance(s) must be in 'running' state.", id)
		case r.memberOf(id) != nil:
			return nil, invalid("Instance %s is already part of AutoScalingGroup:%s", id, r.memberOf(id).Group)
		case !slices.Contains(g.Spec.AvailabilityZones, i.Zone):
			return nil, invalid("The instance %s is not in an Availability Zone of the group", id)
		}
		found = append(found, i)
	}
	for _, i := range found {
		i.Tags[groupTagKey] = g.name()
		r.instances.Touch(i.ID)
		a := r.begin(g, "Attaching an existing EC2 instance: "+i.ID, "At "+moment(r.now)+" an instance was attached in response to a user request.")
		m := &member{
			Instance: i.ID, Group: g.name(), Number: i.Number, State: memberPending, Health: healthy, Since: r.now, Type: i.Type, Zone: i.Zone, Spot: i.Spot,
			Activity: activityKey(g.name(), a.Number),
		}
		r.members.Put(memberKey(g.name(), i.ID), m)
	}
	g.Spec.DesiredCapacity = ptr(int32(have))
	r.groups.Touch(g.name())
	return &autoscaling.AttachInstancesOutput{}, nil
}

func (r *realm) detachInstances(in *autoscaling.DetachInstancesInput) (*autoscaling.DetachInstancesOutput, error) {
	g, members, err := r.managedAll(in.AutoScalingGroupName, in.InstanceIds)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.State != memberInService && m.State != memberStandby {
			return nil, invalid("The instance %s is not in InService or Standby.", m.Instance)
		}
	}
	if err := r.lower(g, members, val(in.ShouldDecrementDesiredCapacity)); err != nil {
		return nil, err
	}
	out := &autoscaling.DetachInstancesOutput{}
	for _, m := range members {
		a := r.begin(g, "Detaching EC2 instance: "+m.Instance, "At "+moment(r.now)+" instance "+m.Instance+" was detached in response to a user request.")
		r.end(a, "Successful", "")
		r.members.Delete(memberKey(g.name(), m.Instance))
		if i := r.instances.Get(m.Instance); i != nil {
			delete(i.Tags, groupTagKey)
			r.instances.Touch(i.ID)
		}
		out.Activities = append(out.Activities, a.Activity)
	}
	r.wake(g)
	return out, nil
}

// lower takes members off the desired capacity, which must not fall below the minimum.
func (r *realm) lower(g *group, members []*member, decrement bool) error {
	if !decrement {
		return nil
	}
	n := *g.Spec.DesiredCapacity
	for _, m := range members {
		if m.serving() {
			n -= int32(m.weight())
		}
	}
	if n < *g.Spec.MinSize {
		return invalid("AutoScalingGroup %s has min-size=%d, max-size=%d, and desired-size=%d. To take out %d instances, please update the AutoScalingGroup sizes appropriately.",
			g.name(), *g.Spec.MinSize, *g.Spec.MaxSize, *g.Spec.DesiredCapacity, len(members))
	}
	g.Spec.DesiredCapacity = ptr(n)
	r.groups.Touch(g.name())
	return nil
}

// maxStandby is how many instances one call may move.
const maxStandby = 19

// enterStandby takes instances out of the count, not out of the group: "Temporarily remove instances from your Auto Scaling group".
// Without a lower capacity others are launched in their place, at the group's largest size too, for that bounds the capacity.
func (r *realm) enterStandby(in *autoscaling.EnterStandbyInput) (*autoscaling.EnterStandbyOutput, error) {
	if len(in.InstanceIds) > maxStandby {
		return nil, invalid("1 validation error detected: Value at 'instanceIds' failed to satisfy constraint: Member must have length less than or equal to %d", maxStandby)
	}
	g, members, err := r.managedAll(in.AutoScalingGroupName, in.InstanceIds)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.State != memberInService {
			return nil, invalid("The instance %s is not in InService.", m.Instance)
		}
	}
	if err := r.lower(g, members, val(in.ShouldDecrementDesiredCapacity)); err != nil {
		return nil, err
	}
	out := &autoscaling.EnterStandbyOutput{}
	for _, m := range members {
		out.Activities = append(out.Activities, r.move(g, m, memberStandby, "Moving EC2 instance to Standby: ", "was moved to standby"))
	}
	r.wake(g)
	return out, nil
}

// exitStandby counts them again, and raises the capacity by as many.
func (r *realm) exitStandby(in *autoscaling.ExitStandbyInput) (*autoscaling.ExitStandbyOutput, error) {
	g, members, err := r.managedAll(in.AutoScalingGroupName, in.InstanceIds)
	if err != nil {
		return nil, err
	}
	n := *g.Spec.DesiredCapacity
	for _, m := range members {
		if m.State != memberStandby {
			return nil, invalid("The instance %s is not in Standby.", m.Instance)
		}
		n += int32(m.weight())
	}
	if n > *g.Spec.MaxSize {
		return nil, invalid("AutoScalingGroup %s: the new desired capacity %d is above its max size %d", g.name(), n, *g.Spec.MaxSize)
	}
	g.Spec.DesiredCapacity = ptr(n)
	out := &autoscaling.ExitStandbyOutput{}
	for _, m := range members {
		out.Activities = append(out.Activities, r.move(g, m, memberInService, "Moving EC2 instance out of Standby: ", "was moved out of standby"))
	}
	r.wake(g)
	return out, nil
}

// move changes a member's state for a user.
func (r *realm) move(g *group, m *member, state, description, done string) autoscaling.Activity {
	m.State, m.Since = state, r.now
	r.members.Touch(memberKey(g.name(), m.Instance))
	a := r.begin(g, description+m.Instance, "At "+moment(r.now)+" instance "+m.Instance+" "+done+" in response to a user request.")
	r.end(a, "Successful", "")
	return a.Activity
}

// maxProtected is how many instances one call may protect.
const maxProtected = 50

func (r *realm) setInstanceProtection(in *autoscaling.SetInstanceProtectionInput) (*autoscaling.SetInstanceProtectionOutput, error) {
	if len(in.InstanceIds) > maxProtected {
		return nil, invalid("1 validation error detected: Value at 'instanceIds' failed to satisfy constraint: Member must have length less than or equal to %d", maxProtected)
	}
	_, members, err := r.managedAll(in.AutoScalingGroupName, in.InstanceIds)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.State != memberInService && m.State != memberStandby {
			return nil, invalid("The instance %s is not in InService or EnteringStandby or Standby.", m.Instance)
		}
	}
	for _, m := range members {
		m.Protected = val(in.ProtectedFromScaleIn)
		r.members.Touch(memberKey(m.Group, m.Instance))
	}
	return &autoscaling.SetInstanceProtectionOutput{}, nil
}

func (r *realm) setInstanceHealth(in *autoscaling.SetInstanceHealthInput) (*autoscaling.SetInstanceHealthOutput, error) {
	status := str(in.HealthStatus)
	if status != healthy && status != unhealthy {
		return nil, invalid("Invalid HealthStatus '%s'. Valid values are Healthy and Unhealthy.", status)
	}
	g, m, err := r.managed(nil, str(in.InstanceId))
	if err != nil {
		return nil, err
	}
	respect := in.ShouldRespectGracePeriod == nil || *in.ShouldRespectGracePeriod
	if respect && r.now.Before(m.InServiceAt.Add(r.life(seconds(g.Spec.HealthCheckGracePeriod)))) {
		return &autoscaling.SetInstanceHealthOutput{}, nil
	}
	m.Health = status
	r.members.Touch(memberKey(g.name(), m.Instance))
	return &autoscaling.SetInstanceHealthOutput{}, nil
}

// processes are those that can be suspended.
var processes = []string{
	"AddToLoadBalancer", "AlarmNotification", "AZRebalance", "HealthCheck", "InstanceRefresh", "Launch", "ReplaceUnhealthy", "ScheduledActions", "Terminate",
}

// namedProcesses are the processes that a call is about: those that it names, or all.
func namedProcesses(names []string) ([]string, error) {
	if len(names) == 0 {
		return processes, nil
	}
	for _, n := range names {
		if !slices.Contains(processes, n) {
			return nil, invalid("Invalid process type: %s. Valid types are %s.", n, strings.Join(processes, ", "))
		}
	}
	return names, nil
}

func (r *realm) suspendProcesses(in *autoscaling.SuspendProcessesInput) (*autoscaling.SuspendProcessesOutput, error) {
	g, err := r.findGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	names, err := namedProcesses(in.ScalingProcesses)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if !g.suspended(n) {
			g.Suspended[n] = "User suspended at " + moment(r.now)
		}
	}
	r.groups.Touch(g.name())
	return &autoscaling.SuspendProcessesOutput{}, nil
}

func (r *realm) resumeProcesses(in *autoscaling.ResumeProcessesInput) (*autoscaling.ResumeProcessesOutput, error) {
	g, err := r.findGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	names, err := namedProcesses(in.ScalingProcesses)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		delete(g.Suspended, n)
	}
	r.wake(g)
	r.groups.Touch(g.name())
	return &autoscaling.ResumeProcessesOutput{}, nil
}

func (r *realm) describeScalingActivities(in *autoscaling.DescribeScalingActivitiesInput) (*autoscaling.DescribeScalingActivitiesOutput, error) {
	size, err := records(in.MaxRecords, 100, 100)
	if err != nil {
		return nil, err
	}
	prefix := ""
	if name := str(in.AutoScalingGroupName); name != "" {
		if r.groups.Get(name) == nil && !val(in.IncludeDeletedGroups) {
			return nil, invalid("AutoScalingGroup name not found - AutoScalingGroup '%s' not found", name)
		}
		prefix = name + ":"
	}
	found := slices.Collect(values(r.activities.Under(prefix)))
	if len(in.ActivityIds) > 0 {
		found = slices.DeleteFunc(found, func(a *activity) bool { return !slices.Contains(in.ActivityIds, str(a.ActivityId)) })
	}
	// The newest first.
	key := func(a *activity) string { return versionKey("", 1<<52-a.Number) }
	slices.SortFunc(found, func(a, b *activity) int { return strings.Compare(key(a), key(b)) })
	page, next, err := paged(found, key, in.NextToken, r.page(size))
	if err != nil {
		return nil, err
	}
	out := &autoscaling.DescribeScalingActivitiesOutput{NextToken: next}
	for _, a := range page {
		out.Activities = append(out.Activities, a.Activity)
	}
	return out, nil
}

func (r *realm) describeLifecycleHookTypes(*autoscaling.DescribeLifecycleHookTypesInput) (*autoscaling.DescribeLifecycleHookTypesOutput, error) {
	return &autoscaling.DescribeLifecycleHookTypesOutput{LifecycleHookTypes: []string{transitionLaunching, transitionTerminating}}, nil
}

func (r *realm) describeScalingProcessTypes(*autoscaling.DescribeScalingProcessTypesInput) (*autoscaling.DescribeScalingProcessTypesOutput, error) {
	out := &autoscaling.DescribeScalingProcessTypesOutput{}
	for _, p := range processes {
		out.Processes = append(out.Processes, autoscaling.ProcessType{ProcessName: ptr(p)})
	}
	return out, nil
}

func (r *realm) describeTerminationPolicyTypes(*autoscaling.DescribeTerminationPolicyTypesInput) (*autoscaling.DescribeTerminationPolicyTypesOutput, error) {
	return &autoscaling.DescribeTerminationPolicyTypesOutput{TerminationPolicyTypes: terminationPolicies}, nil
}

func (r *realm) describeAccountLimits(*autoscaling.DescribeAccountLimitsInput) (*autoscaling.DescribeAccountLimitsOutput, error) {
	return &autoscaling.DescribeAccountLimitsOutput{
		MaxNumberOfAutoScalingGroups: ptr(int32(r.groupQuota())), NumberOfAutoScalingGroups: ptr(int32(r.groups.Len())),
		MaxNumberOfLaunchConfigurations: ptr(int32(200)), NumberOfLaunchConfigurations: ptr(int32(0)),
	}, nil
}
