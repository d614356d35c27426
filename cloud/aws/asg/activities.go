package asg

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

const (
	// activityGrace is the time after a change of its size during which activities of a group are not read. activityPeriod is the time
	// between two such questions; it doubles up to maxActivityPeriod while the answer stays the same: a zone without capacity may last
	// for hours, and all groups of an account share the calls. maxActivities are read: the newest, which are those that count.
	activityGrace, activityPeriod, maxActivityPeriod = 5 * time.Second, 20 * time.Second, 160 * time.Second
	maxActivities                                    = 20
	// maxIssues keeps a condition readable.
	maxIssues = 3
)

// Activities caches why a group's instances are missing. The zero Activities know nothing.
type Activities struct {
	issues []pool.Cause
	at     time.Time
	// pause is the time for which the answer is kept.
	pause time.Duration
	// tolerance decides whether a pool is observed without the answer.
	tolerance driverkit.Tolerance
}

// Issues returns what was read last.
func (a *Activities) Issues() []pool.Cause { return a.issues }

// Read asks the group why instances are missing, if some are and had time to come since the size was changed. If it can't be read, the
// error is the only issue.
func (a *Activities) Read(ctx context.Context, c *session.Session, is *asgtypes.AutoScalingGroup, resized,
	now time.Time) ([]pool.Cause, error) {
	if is == nil || !Missing(is) {
		*a = Activities{}
		return nil, nil
	}
	if now.Sub(resized) < activityGrace || a.current(resized, now) {
		return a.issues, nil
	}
	pages := autoscaling.NewDescribeScalingActivitiesPaginator(c.AutoScaling, &autoscaling.DescribeScalingActivitiesInput{
		AutoScalingGroupName: is.AutoScalingGroupName, MaxRecords: new(int32(maxActivities)),
	})
	found, err := session.Listed(ctx, pages,
		func(page *autoscaling.DescribeScalingActivitiesOutput) []asgtypes.Activity { return page.Activities },
		maxActivities, now)
	switch {
	case err == nil:
		a.keep(LaunchIssues(found), now)
	case session.Absent(err) || a.tolerance.Tolerate(now, err) != nil:
		return nil, err
	default:
		a.keep([]pool.Cause{driverkit.CauseOf(err)}, now)
	}
	return a.issues, nil
}

// current reports whether the last answer still counts.
func (a *Activities) current(resized, now time.Time) bool {
	pause := a.pause
	if a.at.Before(resized) {
		pause = activityPeriod
	}
	return !a.at.IsZero() && now.Sub(a.at) < pause
}

// keep keeps an answer, longer each time that it is the same.
func (a *Activities) keep(issues []pool.Cause, now time.Time) {
	pause := activityPeriod
	if !a.at.IsZero() && slices.Equal(issues, a.issues) {
		pause = min(2*a.pause, maxActivityPeriod)
	}
	a.issues, a.at, a.pause = issues, now, pause
}

// Missing reports whether the group has fewer members than it should.
func Missing(is *asgtypes.AutoScalingGroup) bool {
	return Members(is) < int(ptr.Deref(is.DesiredCapacity, 0)) && !Deleting(is)
}

// Members returns how many instances the group has that count towards its size.
func Members(is *asgtypes.AutoScalingGroup) int {
	members := 0
	for _, i := range is.Instances {
		if state, member := StateOf(i); member && state != pool.Terminating && !InStandby(i) {
			members++
		}
	}
	return members
}

// LaunchIssues returns the failed activities since the last launch that worked, newest first, each message once.
func LaunchIssues(activities []asgtypes.Activity) []pool.Cause {
	activities = slices.Clone(activities)
	slices.SortStableFunc(activities, func(a, b asgtypes.Activity) int {
		return ptr.Deref(b.StartTime, time.Time{}).Compare(ptr.Deref(a.StartTime, time.Time{}))
	})
	var issues []pool.Cause
	for _, a := range activities {
		switch a.StatusCode {
		case asgtypes.ScalingActivityStatusCodeSuccessful:
			if strings.HasPrefix(ptr.Deref(a.Description, ""), "Launching") {
				return issues
			}
		case asgtypes.ScalingActivityStatusCodeFailed, asgtypes.ScalingActivityStatusCodeCancelled:
			issue := issueOf(a)
			if issue.Message != "" && !slices.Contains(issues, issue) && len(issues) < maxIssues {
				issues = append(issues, issue)
			}
		}
	}
	return issues
}

// issueOf returns a failed activity in the text of the service, with a reason.
func issueOf(a asgtypes.Activity) pool.Cause {
	message := session.Clean(session.InstanceID.ReplaceAllString(ptr.Deref(a.StatusMessage, ""), "an instance"))
	return pool.Cause{Reason: activityReason(message), Message: message}
}

// activityReason returns the reason for the text of a failed launch. The service has no codes for it.
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
