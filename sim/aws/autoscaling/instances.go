package autoscaling

import (
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	"github.com/muster-project/muster/sim/aws/wire"
)

// memberOfGroup finds a member by its instance, in the group where one is named.
func (r *Members) memberOfGroup(groupName *string, instance string) (*Group, *Member, error) {
	m := r.MemberOf(instance)
	if m == nil || groupName != nil && *groupName != "" && m.Group != *groupName {
		return nil, nil, wire.Invalid("Instance Id not found - No managed instance found for instance ID: %s", instance)
	}
	g, err := r.Groups.FindGroup(&m.Group)
	return g, m, err
}

func (r *Members) terminateInGroup(in *autoscaling.TerminateInstanceInAutoScalingGroupInput) (
	*autoscaling.TerminateInstanceInAutoScalingGroupOutput, error) {
	ids := slices.Clone(in.InstanceIds)
	if id := shapes.Str(in.InstanceId); id != "" {
		ids = append(ids, id)
	}
	if len(ids) == 0 || in.ShouldDecrementDesiredCapacity == nil {
		return nil, wire.Invalid("1 validation error detected: InstanceId and ShouldDecrementDesiredCapacity must not be null")
	}
	g, members, err := r.membersNamed(in.AutoScalingGroupName, ids)
	if err != nil {
		return nil, err
	}
	lower := *in.ShouldDecrementDesiredCapacity
	fewer := 0
	for _, m := range members {
		if m.Leaving() {
			return nil, wire.Refuse("ScalingActivityInProgress", "Activity %s is in progress.",
				shapes.Str(r.Activities.Rows.Get(m.Activity).ActivityId))
		}
		if m.Serving() && m.AtRisk == "" {
			fewer += m.weight()
		}
	}
	have, low := int(*g.Spec.DesiredCapacity), int(*g.Spec.MinSize)
	if lower && have-fewer < low {
		return nil, wire.Invalid("Currently, desiredSize equals minSize (%d). Terminating instance without replacement will violate group's "+
			"min size constraint. "+
			"Either set shouldDecrementDesiredCapacity flag to false or lower group's min size.", low)
	}
	out := &autoscaling.TerminateInstanceInAutoScalingGroupOutput{}
	for _, m := range members {
		a := r.TerminateMember(g, m, lower)
		out.Activities = append(out.Activities, a.Activity)
	}
	out.Activity = &out.Activities[0]
	return out, nil
}

// membersNamed finds several members of one group.
func (r *Members) membersNamed(groupName *string, ids []string) (*Group, []*Member, error) {
	if len(ids) == 0 {
		return nil, nil, wire.Invalid("1 validation error detected: Value '[]' at 'instanceIds' failed to satisfy constraint: Member must have " +
			"length greater than or equal to 1")
	}
	var g *Group
	var members []*Member
	for _, id := range ids {
		of, m, err := r.memberOfGroup(groupName, id)
		if err != nil {
			return nil, nil, err
		}
		if g != nil && g != of {
			return nil, nil, wire.Invalid("Instances %s are not of one Auto Scaling group", strings.Join(ids, ", "))
		}
		g = of
		if !slices.Contains(members, m) {
			members = append(members, m)
		}
	}
	return g, members, nil
}

// TerminateMember lets go one member for a user, with or without another taking its place. The API refuses members of a warm pool
// and no others: one in standby goes through its hooks as well, and the capacity, in which it is not counted, stays.
func (r *Members) TerminateMember(g *Group, m *Member, lower bool) *Activity {
	have := *g.Spec.DesiredCapacity
	why := "instance " + m.Instance + " was taken out of service in response to a user request"
	g.Cause = ""
	if lower && m.Serving() && m.AtRisk == "" {
		now := max(*g.Spec.MinSize, have-int32(m.weight()))
		g.Spec.DesiredCapacity = new(now)
		why += ", shrinking the capacity from " + shapes.Itoa(have) + " to " + shapes.Itoa(now)
	}
	r.Groups.Rows.Touch(g.Name())
	a := r.dismiss(g, m, "", why)
	r.WakeUp(g)
	return a
}

func (r *Members) attachInstances(in *autoscaling.AttachInstancesInput) (*autoscaling.AttachInstancesOutput, error) {
	g, err := r.Groups.FindGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	have := int(*g.Spec.DesiredCapacity) + len(in.InstanceIds)
	if have > int(*g.Spec.MaxSize) {
		return nil, wire.Invalid("AutoScalingGroup: %s, the new desired capacity %d is above its max size %d", g.Name(), have, *g.Spec.MaxSize)
	}
	var found []*ec2.Instance
	for _, id := range in.InstanceIds {
		i := r.EC2.Instances.Rows.Get(id)
		switch {
		case i == nil:
			return nil, wire.Invalid("Invalid Instance IDs: [%s]", id)
		case i.State != ec2.StateRunning:
			return nil, wire.Invalid("Instance %s is not in correct state. Instance(s) must be in 'running' state.", id)
		case r.MemberOf(id) != nil:
			return nil, wire.Invalid("Instance %s is already part of AutoScalingGroup:%s", id, r.MemberOf(id).Group)
		case !slices.Contains(g.Spec.AvailabilityZones, i.Zone):
			return nil, wire.Invalid("The instance %s is not in an Availability Zone of the group", id)
		}
		found = append(found, i)
	}
	for _, i := range found {
		i.Tags[ec2.GroupTagKey] = g.Name()
		r.EC2.Instances.Rows.Touch(i.ID)
		a := r.Activities.begin(g, "Attaching an existing EC2 instance: "+i.ID,
			"At "+moment(r.Now)+" an instance was attached in response to a user request.")
		m := &Member{
			Machine: i.Machine, Instance: i.ID, Group: g.Name(), State: memberPending, Health: healthy, Since: r.Now,
			Activity: activityKey(g.Name(), a.Number),
		}
		r.Rows.Put(MemberKey(g.Name(), i.ID), m)
	}
	g.Spec.DesiredCapacity = new(int32(have))
	r.Groups.Rows.Touch(g.Name())
	return &autoscaling.AttachInstancesOutput{}, nil
}

func (r *Members) detachInstances(in *autoscaling.DetachInstancesInput) (*autoscaling.DetachInstancesOutput, error) {
	g, members, err := r.membersNamed(in.AutoScalingGroupName, in.InstanceIds)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.State != MemberInService && m.State != memberStandby {
			return nil, wire.Invalid("The instance %s is not in InService or Standby.", m.Instance)
		}
	}
	if err := r.lower(g, members, shapes.Val(in.ShouldDecrementDesiredCapacity)); err != nil {
		return nil, err
	}
	out := &autoscaling.DetachInstancesOutput{}
	for _, m := range members {
		a := r.Activities.begin(g, "Detaching EC2 instance: "+m.Instance,
			"At "+moment(r.Now)+" instance "+m.Instance+" was detached in response to a user request.")
		r.Activities.end(a, "Successful", "")
		r.Rows.Delete(MemberKey(g.Name(), m.Instance))
		if i := r.EC2.Instances.Rows.Get(m.Instance); i != nil {
			delete(i.Tags, ec2.GroupTagKey)
			r.EC2.Instances.Rows.Touch(i.ID)
		}
		out.Activities = append(out.Activities, a.Activity)
	}
	r.WakeUp(g)
	return out, nil
}

// lower takes members off the desired capacity, which must not fall below the minimum.
func (r *Members) lower(g *Group, members []*Member, decrement bool) error {
	if !decrement {
		return nil
	}
	n := *g.Spec.DesiredCapacity
	for _, m := range members {
		if m.Serving() {
			n -= int32(m.weight())
		}
	}
	if n < *g.Spec.MinSize {
		return wire.Invalid("AutoScalingGroup %s has min-size=%d, max-size=%d, and desired-size=%d. To take out %d instances, please update "+
			"the AutoScalingGroup sizes appropriately.",
			g.Name(), *g.Spec.MinSize, *g.Spec.MaxSize, *g.Spec.DesiredCapacity, len(members))
	}
	g.Spec.DesiredCapacity = new(n)
	r.Groups.Rows.Touch(g.Name())
	return nil
}

// maxStandby limits the instances of one call.
const maxStandby = 19

// EnterStandby takes instances out of the count, not out of the group: "Temporarily remove instances from your Auto Scaling group".
// Without a lower capacity others are launched in their place, at the group's largest size too, for that bounds the capacity.
func (r *Members) EnterStandby(in *autoscaling.EnterStandbyInput) (*autoscaling.EnterStandbyOutput, error) {
	if len(in.InstanceIds) > maxStandby {
		return nil, wire.Invalid("1 validation error detected: Value at 'instanceIds' failed to satisfy constraint: Member must have length "+
			"less than or equal to %d", maxStandby)
	}
	g, members, err := r.membersNamed(in.AutoScalingGroupName, in.InstanceIds)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.State != MemberInService {
			return nil, wire.Invalid("The instance %s is not in InService.", m.Instance)
		}
	}
	if err := r.lower(g, members, shapes.Val(in.ShouldDecrementDesiredCapacity)); err != nil {
		return nil, err
	}
	out := &autoscaling.EnterStandbyOutput{}
	for _, m := range members {
		out.Activities = append(out.Activities, r.move(g, m, memberStandby, "Moving EC2 instance to Standby: ", "was moved to standby"))
	}
	r.WakeUp(g)
	return out, nil
}

// exitStandby counts them again, and raises the capacity by as many.
func (r *Members) exitStandby(in *autoscaling.ExitStandbyInput) (*autoscaling.ExitStandbyOutput, error) {
	g, members, err := r.membersNamed(in.AutoScalingGroupName, in.InstanceIds)
	if err != nil {
		return nil, err
	}
	n := *g.Spec.DesiredCapacity
	for _, m := range members {
		if m.State != memberStandby {
			return nil, wire.Invalid("The instance %s is not in Standby.", m.Instance)
		}
		n += int32(m.weight())
	}
	if n > *g.Spec.MaxSize {
		return nil, wire.Invalid("AutoScalingGroup %s: the new desired capacity %d is above its max size %d", g.Name(), n, *g.Spec.MaxSize)
	}
	g.Spec.DesiredCapacity = new(n)
	out := &autoscaling.ExitStandbyOutput{}
	for _, m := range members {
		out.Activities = append(out.Activities, r.move(g, m, MemberInService, "Moving EC2 instance out of Standby: ", "was moved out of standby"))
	}
	r.WakeUp(g)
	return out, nil
}

// move changes a member's state for a user.
func (r *Members) move(g *Group, m *Member, state, description, done string) autoscaling.Activity {
	m.State, m.Since = state, r.Now
	r.Rows.Touch(MemberKey(g.Name(), m.Instance))
	a := r.Activities.begin(g, description+m.Instance, "At "+moment(r.Now)+" instance "+m.Instance+" "+done+" in response to a user request.")
	r.Activities.end(a, "Successful", "")
	return a.Activity
}

// maxProtected limits the instances of one call.
const maxProtected = 50

func (r *Members) setInstanceProtection(in *autoscaling.SetInstanceProtectionInput) (*autoscaling.SetInstanceProtectionOutput, error) {
	if len(in.InstanceIds) > maxProtected {
		return nil, wire.Invalid("1 validation error detected: Value at 'instanceIds' failed to satisfy constraint: Member must have length "+
			"less than or equal to %d", maxProtected)
	}
	_, members, err := r.membersNamed(in.AutoScalingGroupName, in.InstanceIds)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.State != MemberInService && m.State != memberStandby && !r.Switches.On(ProtectsAny) {
			return nil, wire.Invalid("The instance %s is not in InService or EnteringStandby or Standby.", m.Instance)
		}
	}
	for _, m := range members {
		m.Protected = shapes.Val(in.ProtectedFromScaleIn)
		r.Rows.Touch(MemberKey(m.Group, m.Instance))
	}
	return &autoscaling.SetInstanceProtectionOutput{}, nil
}

// SetInstanceHealth is the action of that name.
func (r *Members) SetInstanceHealth(in *autoscaling.SetInstanceHealthInput) (*autoscaling.SetInstanceHealthOutput, error) {
	status := shapes.Str(in.HealthStatus)
	if status != healthy && status != Unhealthy {
		return nil, wire.Invalid("Invalid HealthStatus '%s'. Valid values are Healthy and Unhealthy.", status)
	}
	g, m, err := r.memberOfGroup(nil, shapes.Str(in.InstanceId))
	if err != nil {
		return nil, err
	}
	respect := in.ShouldRespectGracePeriod == nil || *in.ShouldRespectGracePeriod
	if respect && r.Now.Before(m.InServiceAt.Add(r.Life(seconds(g.Spec.HealthCheckGracePeriod)))) {
		return &autoscaling.SetInstanceHealthOutput{}, nil
	}
	m.Health = status
	r.Rows.Touch(MemberKey(g.Name(), m.Instance))
	return &autoscaling.SetInstanceHealthOutput{}, nil
}
