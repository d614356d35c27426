package aws

import (
	"context"
	"regexp"
	"strings"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// How one learns that the cloud takes an instance. Whatever the group does (health, zones, refresh, age, a size that a user
// lowered, a rebalance recommendation where capacityRebalance is set) passes our termination hook, and the activity's cause says
// why. A spot interruption does not: EC2 takes the instance two minutes after its notice, whatever waits for a hook, and the
// notice is the status of the instance's spot request. A recommendation alone is shown by no call: it is told to the instance
// and to EventBridge.

// takings are the group's reasons in its activities' words, with Muster's reasons; the first that matches counts.
var takings = []struct{ words, reason string }{
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

// takenText finds the reason in an activity's cause.
var takenText = regexp.MustCompile(`(?s).*taken out of service in response to (?:an? )?([^.,]+)`)

// takenFor is why the group takes an instance, in the service's words; nil when a client requested it, for the instance or for the group.
func takenFor(cause string) *pool.Cause {
	match := takenText.FindStringSubmatch(cause)
	if match == nil || strings.Contains(match[1], "user request") {
		return nil
	}
	reason := "TakenByGroup"
	for _, t := range takings {
		if strings.Contains(strings.ToLower(match[1]), t.words) {
			reason = t.reason
			break
		}
	}
	return &pool.Cause{Reason: reason, Message: "the Auto Scaling group takes the instance out of service in response to " +
		strings.TrimSpace(session.Clean(session.InstanceID.ReplaceAllString(match[1], "an instance")))}
}

// interrupted is why an instance is about to go that has its notice.
var interrupted = pool.Cause{Reason: "SpotInterruption", Message: "EC2 has given notice that it takes the spot instance back within two minutes"}

// terminationNotice returns why the cloud takes an instance, or is about to; nil when it does not, as far as is known.
func (p *pass) terminationNotice(is *asgtypes.AutoScalingGroup, i asgtypes.Instance) *pool.Cause {
	id := session.Deref(i.InstanceId)
	read, held := p.memory.holds[id]
	switch {
	case held && read.why != nil:
		return read.why
	case p.memory.marked[id]:
		cause := interrupted
		return &cause
	}
	return asg.Unhealthy(is, i)
}

// atShortNotice reports whether the group has spot instances, which may be taken at any time.
func (p *pass) atShortNotice(is *asgtypes.AutoScalingGroup) bool {
	for _, i := range is.Instances {
		if state, member := asg.StateOf(i); member && state != pool.Terminating && p.memory.members[session.Deref(i.InstanceId)].spot {
			return true
		}
	}
	return false
}

// readMarks asks which spot instances have their notice, if the group has any or if EC2 does not report which instances are spot.
func (p *pass) readMarks(ctx context.Context, is *asgtypes.AutoScalingGroup) error {
	p.memory.marked = nil
	if !p.atShortNotice(is) && p.memory.membersRefused.Err == nil {
		return nil
	}
	marked, err := p.c.SpotNotices(ctx, p.now, p.t.MaxAge == cloud.NoSharedCache)
	p.memory.marked = marked
	return err
}
