package autoscaling

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	"github.com/muster-project/muster/sim/aws/wire"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/fleet"
)

// moment is a time as it stands in the causes of activities.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// seconds is an optional number of seconds.
func seconds(n *int32) time.Duration { return time.Duration(shapes.Val(n)) * time.Second }

// records is Auto Scaling's rule for MaxRecords: at most a limit, by default a smaller page.
func records(given *int32, otherwise, limit int) (int, error) {
	if given == nil {
		return otherwise, nil
	}
	if n := int(*given); n < 1 || n > limit {
		return 0, wire.Invalid("1 validation error detected: Value '%d' at 'maxRecords' failed to satisfy constraint: Member must have value "+
			"between 1 and %d", n, limit)
	}
	return int(*given), nil
}

func (r *Groups) describeGroups(in *autoscaling.DescribeAutoScalingGroupsInput) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
	size, err := records(in.MaxRecords, 50, 100)
	if err != nil {
		return nil, err
	}
	var found []*Group
	for name, g := range r.Rows.All() {
		if len(in.AutoScalingGroupNames) > 0 && !slices.Contains(in.AutoScalingGroupNames, name) {
			continue
		}
		ok, err := g.matches(in.Filters)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, g)
		}
	}
	page, next, err := account.Paged(r.Core, found, (*Group).Name, in.NextToken, r.Page(size))
	if err != nil {
		return nil, err
	}
	out := &autoscaling.DescribeAutoScalingGroupsOutput{NextToken: next}
	for _, g := range page {
		shown := r.showGroup(g)
		if in.IncludeInstances != nil && !*in.IncludeInstances {
			shown.Instances = nil
		}
		out.AutoScalingGroups = append(out.AutoScalingGroups, shown)
	}
	return out, nil
}

// matches applies filters of tags: any value of a filter, all filters.
func (g *Group) matches(filters []autoscaling.Filter) (bool, error) {
	for _, f := range filters {
		var have []string
		switch name := shapes.Str(f.Name); {
		case name == "tag-key":
			have = slices.Collect(maps.Keys(g.Tags))
		case name == "tag-value":
			for _, t := range g.Tags {
				have = append(have, t.Value)
			}
		case strings.HasPrefix(name, "tag:"):
			if t, ok := g.Tags[strings.TrimPrefix(name, "tag:")]; ok {
				have = []string{t.Value}
			}
		default:
			return false, wire.Invalid("Filter type %s is not correct. Allowed Filter types are: tag-key tag-value tag:<key>", name)
		}
		if !slices.ContainsFunc(have, func(v string) bool { return slices.Contains(f.Values, v) }) {
			return false, nil
		}
	}
	return true, nil
}

// showGroup is a group as the service describes it.
func (r *Groups) showGroup(g *Group) autoscaling.AutoScalingGroup {
	out := g.Spec
	out.Tags = g.showTags()
	for _, p := range slices.Sorted(maps.Keys(g.Suspended)) {
		out.SuspendedProcesses = append(out.SuspendedProcesses,
			autoscaling.SuspendedProcess{ProcessName: new(p), SuspensionReason: new(g.Suspended[p])})
	}
	for _, m := range core.Ordered(r.Environment, r.Members.MembersOf(g)) {
		shown := autoscaling.Instance{
			InstanceId: new(m.Instance), AvailabilityZone: new(m.Zone), AvailabilityZoneId: new(account.ZoneID(r.Region, m.Zone)),
			LifecycleState: m.State,
			HealthStatus:   new(m.Health), ProtectedFromScaleIn: new(m.Protected), InstanceType: new(m.Type),
			WeightedCapacity: shapes.Opt(m.Weighted),
		}
		if m.Template.LaunchTemplateId != nil {
			shown.LaunchTemplate = new(m.Template)
		}
		out.Instances = append(out.Instances, shown)
	}
	return out
}

func (g *Group) showTags() []autoscaling.TagDescription {
	var out []autoscaling.TagDescription
	for _, k := range slices.Sorted(maps.Keys(g.Tags)) {
		t := g.Tags[k]
		out = append(out, autoscaling.TagDescription{
			Key: new(k), Value: new(t.Value), PropagateAtLaunch: new(t.Propagate), ResourceId: new(g.Name()), ResourceType: new(groupResource),
		})
	}
	return out
}

// MembersOf are the members of a group, the longest serving first.
func (r *Members) MembersOf(g *Group) []*Member { return fleet.ByNumber(r.Rows.List(g.Name() + ":")) }

// counted returns those of a group's members that count towards the desired capacity and stay.
func counted(members []*Member) []*Member {
	return slices.DeleteFunc(members, func(m *Member) bool { return !m.Serving() || m.AtRisk != "" })
}

// MemberKey returns the key of an instance in a group.
func MemberKey(group, instance string) string { return group + ":" + instance }

// MemberOf is the membership of an instance, nil for none.
func (r *Members) MemberOf(instance string) *Member {
	if i := r.EC2.Instances.Rows.Get(instance); i != nil {
		return r.Rows.Get(MemberKey(i.Tags[ec2.GroupTagKey], instance))
	}
	// EC2 forgets what has ended; a group keeps what ended in standby.
	for _, m := range r.Rows.All() {
		if m.Instance == instance {
			return m
		}
	}
	return nil
}

func (r *Members) describeGroupInstances(
	in *autoscaling.DescribeAutoScalingInstancesInput) (*autoscaling.DescribeAutoScalingInstancesOutput, error) {
	size, err := records(in.MaxRecords, 50, 50)
	if err != nil {
		return nil, err
	}
	var found []*Member
	for _, m := range r.Rows.All() {
		if len(in.InstanceIds) == 0 || slices.Contains(in.InstanceIds, m.Instance) {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, func(a, b *Member) int { return strings.Compare(a.Instance, b.Instance) })
	page, next, err := account.Paged(r.Core, found, func(m *Member) string { return m.Instance }, in.NextToken, r.Page(size))
	if err != nil {
		return nil, err
	}
	out := &autoscaling.DescribeAutoScalingInstancesOutput{NextToken: next}
	for _, m := range page {
		shown := autoscaling.AutoScalingInstanceDetails{
			AutoScalingGroupName: new(m.Group), InstanceId: new(m.Instance), AvailabilityZone: new(m.Zone), LifecycleState: new(m.State),
			HealthStatus: new(strings.ToUpper(m.Health)), ProtectedFromScaleIn: new(m.Protected), InstanceType: new(m.Type),
			WeightedCapacity: shapes.Opt(m.Weighted),
		}
		if m.Template.LaunchTemplateId != nil {
			shown.LaunchTemplate = new(m.Template)
		}
		out.AutoScalingInstances = append(out.AutoScalingInstances, shown)
	}
	return out, nil
}

// groupResource is the one kind of thing that Auto Scaling tags.
const groupResource = "auto-scaling-group"

// setTags adds or changes tags; each must name this group or nothing.
func (g *Group) setTags(tags []autoscaling.Tag, name string) error {
	for _, t := range tags {
		k, v := shapes.Str(t.Key), shapes.Str(t.Value)
		switch {
		case t.ResourceId != nil && *t.ResourceId != name:
			return wire.Invalid("Resource ID %s does not match the group %s", *t.ResourceId, name)
		case t.ResourceType != nil && *t.ResourceType != groupResource:
			return wire.Invalid("Invalid resource type: %s", *t.ResourceType)
		case k == "" || len(k) > 128 || len(v) > 256:
			return wire.Invalid("Tag keys have 1 to 128 characters and values at most 256: '%s'", k)
		case strings.HasPrefix(strings.ToLower(k), "aws:"):
			return wire.Invalid("Invalid Tag key. The prefix aws: is reserved for internal use.")
		}
		g.Tags[k] = groupTag{v, shapes.Val(t.PropagateAtLaunch)}
	}
	if len(g.Tags) > account.MaxTags {
		return wire.Refuse("LimitExceeded", "The tag limit of %d for the group %s is exceeded", account.MaxTags, name)
	}
	return nil
}

// CreateOrUpdateGroupTags is the action CreateOrUpdateTags.
func (r *Groups) CreateOrUpdateGroupTags(in *autoscaling.CreateOrUpdateTagsInput) (*autoscaling.CreateOrUpdateTagsOutput, error) {
	for _, t := range in.Tags {
		g, err := r.FindGroup(t.ResourceId)
		if err != nil {
			return nil, err
		}
		tags := maps.Clone(g.Tags)
		if err := g.setTags([]autoscaling.Tag{t}, g.Name()); err != nil {
			g.Tags = tags
			return nil, err
		}
		r.Rows.Touch(g.Name())
	}
	return &autoscaling.CreateOrUpdateTagsOutput{}, nil
}

// DeleteGroupTags is the action DeleteTags.
func (r *Groups) DeleteGroupTags(in *autoscaling.DeleteTagsInput) (*autoscaling.DeleteTagsOutput, error) {
	for _, t := range in.Tags {
		g, err := r.FindGroup(t.ResourceId)
		if err != nil {
			return nil, err
		}
		delete(g.Tags, shapes.Str(t.Key))
		r.Rows.Touch(g.Name())
	}
	return &autoscaling.DeleteTagsOutput{}, nil
}

func (r *Groups) describeGroupTags(in *autoscaling.DescribeTagsInput) (*autoscaling.DescribeTagsOutput, error) {
	size, err := records(in.MaxRecords, 50, 100)
	if err != nil {
		return nil, err
	}
	var found []autoscaling.TagDescription
	for _, g := range r.Rows.All() {
		for _, t := range g.showTags() {
			ok, err := tagMatches(in.Filters, t)
			if err != nil {
				return nil, err
			}
			if ok {
				found = append(found, t)
			}
		}
	}
	page, next, err := account.Paged(r.Core, found, func(t autoscaling.TagDescription) string {
		return shapes.Str(t.ResourceId) + "\x00" + shapes.Str(t.Key)
	}, in.NextToken, r.Page(size))
	return &autoscaling.DescribeTagsOutput{Tags: page, NextToken: next}, err
}

func tagMatches(filters []autoscaling.Filter, t autoscaling.TagDescription) (bool, error) {
	for _, f := range filters {
		have := ""
		switch shapes.Str(f.Name) {
		case "auto-scaling-group":
			have = shapes.Str(t.ResourceId)
		case "key":
			have = shapes.Str(t.Key)
		case "value":
			have = shapes.Str(t.Value)
		case "propagate-at-launch":
			have = "false"
			if shapes.Val(t.PropagateAtLaunch) {
				have = "true"
			}
		default:
			return false, wire.Invalid("Filter type %s is not correct. Allowed Filter types are: auto-scaling-group key value propagate-at-launch",
				shapes.Str(f.Name))
		}
		if !slices.Contains(f.Values, have) {
			return false, nil
		}
	}
	return true, nil
}
