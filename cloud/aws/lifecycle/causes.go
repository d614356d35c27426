package lifecycle

import (
	"regexp"
	"strings"

	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// The cloud terminates instances for two kinds of reasons. Those of the group (health, zones, refresh, age, a size that a user lowered, a
// rebalance recommendation where capacityRebalance is set) pass the drain hook, and the activity's cause names the reason. A spot
// interruption does not pass it: EC2 terminates the instance two minutes after its notice, whatever waits for a hook, and the notice is the
// status of the instance's spot request. A recommendation alone is shown by no call: the instance and EventBridge receive it.

// causes are the group's reasons in the words of its activities, with Muster's reasons; the first that matches counts.
var causes = []struct{ words, reason string }{
	{"rebalance recommendation", "RebalanceRecommended"},
	{"interruption notice", "SpotInterruption"},
	{"instance refresh", "InstanceRefresh"},
	{"health", "Unhealthy"},
	{"status checks", "Unhealthy"},
	{"availability zone", "ZonesUneven"},
	{"maximum instance lifetime", "LifetimeOver"},
	{"lifecycle hook", "LaunchAbandoned"},
	{"difference between desired and actual capacity", "GroupShrinks"},
}

// causeText finds the reason in an activity's cause.
var causeText = regexp.MustCompile(`(?s).*taken out of service in response to (?:an? )?([^.,]+)`)

// causeOf returns why the group terminates an instance, in the service's words; nil if a client requested it, for the instance or for the
// group.
func causeOf(cause string) *pool.Cause {
	match := causeText.FindStringSubmatch(cause)
	if match == nil || strings.Contains(match[1], "user request") {
		return nil
	}
	reason := "TakenByGroup"
	for _, t := range causes {
		if strings.Contains(strings.ToLower(match[1]), t.words) {
			reason = t.reason
			break
		}
	}
	return &pool.Cause{Reason: reason, Message: "the Auto Scaling group takes the instance out of service in response to " +
		strings.TrimSpace(session.Clean(session.InstanceID.ReplaceAllString(match[1], "an instance")))}
}
