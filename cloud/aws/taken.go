package aws

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// How one learns that the cloud takes an instance. Whatever the group does (health, zones, refresh, age, a size that somebody
// lowered, a rebalance recommendation where capacityRebalance is set) passes our termination hook, and the activity's cause says
// why. A spot interruption does not: EC2 takes the instance two minutes after its notice, whatever waits for a hook, and the
// notice is the status of the instance's spot request. A recommendation alone is shown by no call: it is told to the instance
// and to EventBridge.

// takings are the group's reasons in its activities' words, with a word of ours; the first that matches counts.
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

// takenFor is why the group takes an instance, in the service's words; nil when somebody asked it to, by name or with the group.
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
		strings.TrimSpace(clean(instanceID.ReplaceAllString(match[1], "an instance")))}
}

// interrupted is why an instance is about to go that has its notice.
var interrupted = pool.Cause{Reason: "SpotInterruption", Message: "EC2 has given notice that it takes the spot instance back within two minutes"}

// doomOf is why the cloud takes an instance, or is about to; nil when it does not, as far as is known.
func (p *pass) doomOf(is *asgtypes.AutoScalingGroup, i asgtypes.Instance) *pool.Cause {
	id := deref(i.InstanceId)
	read, held := p.memory.holds[id]
	switch {
	case held && read.why != nil:
		return read.why
	case p.memory.marked[id]:
		cause := interrupted
		return &cause
	}
	if state, _ := stateOf(i); state == pool.Failed && !inStandby(i) && replacesUnhealthy(is) {
		return &pool.Cause{Reason: "Unhealthy", Message: "the Auto Scaling group has found the instance unhealthy and replaces it"}
	}
	return nil
}

// replacesUnhealthy says that nobody has suspended what takes unhealthy instances away.
func replacesUnhealthy(is *asgtypes.AutoScalingGroup) bool {
	return !slices.ContainsFunc(suspendedOf(is), func(name string) bool { return name == "ReplaceUnhealthy" || name == "Terminate" })
}

const (
	// marksFor is how long one question about spot notices serves all pools of a region. A notice comes two minutes ahead.
	marksFor = 15 * time.Second
	// statusMarked is the status of a spot request whose instance has its notice.
	statusMarked = "marked-for-termination"
	// marksMost bounds how many notices are read.
	marksMost = 5000
)

// spotMarks are the spot instances of a region that have their notice, asked for once for all pools.
type spotMarks struct {
	mu  sync.Mutex
	ids map[string]bool
	// until is when they are asked for again.
	until time.Time
}

// atShortNotice says that the group has spot instances, which may be taken at any time.
func (p *pass) atShortNotice(is *asgtypes.AutoScalingGroup) bool {
	for _, i := range is.Instances {
		if state, member := stateOf(i); member && state != pool.Terminating && p.memory.members[deref(i.InstanceId)].spot {
			return true
		}
	}
	return false
}

// readMarks asks which spot instances have their notice, when the group has any. Who may not ask is not told: an interruption
// then shows when the instance has ended, as it does for everybody who looks too late.
func (p *pass) readMarks(ctx context.Context, is *asgtypes.AutoScalingGroup) error {
	p.memory.marked = nil
	if !p.atShortNotice(is) {
		return nil
	}
	shared := &p.c.marks
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if p.now.Before(shared.until) && p.t.MaxAge != cloud.Unshared {
		p.memory.marked = shared.ids
		return nil
	}
	pages := ec2.NewDescribeSpotInstanceRequestsPaginator(p.c.ec2, &ec2.DescribeSpotInstanceRequestsInput{
		Filters: []ec2types.Filter{{Name: value("status-code"), Values: []string{statusMarked}}},
	})
	found, err := listed(ctx, pages, func(page *ec2.DescribeSpotInstanceRequestsOutput) []ec2types.SpotInstanceRequest {
		return page.SpotInstanceRequests
	}, marksMost, p.now)
	switch {
	case cloud.KindOf(err) == cloud.Denied && err != nil:
		shared.ids, shared.until = nil, p.now.Add(slowPeriod)
		return nil
	case err != nil:
		return err
	}
	shared.ids, shared.until = map[string]bool{}, p.now.Add(marksFor)
	for _, r := range found {
		shared.ids[deref(r.InstanceId)] = true
	}
	p.memory.marked = shared.ids
	return nil
}
