package autoscaling

import (
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	"github.com/muster-project/muster/sim/aws/wire"
)

func (r *Activities) describeScalingActivities(
	in *autoscaling.DescribeScalingActivitiesInput) (*autoscaling.DescribeScalingActivitiesOutput, error) {
	size, err := records(in.MaxRecords, 100, 100)
	if err != nil {
		return nil, err
	}
	prefix := ""
	if name := shapes.Str(in.AutoScalingGroupName); name != "" {
		if r.Groups.Rows.Get(name) == nil && !shapes.Val(in.IncludeDeletedGroups) {
			return nil, wire.Invalid("AutoScalingGroup name not found - AutoScalingGroup '%s' not found", name)
		}
		prefix = name + ":"
	}
	found := r.Rows.List(prefix)
	if len(in.ActivityIds) > 0 {
		found = slices.DeleteFunc(found, func(a *Activity) bool { return !slices.Contains(in.ActivityIds, shapes.Str(a.ActivityId)) })
	}
	// The newest first.
	key := func(a *Activity) string { return ec2.VersionKey("", 1<<52-a.Number) }
	slices.SortFunc(found, func(a, b *Activity) int { return strings.Compare(key(a), key(b)) })
	page, next, err := account.Paged(nil, found, key, in.NextToken, r.Page(size))
	if err != nil {
		return nil, err
	}
	out := &autoscaling.DescribeScalingActivitiesOutput{NextToken: next}
	for _, a := range page {
		out.Activities = append(out.Activities, a.Activity)
	}
	return out, nil
}

// begin starts an activity.
func (r *Activities) begin(g *Group, description, cause string) *Activity {
	a := &Activity{Group: g.Name(), Number: r.Number(), Activity: autoscaling.Activity{
		ActivityId: new(r.Seed.UUID("activity", g.Name(), r.Sequences.Get("all").Last)), AutoScalingGroupName: new(g.Name()),
		AutoScalingGroupARN: g.Spec.AutoScalingGroupARN, Description: new(description), Cause: new(cause), StartTime: shapes.Stamp(r.Now),
		StatusCode: "InProgress", Progress: new(int32(0)), Details: shapes.Opt(activityDetails(g)),
	}}
	r.Rows.Put(activityKey(g.Name(), a.Number), a)
	r.pruneActivities(g)
	return a
}

func activityDetails(g *Group) string {
	zones, subnets := g.Spec.AvailabilityZones, SubnetIDs(&g.Spec)
	if len(zones) == 0 || len(subnets) == 0 {
		return ""
	}
	return `{"Subnet ID":"` + subnets[0] + `","Availability Zone":"` + zones[0] + `"}`
}

// end finishes an activity; a message says why it failed.
func (r *Activities) end(a *Activity, status, message string) {
	a.StatusCode, a.EndTime, a.Progress, a.StatusMessage = status, shapes.Stamp(r.Now), new(int32(100)), shapes.Opt(message)
	r.Rows.Touch(activityKey(a.Group, a.Number))
}

// maxActivities limits the activities that are kept of a group; AWS keeps six weeks of them.
const maxActivities = 200

func (r *Activities) pruneActivities(g *Group) {
	var keys []string
	for key := range r.Rows.Under(g.Name() + ":") {
		keys = append(keys, key)
	}
	for _, key := range keys[:max(0, len(keys)-maxActivities)] {
		r.Rows.Delete(key)
	}
}
