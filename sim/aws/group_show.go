package aws

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
)

// moment is a time as it stands in the causes of activities.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// seconds is an optional number of seconds.
func seconds(n *int32) time.Duration { return time.Duration(val(n)) * time.Second }

// records is Auto Scaling's rule for MaxRecords: at most a limit, by default a smaller page.
func records(given *int32, otherwise, limit int) (int, error) {
	if given == nil {
		return otherwise, nil
	}
	if n := int(*given); n < 1 || n > limit {
		return 0, invalid("1 validation error detected: Value '%d' at 'maxRecords' failed to satisfy constraint: Member must have value between 1 and %d", n, limit)
	}
	return int(*given), nil
}

func (r *realm) describeGroups(in *autoscaling.DescribeAutoScalingGroupsInput) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
	size, err := records(in.MaxRecords, 50, 100)
	if err != nil {
		return nil, err
	}
	var found []*group
	for name, g := range r.groups.All() {
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
	page, next, err := paged(found, (*group).name, in.NextToken, r.page(size))
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
func (g *group) matches(filters []autoscaling.Filter) (bool, error) {
	for _, f := range filters {
		var have []string
		switch name := str(f.Name); {
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
			return false, invalid("Filter type %s is not correct. Allowed Filter types are: tag-key tag-value tag:<key>", name)
		}
		if !slices.ContainsFunc(have, func(v string) bool { return slices.Contains(f.Values, v) }) {
			return false, nil
		}
	}
	return true, nil
}

// showGroup is a group as the service describes it.
func (r *realm) showGroup(g *group) autoscaling.AutoScalingGroup {
	out := g.Spec
	out.Tags = g.showTags()
	for _, p := range slices.Sorted(maps.Keys(g.Suspended)) {
		out.SuspendedProcesses = append(out.SuspendedProcesses, autoscaling.SuspendedProcess{ProcessName: ptr(p), SuspensionReason: ptr(g.Suspended[p])})
	}
	for _, m := range r.membersOf(g) {
		shown := autoscaling.Instance{
			InstanceId: ptr(m.Instance), AvailabilityZone: ptr(m.Zone), AvailabilityZoneId: ptr(zoneID(r.region, m.Zone)), LifecycleState: m.State,
			HealthStatus: ptr(m.Health), ProtectedFromScaleIn: ptr(m.Protected), InstanceType: ptr(m.Type), WeightedCapacity: opt(m.Weighted),
		}
		if m.Template.LaunchTemplateId != nil {
			shown.LaunchTemplate = ptr(m.Template)
		}
		out.Instances = append(out.Instances, shown)
	}
	return out
}

func (g *group) showTags() []autoscaling.TagDescription {
	var out []autoscaling.TagDescription
	for _, k := range slices.Sorted(maps.Keys(g.Tags)) {
		t := g.Tags[k]
		out = append(out, autoscaling.TagDescription{
			Key: ptr(k), Value: ptr(t.Value), PropagateAtLaunch: ptr(t.Propagate), ResourceId: ptr(g.name()), ResourceType: ptr(groupResource),
		})
	}
	return out
}

// membersOf are the members of a group, the longest serving first.
func (r *realm) membersOf(g *group) []*member {
	var out []*member
	for _, m := range r.members.Under(g.name() + ":") {
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b *member) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

func memberKey(group, instance string) string { return group + ":" + instance }

// groupTagKey is the tag by which an instance names its group.
const groupTagKey = "aws:autoscaling:groupName"

// memberOf is the membership of an instance, nil for none.
func (r *realm) memberOf(instance string) *member {
	if i := r.instances.Get(instance); i != nil {
		return r.members.Get(memberKey(i.Tags[groupTagKey], instance))
	}
	// EC2 forgets what has ended; a group keeps what ended in standby.
	for _, m := range r.members.All() {
		if m.Instance == instance {
			return m
		}
	}
	return nil
}

func (r *realm) describeGroupInstances(in *autoscaling.DescribeAutoScalingInstancesInput) (*autoscaling.DescribeAutoScalingInstancesOutput, error) {
	size, err := records(in.MaxRecords, 50, 50)
	if err != nil {
		return nil, err
	}
	var found []*member
	for _, m := range r.members.All() {
		if len(in.InstanceIds) == 0 || slices.Contains(in.InstanceIds, m.Instance) {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, func(a, b *member) int { return strings.Compare(a.Instance, b.Instance) })
	page, next, err := paged(found, func(m *member) string { return m.Instance }, in.NextToken, r.page(size))
	if err != nil {
		return nil, err
	}
	out := &autoscaling.DescribeAutoScalingInstancesOutput{NextToken: next}
	for _, m := range page {
		shown := autoscaling.AutoScalingInstanceDetails{
			AutoScalingGroupName: ptr(m.Group), InstanceId: ptr(m.Instance), AvailabilityZone: ptr(m.Zone), LifecycleState: ptr(m.State),
			HealthStatus: ptr(strings.ToUpper(m.Health)), ProtectedFromScaleIn: ptr(m.Protected), InstanceType: ptr(m.Type), WeightedCapacity: opt(m.Weighted),
		}
		if m.Template.LaunchTemplateId != nil {
			shown.LaunchTemplate = ptr(m.Template)
		}
		out.AutoScalingInstances = append(out.AutoScalingInstances, shown)
	}
	return out, nil
}

// groupResource is the one kind of thing that Auto Scaling tags.
const groupResource = "auto-scaling-group"

// setTags adds or changes tags; each must name this group or nothing.
func (g *group) setTags(tags []autoscaling.Tag, name string) error {
	for _, t := range tags {
		k, v := str(t.Key), str(t.Value)
		switch {
		case t.ResourceId != nil && *t.ResourceId != name:
			return invalid("Resource ID %s does not match the group %s", *t.ResourceId, name)
		case t.ResourceType != nil && *t.ResourceType != groupResource:
			return invalid("Invalid resource type: %s", *t.ResourceType)
		case k == "" || len(k) > 128 || len(v) > 256:
			return invalid("Tag keys have 1 to 128 characters and values at most 256: '%s'", k)
		case strings.HasPrefix(strings.ToLower(k), "aws:"):
			return invalid("Invalid Tag key. The prefix aws: is reserved for internal use.")
		}
		g.Tags[k] = groupTag{v, val(t.PropagateAtLaunch)}
	}
	if len(g.Tags) > maxTags {
		return refuse("LimitExceeded", "The tag limit of %d for the group %s is exceeded", maxTags, name)
	}
	return nil
}

func (r *realm) createOrUpdateGroupTags(in *autoscaling.CreateOrUpdateTagsInput) (*autoscaling.CreateOrUpdateTagsOutput, error) {
	for _, t := range in.Tags {
		g, err := r.findGroup(t.ResourceId)
		if err != nil {
			return nil, err
		}
		tags := maps.Clone(g.Tags)
		if err := g.setTags([]autoscaling.Tag{t}, g.name()); err != nil {
			g.Tags = tags
			return nil, err
		}
		r.groups.Touch(g.name())
	}
	return &autoscaling.CreateOrUpdateTagsOutput{}, nil
}

func (r *realm) deleteGroupTags(in *autoscaling.DeleteTagsInput) (*autoscaling.DeleteTagsOutput, error) {
	for _, t := range in.Tags {
		g, err := r.findGroup(t.ResourceId)
		if err != nil {
			return nil, err
		}
		delete(g.Tags, str(t.Key))
		r.groups.Touch(g.name())
	}
	return &autoscaling.DeleteTagsOutput{}, nil
}

func (r *realm) describeGroupTags(in *autoscaling.DescribeTagsInput) (*autoscaling.DescribeTagsOutput, error) {
	size, err := records(in.MaxRecords, 50, 100)
	if err != nil {
		return nil, err
	}
	var found []autoscaling.TagDescription
	for _, g := range r.groups.All() {
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
	page, next, err := paged(found, func(t autoscaling.TagDescription) string { return str(t.ResourceId) + "\x00" + str(t.Key) }, in.NextToken, r.page(size))
	return &autoscaling.DescribeTagsOutput{Tags: page, NextToken: next}, err
}

func tagMatches(filters []autoscaling.Filter, t autoscaling.TagDescription) (bool, error) {
	for _, f := range filters {
		have := ""
		switch str(f.Name) {
		case "auto-scaling-group":
			have = str(t.ResourceId)
		case "key":
			have = str(t.Key)
		case "value":
			have = str(t.Value)
		case "propagate-at-launch":
			have = "false"
			if val(t.PropagateAtLaunch) {
				have = "true"
			}
		default:
			return false, invalid("Filter type %s is not correct. Allowed Filter types are: auto-scaling-group key value propagate-at-launch", str(f.Name))
		}
		if !slices.Contains(f.Values, have) {
			return false, nil
		}
	}
	return true, nil
}
