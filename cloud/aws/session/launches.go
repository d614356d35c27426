package session

import (
	"slices"
	"strings"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/pool"
)

const (
	// StatusDeleting is how an Auto Scaling group's status begins while it is being deleted.
	StatusDeleting = "Delete in progress"
	// issuesMost keeps a condition readable.
	issuesMost = 3
)

// Missing says whether the group has fewer members than it should.
func Missing(is *asgtypes.AutoScalingGroup) bool {
	members := 0
	for _, i := range is.Instances {
		if state, member := StateOf(i); member && state != pool.Terminating && !InStandby(i) {
			members++
		}
	}
	return members < int(Deref(is.DesiredCapacity)) && !strings.HasPrefix(Deref(is.Status), StatusDeleting)
}

// LaunchIssues are the failed activities since the last launch that worked, newest first, each message once.
func LaunchIssues(activities []asgtypes.Activity) []pool.Cause {
	activities = slices.Clone(activities)
	slices.SortStableFunc(activities, func(a, b asgtypes.Activity) int {
		return Deref(b.StartTime).Compare(Deref(a.StartTime))
	})
	var issues []pool.Cause
	for _, a := range activities {
		switch a.StatusCode {
		case asgtypes.ScalingActivityStatusCodeSuccessful:
			if strings.HasPrefix(Deref(a.Description), "Launching") {
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
	message := Clean(InstanceID.ReplaceAllString(Deref(a.StatusMessage), "an instance"))
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
