package lifecycle

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
)

// Client sends requests about one Auto Scaling group.
type Client = asg.Client

// Hooks are the lifecycle hooks of a group as they were read. The zero Hooks are unknown.
type Hooks struct {
	list []asgtypes.LifecycleHook
	at   time.Time
	// of is the group as it was then; nil until it is read if made is true: then Muster has just created it with these hooks.
	of   *asgtypes.AutoScalingGroup
	made bool
	// Refused is why they could not be listed. The list is empty then, which does not mean that there are none.
	Refused driverkit.Refusal
}

// Created returns the hooks of a group that was created with them at a moment.
func Created(list []asgtypes.LifecycleHookSpecification, at time.Time) Hooks {
	return Hooks{list: created(list), at: at, made: true}
}

// Existing returns hooks that are known.
func Existing(list []asgtypes.LifecycleHook) Hooks { return Hooks{list: list} }

// Read reads the hooks if the group's configuration has changed, and once in a while, because a hook can be removed without a trace in the
// group. A group that is being deleted has none.
func (h *Hooks) Read(ctx context.Context, c Client, is *asgtypes.AutoScalingGroup) error {
	if h.made {
		h.of, h.made = is, false
	}
	if h.current(is, c.Now) || asg.Deleting(is) {
		return nil
	}
	found, err := c.Session.AutoScaling.DescribeLifecycleHooks(ctx, &autoscaling.DescribeLifecycleHooksInput{AutoScalingGroupName: &c.Name})
	if err = session.Refusal(err, c.Now); session.Absent(err) || asg.BeingDeleted(err) {
		// The group as it was read is older than its deletion.
		return nil
	}
	if failed := h.Refused.Keep(c.Now, err); failed != nil {
		return failed
	}
	if h.list, h.at, h.of = nil, c.Now, nil; err == nil {
		h.list, h.of = found.LifecycleHooks, is
	}
	return nil
}

// current reports whether the hooks need not be read again.
func (h Hooks) current(is *asgtypes.AutoScalingGroup, now time.Time) bool {
	age := now.Sub(h.at)
	switch {
	case h.at.IsZero():
		return false
	case h.Refused.Err != nil:
		return h.Refused.Rests(now, session.RefusedPeriod)
	default:
		return age < session.DetailPeriod && sameConfiguration(h.of, is)
	}
}

// sameConfiguration reports whether a group is configured as it was: its instances, its size and what it launches come and go.
func sameConfiguration(was, is *asgtypes.AutoScalingGroup) bool {
	return was == is || was != nil && is != nil && reflect.DeepEqual(configuration(*was), configuration(*is))
}

// configuration returns a group without what comes and goes.
func configuration(g asgtypes.AutoScalingGroup) asgtypes.AutoScalingGroup {
	g.Instances, g.LaunchTemplate, g.MixedInstancesPolicy, g.Status = nil, nil, nil, nil
	g.DesiredCapacity, g.PredictedCapacity, g.WarmPoolSize = nil, nil, nil
	g.Tags = slices.SortedFunc(slices.Values(g.Tags), func(a, b asgtypes.TagDescription) int {
		return strings.Compare(ptr.Deref(a.Key, ""), ptr.Deref(b.Key, ""))
	})
	return g
}

// mayHold reports whether the drain hook may hold an instance. Where the hooks may not be listed, the group's bookkeeping tag tells whether
// it has the drain hook: to take a held instance for one that terminates by itself would leave its node undrained until the heartbeat ends.
func (h Hooks) mayHold(i asgtypes.Instance, marks string) bool {
	if i.LifecycleState != asgtypes.LifecycleStateTerminatingWait {
		return false
	}
	if h.Refused.Err != nil {
		return session.Marked(marks, drainHook)
	}
	return slices.ContainsFunc(h.list, func(existing asgtypes.LifecycleHook) bool {
		return ptr.Deref(existing.LifecycleHookName, "") == drainHook
	})
}
