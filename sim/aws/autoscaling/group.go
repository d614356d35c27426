package autoscaling

import (
	"cmp"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	"github.com/muster-project/muster/sim/aws/wire"
)

const (
	// maxGroups is the quota of groups in a region where an account has no other, maxHooks that of hooks of a group.
	maxGroups, maxHooks = 500, 50
	// maxSize is the largest size that a group may be given.
	maxSize = 10000
	// maxGroupName is the length of a group's name.
	maxGroupName = 255
	// StatusDeleting is the status of a group while its instances are terminated.
	StatusDeleting = "Delete in progress"
)

// CreateGroup is the action CreateAutoScalingGroup.
func (r *Groups) CreateGroup(in *autoscaling.CreateAutoScalingGroupInput) (*autoscaling.CreateAutoScalingGroupOutput, error) {
	name := shapes.Str(in.AutoScalingGroupName)
	if err := r.checkNewGroup(in, name); err != nil {
		return nil, err
	}
	g := &Group{
		Spec: newGroupSpec(name), Tags: map[string]groupTag{}, Hooks: map[string]autoscaling.LifecycleHook{}, Suspended: map[string]string{},
	}
	shapes.Overlay(&g.Spec, in)
	g.Spec.CreatedTime = shapes.Stamp(r.Now)
	if in.DesiredCapacity == nil {
		g.Spec.DesiredCapacity = new(shapes.Val(in.MinSize))
	}
	if err := r.checkGroup(g); err != nil {
		return nil, err
	}
	if err := g.setTags(in.Tags, name); err != nil {
		return nil, err
	}
	for _, h := range in.LifecycleHookSpecificationList {
		var put autoscaling.PutLifecycleHookInput
		shapes.Overlay(&put, &h)
		if err := g.putHook(&put); err != nil {
			return nil, err
		}
	}
	g.Spec.AutoScalingGroupARN = new("arn:aws:autoscaling:" + r.Region + ":" + r.Account + ":autoScalingGroup:" +
		r.Seed.UUID(name, r.Number()) + ":autoScalingGroupName/" + name)
	r.SetCause(g, "a user request created an AutoScalingGroup changing the desired capacity from 0 to "+shapes.Itoa(*g.Spec.DesiredCapacity))
	r.Rows.Put(name, g)
	return &autoscaling.CreateAutoScalingGroupOutput{}, nil
}

// checkNewGroup refuses a name that is not one or is taken, and what is not simulated.
func (r *Groups) checkNewGroup(in *autoscaling.CreateAutoScalingGroupInput, name string) error {
	old := r.Rows.Get(name)
	switch {
	case name == "" || len(name) > maxGroupName || strings.Contains(name, ":"):
		return wire.Invalid("1 validation error detected: Value '%s' at 'autoScalingGroupName' failed to satisfy constraint: Member must have "+
			"length between 1 and %d and no colon", name, maxGroupName)
	case old != nil && old.Deleting:
		return wire.Refuse("AlreadyExists", "AutoScalingGroup by this name already exists - A group with the name %s already exists and is "+
			"pending delete", name)
	case old != nil:
		return wire.Refuse("AlreadyExists", "AutoScalingGroup by this name already exists - A group with the name %s already exists", name)
	case r.Rows.Len() >= r.Quota:
		return wire.Refuse("LimitExceeded", "You have already reached your quota of %d Auto Scaling groups for this account", r.Quota)
	case shapes.Str(in.LaunchConfigurationName) != "" || shapes.Str(in.InstanceId) != "":
		return wire.Invalid("Launch configurations are not supported. Use a launch template.")
	}
	return nil
}

// newGroupSpec is a group with AWS's defaults.
func newGroupSpec(name string) autoscaling.AutoScalingGroup {
	return autoscaling.AutoScalingGroup{
		AutoScalingGroupName: new(name), DefaultCooldown: new(int32(300)), HealthCheckType: new("EC2"), HealthCheckGracePeriod: new(int32(0)),
		TerminationPolicies: []string{"Default"}, NewInstancesProtectedFromScaleIn: new(false),
	}
}

// SetCause notes why the group will launch or terminate next, and lets it look soon.
func (r *Groups) SetCause(g *Group, sentence string) {
	g.Cause = "At " + moment(r.Now) + " " + sentence + "."
	g.Check = r.Now.Add(r.Life(lifeEvaluate))
	r.Rows.Touch(g.Name())
}

// FindGroup finds a group that may be changed: one that is being deleted may not.
func (r *Groups) FindGroup(name *string) (*Group, error) {
	g := r.Rows.Get(shapes.Str(name))
	if g == nil {
		return nil, wire.Invalid("AutoScalingGroup name not found - AutoScalingGroup '%s' not found", shapes.Str(name))
	}
	if g.Deleting {
		return nil, wire.Invalid("The AutoScaling group may not be modified while it is pending delete")
	}
	return g, nil
}

// checkGroup refuses what AWS refuses of a new group's settings.
func (r *Groups) checkGroup(g *Group) error {
	if err := checkSizes(&g.Spec); err != nil {
		return err
	}
	if err := r.checkZones(&g.Spec); err != nil {
		return err
	}
	return r.checkGroupTemplate(g)
}

func checkSizes(s *autoscaling.AutoScalingGroup) error {
	switch {
	case s.MinSize == nil || s.MaxSize == nil:
		return wire.Invalid("1 validation error detected: MinSize and MaxSize must not be null")
	case *s.MinSize < 0 || *s.MaxSize < 0 || *s.MaxSize > maxSize:
		return wire.Invalid("Min size:%d and max size:%d must be between 0 and %d", *s.MinSize, *s.MaxSize, maxSize)
	case *s.MinSize > *s.MaxSize:
		return wire.Invalid("Max bound, %d, must be greater than or equal to min bound, %d", *s.MaxSize, *s.MinSize)
	case *s.DesiredCapacity < *s.MinSize || *s.DesiredCapacity > *s.MaxSize:
		return wire.Invalid("Desired capacity:%d must be between the specified min size:%d and max size:%d", *s.DesiredCapacity, *s.MinSize,
			*s.MaxSize)
	}
	if err := checkTimes(s); err != nil {
		return err
	}
	return checkPolicies(s.TerminationPolicies)
}

// leastLifetime and mostLifetime bound the lifetime of instances, in seconds; 0 is no lifetime.
const leastLifetime, mostLifetime = 86400, 31536000

// checkTimes refuses times in seconds that are out of range.
func checkTimes(s *autoscaling.AutoScalingGroup) error {
	lifetime := shapes.Val(s.MaxInstanceLifetime)
	switch {
	case shapes.Val(s.DefaultCooldown) < 0:
		return wire.Invalid("Default cooldown must not be negative")
	case shapes.Val(s.HealthCheckGracePeriod) < 0:
		return wire.Invalid("Health check grace period must not be negative")
	case shapes.Val(s.DefaultInstanceWarmup) < -1:
		return wire.Invalid("Default instance warmup must not be negative; -1 removes it")
	case lifetime != 0 && (lifetime < leastLifetime || lifetime > mostLifetime):
		return wire.Invalid("MaxInstanceLifetime must be either 0 or between %d and %d seconds: %d", leastLifetime, mostLifetime, lifetime)
	}
	return nil
}

// terminationPolicies are the ways in which a group chooses whom to let go.
var terminationPolicies = []string{
	"AllocationStrategy", "ClosestToNextInstanceHour", "Default", "NewestInstance", "OldestInstance", "OldestLaunchConfiguration",
	"OldestLaunchTemplate",
}

func checkPolicies(policies []string) error {
	for _, p := range policies {
		if !slices.Contains(terminationPolicies, p) && !strings.HasPrefix(p, "arn:aws:lambda:") {
			return wire.Invalid("Invalid termination policy '%s'. Valid policies are %s.", p, strings.Join(terminationPolicies, ", "))
		}
	}
	return nil
}

// SubnetIDs are the subnets of a group.
func SubnetIDs(s *autoscaling.AutoScalingGroup) []string {
	var out []string
	for id := range strings.SplitSeq(shapes.Str(s.VPCZoneIdentifier), ",") {
		if id = strings.TrimSpace(id); id != "" {
			out = append(out, id)
		}
	}
	return out
}

// checkZones wants subnets that exist and derives the zones from them. There is no default VPC, so that zones alone do not do.
func (r *Groups) checkZones(s *autoscaling.AutoScalingGroup) error {
	ids := SubnetIDs(s)
	if len(ids) == 0 {
		if len(s.AvailabilityZones) > 0 {
			return wire.Invalid("You must use a valid fully-formed launch template. No default VPC for this user. GroupName is only supported for " +
				"EC2-Classic and default VPC.")
		}
		return wire.Invalid("At least one Availability Zone or VPC Subnet is required.")
	}
	var zones []string
	for _, id := range ids {
		sub := r.EC2.Network.Subnets.Get(id)
		if sub == nil {
			return wire.Invalid("The subnet ID '%s' does not exist", id)
		}
		if !slices.Contains(zones, sub.Zone) {
			zones = append(zones, sub.Zone)
		}
	}
	slices.Sort(zones)
	for _, z := range s.AvailabilityZones {
		if !slices.Contains(zones, z) {
			return wire.Invalid("The availability zones of the specified subnets and the Auto Scaling group do not match")
		}
	}
	s.AvailabilityZones, s.VPCZoneIdentifier = zones, new(strings.Join(ids, ","))
	return nil
}

// checkGroupTemplate wants exactly one source of launches, and tries one as AWS does.
func (r *Groups) checkGroupTemplate(g *Group) error {
	s := &g.Spec
	if s.LaunchTemplate == nil && s.MixedInstancesPolicy == nil {
		return wire.Invalid("Valid requests must contain either LaunchTemplate, LaunchConfigurationName, InstanceId or MixedInstancesPolicy " +
			"parameter.")
	}
	if s.LaunchTemplate != nil && s.MixedInstancesPolicy != nil {
		return wire.Invalid("Valid requests must contain only one of LaunchTemplate, LaunchConfigurationName, InstanceId or " +
			"MixedInstancesPolicy parameter.")
	}
	if s.MixedInstancesPolicy != nil {
		if err := checkMixed(s.MixedInstancesPolicy); err != nil {
			return err
		}
		s.MixedInstancesPolicy.InstancesDistribution = distributed(s.MixedInstancesPolicy)
	}
	if err := r.NameTemplate(TemplateSpec(s)); err != nil {
		return err
	}
	choices, err := r.Scaling.choices(g, SubnetIDs(s)[0])
	if err != nil {
		return fullyFormed(err)
	}
	for _, c := range choices {
		if err := r.EC2.Launcher.Check(c.launch); err != nil {
			return fullyFormed(err)
		}
	}
	return nil
}

// fullyFormed returns the error with which Auto Scaling passes on EC2's error about a template.
func fullyFormed(err error) error {
	return wire.Invalid("You must use a valid fully-formed launch template. %s", wire.ErrorMessage(err))
}

// mostPools limits the pools of spot instances over which a group spreads.
const mostPools = 20

func checkMixed(p *autoscaling.MixedInstancesPolicy) error {
	if p.LaunchTemplate == nil || p.LaunchTemplate.LaunchTemplateSpecification == nil {
		return wire.Invalid("Valid requests must contain a LaunchTemplate in the MixedInstancesPolicy.")
	}
	d := shapes.Val(p.InstancesDistribution)
	if s := shapes.Str(d.OnDemandAllocationStrategy); s != "" && !slices.Contains([]string{"prioritized", "lowest-price"}, s) {
		return wire.Invalid("The OnDemandAllocationStrategy '%s' is not valid. Valid values: [lowest-price, prioritized].", s)
	}
	spot := []string{"lowest-price", "capacity-optimized", "capacity-optimized-prioritized", "price-capacity-optimized"}
	if s := shapes.Str(d.SpotAllocationStrategy); s != "" && !slices.Contains(spot, s) {
		return wire.Invalid("The SpotAllocationStrategy '%s' is not valid. Valid values: [%s].", s, strings.Join(spot, ", "))
	}
	return checkDistribution(d)
}

// distributed returns the distribution of a policy with the defaults of what it leaves out.
func distributed(p *autoscaling.MixedInstancesPolicy) *autoscaling.InstancesDistribution {
	d, onDemand := shapes.Val(p.InstancesDistribution), "prioritized"
	for _, o := range p.LaunchTemplate.Overrides {
		if o.InstanceRequirements != nil {
			onDemand = "lowest-price"
		}
	}
	d.OnDemandAllocationStrategy = new(cmp.Or(shapes.Str(d.OnDemandAllocationStrategy), onDemand))
	d.OnDemandBaseCapacity = new(shapes.Val(d.OnDemandBaseCapacity))
	if d.OnDemandPercentageAboveBaseCapacity == nil {
		d.OnDemandPercentageAboveBaseCapacity = new(int32(100))
	}
	d.SpotAllocationStrategy = new(cmp.Or(shapes.Str(d.SpotAllocationStrategy), "lowest-price"))
	if *d.SpotAllocationStrategy == "lowest-price" && d.SpotInstancePools == nil {
		d.SpotInstancePools = new(int32(2))
	}
	return &d
}

// checkDistribution refuses numbers of an instances distribution that are out of range.
func checkDistribution(d autoscaling.InstancesDistribution) error {
	switch n, pools := d.OnDemandPercentageAboveBaseCapacity, d.SpotInstancePools; {
	case n != nil && (*n < 0 || *n > 100):
		return wire.Invalid("OnDemandPercentageAboveBaseCapacity must be between 0 and 100.")
	case shapes.Val(d.OnDemandBaseCapacity) < 0:
		return wire.Invalid("OnDemandBaseCapacity must not be negative.")
	case pools != nil && (*pools < 1 || *pools > mostPools):
		return wire.Invalid("SpotInstancePools must be between 1 and %d.", mostPools)
	}
	return nil
}

// TemplateSpec is the launch template that a group stands on, directly or through its mix.
func TemplateSpec(s *autoscaling.AutoScalingGroup) *autoscaling.LaunchTemplateSpecification {
	if s.MixedInstancesPolicy != nil {
		return s.MixedInstancesPolicy.LaunchTemplate.LaunchTemplateSpecification
	}
	return s.LaunchTemplate
}

// NameTemplate completes a reference to a template with its ID and its name. One without a version is shown without it.
func (r *Groups) NameTemplate(s *autoscaling.LaunchTemplateSpecification) error {
	const either = "Valid requests must contain either launchTemplateId or LaunchTemplateName"
	switch id, name := shapes.Str(s.LaunchTemplateId), shapes.Str(s.LaunchTemplateName); {
	case id == "" && name == "":
		return wire.Invalid(either)
	case id != "" && name != "":
		if t := r.EC2.Templates.Rows.Get(*s.LaunchTemplateId); t == nil || t.Name != *s.LaunchTemplateName {
			return wire.Invalid(either)
		}
		s.LaunchTemplateName = nil
	}
	t, err := r.EC2.Templates.FindTemplate(s.LaunchTemplateId, s.LaunchTemplateName)
	if err != nil {
		return fullyFormed(err)
	}
	if _, err := r.EC2.Templates.VersionOf(t, shapes.Str(s.Version)); err != nil {
		return fullyFormed(err)
	}
	s.LaunchTemplateId, s.LaunchTemplateName = new(t.ID), new(t.Name)
	return nil
}

// CheckSoon lets the group look soon, whatever has changed of it.
func (r *Groups) CheckSoon(g *Group) {
	g.Check, g.Retry, g.Failures = r.Now.Add(r.Life(lifeEvaluate)), r.Now, 0
	r.Rows.Touch(g.Name())
}

// SetDesiredCapacity is the action of that name.
func (r *Groups) SetDesiredCapacity(in *autoscaling.SetDesiredCapacityInput) (*autoscaling.SetDesiredCapacityOutput, error) {
	g, err := r.FindGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	want, low, high := shapes.Val(in.DesiredCapacity), *g.Spec.MinSize, *g.Spec.MaxSize
	switch {
	case want > high:
		return nil, wire.Invalid("New SetDesiredCapacity value %d is above max value %d for the AutoScalingGroup.", want, high)
	case want < low:
		return nil, wire.Invalid("New SetDesiredCapacity value %d is below min value %d for the AutoScalingGroup.", want, low)
	case shapes.Val(in.HonorCooldown) && r.Now.Before(g.CooledAt):
		return nil, wire.Refuse("ScalingActivityInProgress", "Scaling activity is already in progress: the group %s is cooling down", g.Name())
	}
	was := *g.Spec.DesiredCapacity
	if want == was {
		return &autoscaling.SetDesiredCapacityOutput{}, nil
	}
	g.Spec.DesiredCapacity = new(want)
	g.CooledAt = r.Now.Add(r.Life(seconds(g.Spec.DefaultCooldown)))
	g.Retry, g.Failures = r.Now, 0
	r.SetCause(g, "a user request explicitly set group desired capacity changing the desired capacity from "+shapes.Itoa(was)+" to "+
		shapes.Itoa(want))
	return &autoscaling.SetDesiredCapacityOutput{}, nil
}

// DeleteGroup is the action DeleteAutoScalingGroup.
func (r *Groups) DeleteGroup(in *autoscaling.DeleteAutoScalingGroupInput) (*autoscaling.DeleteAutoScalingGroupOutput, error) {
	g := r.Rows.Get(shapes.Str(in.AutoScalingGroupName))
	if g == nil {
		return nil, wire.Invalid("AutoScalingGroup name not found - AutoScalingGroup '%s' not found", shapes.Str(in.AutoScalingGroupName))
	}
	if g.Deleting {
		return &autoscaling.DeleteAutoScalingGroupOutput{}, nil
	}
	force, protection := shapes.Val(in.ForceDelete), g.Spec.DeletionProtection
	members := r.Members.MembersOf(g)
	switch {
	case protection == "prevent-all-deletion" || protection == "prevent-force-deletion" && force:
		return nil, wire.Refuse("ResourceInUse", "The Auto Scaling group %s has deletion protection %s.", g.Name(), protection)
	case len(members) > 0 && !force:
		return nil, wire.Refuse("ResourceInUse",
			"You cannot delete an AutoScalingGroup while there are instances or pending Spot instance request(s) still in the group.")
	}
	g.Deleting = true
	g.Spec.Status = new(StatusDeleting)
	// A forced deletion does not wait for hooks.
	g.Hooks = map[string]autoscaling.LifecycleHook{}
	r.Rows.Touch(g.Name())
	for _, m := range members {
		if m.State == MemberTerminatingWait {
			m.Waits = nil
			r.Members.terminateInstance(m)
		}
		r.Members.dismiss(g, m, "a user request force deleted AutoScalingGroup", "")
	}
	return &autoscaling.DeleteAutoScalingGroupOutput{}, nil
}
