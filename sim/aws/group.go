package aws

import (
	"cmp"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
)

const (
	// maxGroups is the quota of groups in a region where an account has no other, maxHooks that of hooks of a group.
	maxGroups, maxHooks = 500, 50
	// maxSize is the largest size that a group may be given.
	maxSize = 10000
	// maxGroupName is the length of a group's name.
	maxGroupName = 255
	// statusDeleting is what a group shows while its instances go.
	statusDeleting = "Delete in progress"
)

func (r *realm) createGroup(in *autoscaling.CreateAutoScalingGroupInput) (*autoscaling.CreateAutoScalingGroupOutput, error) {
	name := str(in.AutoScalingGroupName)
	if err := r.checkNewGroup(in, name); err != nil {
		return nil, err
	}
	g := &group{
		Spec: newGroupSpec(name), Tags: map[string]groupTag{}, Hooks: map[string]autoscaling.LifecycleHook{}, Suspended: map[string]string{},
	}
	overlay(&g.Spec, in)
	g.Spec.CreatedTime = stamp(r.now)
	if in.DesiredCapacity == nil {
		g.Spec.DesiredCapacity = ptr(val(in.MinSize))
	}
	if err := r.checkGroup(g); err != nil {
		return nil, err
	}
	if err := g.setTags(in.Tags, name); err != nil {
		return nil, err
	}
	for _, h := range in.LifecycleHookSpecificationList {
		var put autoscaling.PutLifecycleHookInput
		overlay(&put, &h)
		if err := g.putHook(&put); err != nil {
			return nil, err
		}
	}
	g.Spec.AutoScalingGroupARN = ptr("arn:aws:autoscaling:" + r.region + ":" + r.account + ":autoScalingGroup:" +
		r.server.seed.UUID(name, r.number()) + ":autoScalingGroupName/" + name)
	r.because(g, "a user request created an AutoScalingGroup changing the desired capacity from 0 to "+itoa(*g.Spec.DesiredCapacity))
	r.groups.Put(name, g)
	return &autoscaling.CreateAutoScalingGroupOutput{}, nil
}

// checkNewGroup refuses a name that is not one or is taken, and what is not simulated.
func (r *realm) checkNewGroup(in *autoscaling.CreateAutoScalingGroupInput, name string) error {
	old := r.groups.Get(name)
	switch {
	case name == "" || len(name) > maxGroupName || strings.Contains(name, ":"):
		return invalid("1 validation error detected: Value '%s' at 'autoScalingGroupName' failed to satisfy constraint: Member must have length between 1 and %d and no colon", name, maxGroupName)
	case old != nil && old.Deleting:
		return refuse("AlreadyExists", "AutoScalingGroup by this name already exists - A group with the name %s already exists and is pending delete", name)
	case old != nil:
		return refuse("AlreadyExists", "AutoScalingGroup by this name already exists - A group with the name %s already exists", name)
	case r.groups.Len() >= r.groupQuota():
		return refuse("LimitExceeded", "You have already reached your quota of %d Auto Scaling groups for this account", r.groupQuota())
	case str(in.LaunchConfigurationName) != "" || str(in.InstanceId) != "":
		return invalid("Launch configurations are not supported. Use a launch template.")
	}
	return nil
}

// groupQuota returns how many groups the account may have in a region.
func (r *realm) groupQuota() int {
	for _, a := range r.server.accounts {
		if a.ID == r.account && a.Groups > 0 {
			return a.Groups
		}
	}
	return maxGroups
}

// newGroupSpec is a group with AWS's defaults.
func newGroupSpec(name string) autoscaling.AutoScalingGroup {
	return autoscaling.AutoScalingGroup{
		AutoScalingGroupName: ptr(name), DefaultCooldown: ptr(int32(300)), HealthCheckType: ptr("EC2"), HealthCheckGracePeriod: ptr(int32(0)),
		TerminationPolicies: []string{"Default"}, NewInstancesProtectedFromScaleIn: ptr(false),
	}
}

// because notes why the group will launch or terminate next, and lets it look soon.
func (r *realm) because(g *group, sentence string) {
	g.Cause = "At " + moment(r.now) + " " + sentence + "."
	g.Check = r.now.Add(r.life(lifeEvaluate))
	r.groups.Touch(g.name())
}

// findGroup finds a group that may be changed: one that is being deleted may not.
func (r *realm) findGroup(name *string) (*group, error) {
	g := r.groups.Get(str(name))
	if g == nil {
		return nil, invalid("AutoScalingGroup name not found - AutoScalingGroup '%s' not found", str(name))
	}
	if g.Deleting {
		return nil, invalid("The AutoScaling group may not be modified while it is pending delete")
	}
	return g, nil
}

// checkGroup refuses what AWS refuses of a new group's settings.
func (r *realm) checkGroup(g *group) error {
	if err := checkSizes(&g.Spec); err != nil {
		return err
	}
	if err := r.checkZones(&g.Spec); err != nil {
		return err
	}
	return r.checkGroupTemplate(g)
}

// checkUpdate refuses what AWS refuses of an update: it looks at what is given alone, so that a group whose template or subnet
// was taken from under it can still be resized.
func (r *realm) checkUpdate(g *group, in *autoscaling.UpdateAutoScalingGroupInput) error {
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

func checkSizes(s *autoscaling.AutoScalingGroup) error {
	switch {
	case s.MinSize == nil || s.MaxSize == nil:
		return invalid("1 validation error detected: MinSize and MaxSize must not be null")
	case *s.MinSize < 0 || *s.MaxSize < 0 || *s.MaxSize > maxSize:
		return invalid("Min size:%d and max size:%d must be between 0 and %d", *s.MinSize, *s.MaxSize, maxSize)
	case *s.MinSize > *s.MaxSize:
		return invalid("Max bound, %d, must be greater than or equal to min bound, %d", *s.MaxSize, *s.MinSize)
	case *s.DesiredCapacity < *s.MinSize || *s.DesiredCapacity > *s.MaxSize:
		return invalid("Desired capacity:%d must be between the specified min size:%d and max size:%d", *s.DesiredCapacity, *s.MinSize, *s.MaxSize)
	case val(s.DefaultCooldown) < 0:
		return invalid("Default cooldown must not be negative")
	}
	return checkPolicies(s.TerminationPolicies)
}

// terminationPolicies are the ways in which a group chooses whom to let go.
var terminationPolicies = []string{
	"AllocationStrategy", "ClosestToNextInstanceHour", "Default", "NewestInstance", "OldestInstance", "OldestLaunchConfiguration", "OldestLaunchTemplate",
}

func checkPolicies(policies []string) error {
	for _, p := range policies {
		if !slices.Contains(terminationPolicies, p) && !strings.HasPrefix(p, "arn:aws:lambda:") {
			return invalid("Invalid termination policy '%s'. Valid policies are %s.", p, strings.Join(terminationPolicies, ", "))
		}
	}
	return nil
}

// subnetIDs are the subnets of a group.
func subnetIDs(s *autoscaling.AutoScalingGroup) []string {
	var out []string
	for id := range strings.SplitSeq(str(s.VPCZoneIdentifier), ",") {
		if id = strings.TrimSpace(id); id != "" {
			out = append(out, id)
		}
	}
	return out
}

// checkZones wants subnets that exist and derives the zones from them. There is no default VPC, so that zones alone do not do.
func (r *realm) checkZones(s *autoscaling.AutoScalingGroup) error {
	ids := subnetIDs(s)
	if len(ids) == 0 {
		if len(s.AvailabilityZones) > 0 {
			return invalid("You must use a valid fully-formed launch template. No default VPC for this user. GroupName is only supported for EC2-Classic and default VPC.")
		}
		return invalid("At least one Availability Zone or VPC Subnet is required.")
	}
	var zones []string
	for _, id := range ids {
		sub := r.subnets.Get(id)
		if sub == nil {
			return invalid("The subnet ID '%s' does not exist", id)
		}
		if !slices.Contains(zones, sub.Zone) {
			zones = append(zones, sub.Zone)
		}
	}
	slices.Sort(zones)
	for _, z := range s.AvailabilityZones {
		if !slices.Contains(zones, z) {
			return invalid("The availability zones of the specified subnets and the Auto Scaling group do not match")
		}
	}
	s.AvailabilityZones, s.VPCZoneIdentifier = zones, ptr(strings.Join(ids, ","))
	return nil
}

// checkGroupTemplate wants exactly one source of launches, and tries one as AWS does.
func (r *realm) checkGroupTemplate(g *group) error {
	s := &g.Spec
	if s.LaunchTemplate == nil && s.MixedInstancesPolicy == nil {
		return invalid("Valid requests must contain either LaunchTemplate, LaunchConfigurationName, InstanceId or MixedInstancesPolicy parameter.")
	}
	if s.LaunchTemplate != nil && s.MixedInstancesPolicy != nil {
		return invalid("Valid requests must contain only one of LaunchTemplate, LaunchConfigurationName, InstanceId or MixedInstancesPolicy parameter.")
	}
	if s.MixedInstancesPolicy != nil {
		if err := checkMixed(s.MixedInstancesPolicy); err != nil {
			return err
		}
	}
	if err := r.nameTemplate(templateSpec(s)); err != nil {
		return err
	}
	choices, err := r.choices(g, subnetIDs(s)[0])
	if err != nil {
		return fullyFormed(err)
	}
	for _, c := range choices {
		if err := r.check(c.launch); err != nil {
			return fullyFormed(err)
		}
	}
	return nil
}

// fullyFormed is how Auto Scaling passes on what EC2 says of a template.
func fullyFormed(err error) error {
	return invalid("You must use a valid fully-formed launch template. %s", errorMessage(err))
}

func checkMixed(p *autoscaling.MixedInstancesPolicy) error {
	if p.LaunchTemplate == nil || p.LaunchTemplate.LaunchTemplateSpecification == nil {
		return invalid("Valid requests must contain a LaunchTemplate in the MixedInstancesPolicy.")
	}
	d := val(p.InstancesDistribution)
	if s := str(d.OnDemandAllocationStrategy); s != "" && !slices.Contains([]string{"prioritized", "lowest-price"}, s) {
		return invalid("The OnDemandAllocationStrategy '%s' is not valid. Valid values: [lowest-price, prioritized].", s)
	}
	spot := []string{"lowest-price", "capacity-optimized", "capacity-optimized-prioritized", "price-capacity-optimized"}
	if s := str(d.SpotAllocationStrategy); s != "" && !slices.Contains(spot, s) {
		return invalid("The SpotAllocationStrategy '%s' is not valid. Valid values: [%s].", s, strings.Join(spot, ", "))
	}
	if n := d.OnDemandPercentageAboveBaseCapacity; n != nil && (*n < 0 || *n > 100) {
		return invalid("OnDemandPercentageAboveBaseCapacity must be between 0 and 100.")
	}
	return nil
}

// templateSpec is the launch template that a group stands on, directly or through its mix.
func templateSpec(s *autoscaling.AutoScalingGroup) *autoscaling.LaunchTemplateSpecification {
	if s.MixedInstancesPolicy != nil {
		return s.MixedInstancesPolicy.LaunchTemplate.LaunchTemplateSpecification
	}
	return s.LaunchTemplate
}

// nameTemplate completes a reference to a template with its ID, its name and a version.
func (r *realm) nameTemplate(s *autoscaling.LaunchTemplateSpecification) error {
	if str(s.LaunchTemplateId) != "" && str(s.LaunchTemplateName) != "" {
		if t := r.templates.Get(*s.LaunchTemplateId); t == nil || t.Name != *s.LaunchTemplateName {
			return invalid("Valid requests must contain either launchTemplateId or LaunchTemplateName")
		}
		s.LaunchTemplateName = nil
	}
	t, err := r.findTemplate(s.LaunchTemplateId, s.LaunchTemplateName)
	if err != nil {
		return fullyFormed(err)
	}
	if _, err := r.versionOf(t, str(s.Version)); err != nil {
		return fullyFormed(err)
	}
	s.LaunchTemplateId, s.LaunchTemplateName, s.Version = ptr(t.ID), ptr(t.Name), ptr(cmp.Or(str(s.Version), "$Default"))
	return nil
}

func (r *realm) updateGroup(in *autoscaling.UpdateAutoScalingGroupInput) (*autoscaling.UpdateAutoScalingGroupOutput, error) {
	old, err := r.findGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	if rf := r.refreshing(old); rf != nil && rf.DesiredConfiguration != nil && (in.LaunchTemplate != nil || in.MixedInstancesPolicy != nil) {
		return nil, invalid("An active instance refresh with a desired configuration exists. All configuration options derived from the desired configuration are not available for update while the instance refresh is active.")
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
		r.because(old, "a user request update of AutoScalingGroup constraints to min: "+itoa(*g.Spec.MinSize)+", max: "+itoa(*g.Spec.MaxSize)+
			", desired: "+itoa(now)+" changing the desired capacity from "+itoa(was)+" to "+itoa(now))
	}
	r.lookSoon(old)
	return &autoscaling.UpdateAutoScalingGroupOutput{}, nil
}

// change applies what an update says. One source of launches takes the place of the other, subnets that of zones, and bounds
// alone move the desired capacity between them.
func change(spec *autoscaling.AutoScalingGroup, in *autoscaling.UpdateAutoScalingGroupInput) {
	if in.VPCZoneIdentifier != nil && in.AvailabilityZones == nil {
		spec.AvailabilityZones = nil
	}
	overlay(spec, in)
	switch {
	case in.LaunchTemplate != nil && in.MixedInstancesPolicy == nil:
		spec.MixedInstancesPolicy = nil
	case in.MixedInstancesPolicy != nil && in.LaunchTemplate == nil:
		spec.LaunchTemplate = nil
	}
	if in.DesiredCapacity == nil {
		spec.DesiredCapacity = ptr(max(*spec.MinSize, min(*spec.MaxSize, *spec.DesiredCapacity)))
	}
}

// lookSoon lets the group look soon, whatever has changed of it.
func (r *realm) lookSoon(g *group) {
	g.Check, g.Retry, g.Failures = r.now.Add(r.life(lifeEvaluate)), r.now, 0
	r.groups.Touch(g.name())
}

// copySpec copies a spec so that nothing is shared: an update that is refused leaves no trace.
func copySpec(to, from *autoscaling.AutoScalingGroup) error {
	*to = autoscaling.AutoScalingGroup{}
	return reshape(from, to)
}

func (r *realm) setDesiredCapacity(in *autoscaling.SetDesiredCapacityInput) (*autoscaling.SetDesiredCapacityOutput, error) {
	g, err := r.findGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	want, low, high := val(in.DesiredCapacity), *g.Spec.MinSize, *g.Spec.MaxSize
	switch {
	case want > high:
		return nil, invalid("New SetDesiredCapacity value %d is above max value %d for the AutoScalingGroup.", want, high)
	case want < low:
		return nil, invalid("New SetDesiredCapacity value %d is below min value %d for the AutoScalingGroup.", want, low)
	case val(in.HonorCooldown) && r.now.Before(g.CooledAt):
		return nil, refuse("ScalingActivityInProgress", "Scaling activity is already in progress: the group %s is cooling down", g.name())
	}
	was := *g.Spec.DesiredCapacity
	if want == was {
		return &autoscaling.SetDesiredCapacityOutput{}, nil
	}
	g.Spec.DesiredCapacity = ptr(want)
	g.CooledAt = r.now.Add(r.life(seconds(g.Spec.DefaultCooldown)))
	g.Retry, g.Failures = r.now, 0
	r.because(g, "a user request explicitly set group desired capacity changing the desired capacity from "+itoa(was)+" to "+itoa(want))
	return &autoscaling.SetDesiredCapacityOutput{}, nil
}

func (r *realm) deleteGroup(in *autoscaling.DeleteAutoScalingGroupInput) (*autoscaling.DeleteAutoScalingGroupOutput, error) {
	g := r.groups.Get(str(in.AutoScalingGroupName))
	if g == nil {
		return nil, invalid("AutoScalingGroup name not found - AutoScalingGroup '%s' not found", str(in.AutoScalingGroupName))
	}
	if g.Deleting {
		return &autoscaling.DeleteAutoScalingGroupOutput{}, nil
	}
	force, protection := val(in.ForceDelete), g.Spec.DeletionProtection
	members := r.membersOf(g)
	switch {
	case protection == "prevent-all-deletion" || protection == "prevent-force-deletion" && force:
		return nil, refuse("ResourceInUse", "The Auto Scaling group %s has deletion protection %s.", g.name(), protection)
	case len(members) > 0 && !force:
		return nil, refuse("ResourceInUse", "You cannot delete an AutoScalingGroup while there are instances or pending Spot instance request(s) still in the group.")
	}
	g.Deleting = true
	g.Spec.Status = ptr(statusDeleting)
	// A forced deletion does not wait for hooks.
	g.Hooks = map[string]autoscaling.LifecycleHook{}
	r.groups.Touch(g.name())
	for _, m := range members {
		if m.State == memberTerminatingWait {
			m.Waits = nil
			r.kill(m)
		}
		r.dismiss(g, m, "a user request force deleted AutoScalingGroup", "")
	}
	return &autoscaling.DeleteAutoScalingGroupOutput{}, nil
}
