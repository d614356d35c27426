package autoscaling

import (
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	"github.com/muster-project/muster/sim/aws/wire"
)

// checkUpdate refuses what AWS refuses of an update: it looks at what is given alone, so that a group whose template or subnet
// was taken from under it can still be resized.
func (r *Groups) checkUpdate(g *Group, in *autoscaling.UpdateAutoScalingGroupInput) error {
	if err := checkSizes(&g.Spec); err != nil {
		return err
	}
	if in.VPCZoneIdentifier != nil || in.AvailabilityZones != nil {
		if err := r.checkZones(&g.Spec); err != nil {
			return err
		}
	}
	if in.LaunchTemplate != nil || in.MixedInstancesPolicy != nil {
		return r.checkGroupTemplate(g)
	}
	return nil
}

// UpdateGroup is the action UpdateAutoScalingGroup.
func (r *Groups) UpdateGroup(in *autoscaling.UpdateAutoScalingGroupInput) (*autoscaling.UpdateAutoScalingGroupOutput, error) {
	if r.Rows.Get(shapes.Str(in.AutoScalingGroupName)) == nil {
		return nil, wire.Invalid("AutoScalingGroup name not found - null") // unlike other actions, this one does not repeat the name
	}
	old, err := r.FindGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	if rf := r.Refreshes.Refreshing(old); rf != nil && rf.DesiredConfiguration != nil &&
		(in.LaunchTemplate != nil || in.MixedInstancesPolicy != nil) {
		return nil, wire.Invalid("An active instance refresh with a desired configuration exists. All configuration options derived from the " +
			"desired configuration are not available for update while the instance refresh is active.")
	}
	g := *old
	if err := copySpec(&g.Spec, &old.Spec); err != nil {
		return nil, err
	}
	change(&g.Spec, in)
	if err := r.checkUpdate(&g, in); err != nil {
		return nil, err
	}
	was := *old.Spec.DesiredCapacity
	*old = g
	if now := *g.Spec.DesiredCapacity; now != was {
		r.SetCause(old, "a user request update of AutoScalingGroup constraints to min: "+shapes.Itoa(*g.Spec.MinSize)+", max: "+
			shapes.Itoa(*g.Spec.MaxSize)+
			", desired: "+shapes.Itoa(now)+" changing the desired capacity from "+shapes.Itoa(was)+" to "+shapes.Itoa(now))
	}
	r.CheckSoon(old)
	return &autoscaling.UpdateAutoScalingGroupOutput{}, nil
}

// change applies what an update says. One source of launches takes the place of the other, subnets that of zones, and bounds
// alone move the desired capacity between them.
func change(spec *autoscaling.AutoScalingGroup, in *autoscaling.UpdateAutoScalingGroupInput) {
	if in.VPCZoneIdentifier != nil && in.AvailabilityZones == nil {
		spec.AvailabilityZones = nil
	}
	shapes.Overlay(spec, in)
	switch {
	case in.LaunchTemplate != nil && in.MixedInstancesPolicy == nil:
		spec.MixedInstancesPolicy = nil
	case in.MixedInstancesPolicy != nil && in.LaunchTemplate == nil:
		spec.LaunchTemplate = nil
	}
	if in.DesiredCapacity == nil {
		spec.DesiredCapacity = new(max(*spec.MinSize, min(*spec.MaxSize, *spec.DesiredCapacity)))
	}
}

// copySpec copies a spec so that nothing is shared: an update that is refused leaves no trace.
func copySpec(to, from *autoscaling.AutoScalingGroup) error {
	*to = autoscaling.AutoScalingGroup{}
	return shapes.Reshape(from, to)
}
