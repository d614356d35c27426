package aws

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

const (
	// activitiesMost are read: the newest, which are those that count.
	activitiesMost = 20
	// issuesMost keeps a condition readable.
	issuesMost = 3
)

// readActivities asks the group why instances do not come, when some are missing and had time to come.
func (p *pass) readActivities(ctx context.Context, is *asgtypes.AutoScalingGroup) ([]pool.Cause, error) {
	known := &p.memory.activities
	if !missing(is) {
		*known = activitiesRead{}
		return nil, nil
	}
	if p.now.Sub(p.memory.resized) < activityGrace || !known.at.IsZero() && p.now.Sub(known.at) < activityPeriod {
		return known.issues, nil
	}
	pages := autoscaling.NewDescribeScalingActivitiesPaginator(p.c.AutoScaling, &autoscaling.DescribeScalingActivitiesInput{
		AutoScalingGroupName: &p.t.group, MaxRecords: new(int32(activitiesMost)),
	})
	found, err := session.Listed(ctx, pages, func(page *autoscaling.DescribeScalingActivitiesOutput) []asgtypes.Activity { return page.Activities },
		activitiesMost, p.now)
	if err != nil {
		return nil, err
	}
	*known = activitiesRead{issues: issuesOf(found), at: p.now}
	return known.issues, nil
}

// missing says whether the group has fewer members than it should.
func missing(is *asgtypes.AutoScalingGroup) bool {
	members := 0
	for _, i := range is.Instances {
		if state, member := stateOf(i); member && state != pool.Terminating && !inStandby(i) {
			members++
		}
	}
	return members < int(session.Deref(is.DesiredCapacity)) && !strings.HasPrefix(session.Deref(is.Status), statusDeleting)
}

// issuesOf are the failed activities since the last launch that worked, newest first, each message once.
func issuesOf(activities []asgtypes.Activity) []pool.Cause {
	activities = slices.Clone(activities)
	slices.SortStableFunc(activities, func(a, b asgtypes.Activity) int {
		return session.Deref(b.StartTime).Compare(session.Deref(a.StartTime))
	})
	var issues []pool.Cause
	for _, a := range activities {
		switch a.StatusCode {
		case asgtypes.ScalingActivityStatusCodeSuccessful:
			if strings.HasPrefix(session.Deref(a.Description), "Launching") {
				return issues
			}
		case asgtypes.ScalingActivityStatusCodeFailed, asgtypes.ScalingActivityStatusCodeCancelled:
			issue := issueOf(a)
			if issue.Message != "" && !slices.Contains(issues, issue) && len(issues) < issuesMost {
				issues = append(issues, issue)
			}
		}
	}
	return issues
}

// issueOf is a failed activity in the service's own words, with a reason word.
func issueOf(a asgtypes.Activity) pool.Cause {
	message := session.Clean(session.InstanceID.ReplaceAllString(session.Deref(a.StatusMessage), "an instance"))
	return pool.Cause{Reason: activityReason(message), Message: message}
}

// activityReason sorts the service's words on a launch that failed. It has no codes for them.
func activityReason(message string) string {
	lower := strings.ToLower(message)
	for _, r := range []struct{ words, reason string }{
		{"insufficient", "Capacity"},
		{"sufficient", "Capacity"},
		{"capacity-not-available", "Capacity"},
		{"limitexceeded", "Capacity"},
		{"vcpu", "Capacity"},
		{"quota", "Capacity"},
		{"spot price", "Capacity"},
		{"not authorized", "Denied"},
		{"accessdenied", "Denied"},
		{"invalid", "Invalid"},
		{"does not exist", "Invalid"},
		{"not supported", "Invalid"},
	} {
		if strings.Contains(lower, r.words) {
			return r.reason
		}
	}
	return "LaunchFailed"
}
