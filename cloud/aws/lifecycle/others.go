package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/pool"
)

const (
	// othersPeriod is the time for which another hook than the drain hook may hold an instance before it is reported.
	othersPeriod = 5 * time.Minute
	// maxNamed bounds how many instances a message names.
	maxNamed = 3
)

// HeldByOthers returns an issue for the instances that other hooks than the drain hook hold, because the client that completes these has
// not done so. created returns when an instance was created.
func (h Hooks) HeldByOthers(is *asgtypes.AutoScalingGroup, holds Holds, created func(id string) time.Time, now time.Time) []pool.Cause {
	var issues []pool.Cause
	for _, at := range []struct {
		state asgtypes.LifecycleState
		hooks []string
		since func(id string) (time.Time, bool)
	}{
		{asgtypes.LifecycleStatePendingWait, h.others("autoscaling:EC2_INSTANCE_LAUNCHING"),
			func(id string) (time.Time, bool) { return created(id), true }},
		{asgtypes.LifecycleStateTerminatingWait, h.others("autoscaling:EC2_INSTANCE_TERMINATING"),
			func(id string) (time.Time, bool) { return holds.known[id].since, holds.Of(id) == nil }},
	} {
		var ids []string
		for _, i := range is.Instances {
			id := ptr.Deref(i.InstanceId, "")
			if i.LifecycleState != at.state {
				continue
			}
			if since, others := at.since(id); others && now.Sub(since) > othersPeriod {
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 || len(at.hooks) == 0 {
			continue
		}
		slices.Sort(ids)
		issues = append(issues, pool.Cause{Reason: "LifecycleHookPending", Message: fmt.Sprintf(
			"lifecycle hook %s holds %s in %s: the client that is to complete it has not", strings.Join(at.hooks, " or "), named(ids), at.state)})
	}
	return issues
}

// named lists the first IDs and counts the rest.
func named(ids []string) string {
	if len(ids) <= maxNamed {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:maxNamed], ", "), len(ids)-maxNamed)
}

// others returns the names of the hooks for a transition, the drain hook aside, in order.
func (h Hooks) others(transition string) []string {
	var names []string
	for _, hook := range h.list {
		if name := ptr.Deref(hook.LifecycleHookName, ""); name != drainHook && ptr.Deref(hook.LifecycleTransition, "") == transition {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
