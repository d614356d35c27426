package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
)

const (
	// drainHook is the termination hook that every group of a pool has: whatever terminates an instance (a scale-in by another client,
	// the group's own refresh, rebalancing or health check), the hook holds it until its node has been drained.
	drainHook = "muster-drain"
	// drainHeartbeat is the time for which the hook holds an instance without a heartbeat: longer than a restart, an upgrade or a short outage
	// of Muster takes. The service lets a hook hold for a hundred times as long, and for 48 hours at most.
	drainHeartbeat = 30 * time.Minute
)

// Specifications returns the hooks of a group: those of the specification, and the drain hook. If the drain hook is not completed, the
// termination continues: an instance must not be kept, and paid for, by a Muster that no longer exists.
func Specifications(list []awsv1.AWSLifecycleHook) []asgtypes.LifecycleHookSpecification {
	return append(translated(list), asgtypes.LifecycleHookSpecification{
		LifecycleHookName:   new(drainHook),
		LifecycleTransition: new(string(awsv1.LifecycleTransitionInstanceTerminating)),
		DefaultResult:       new(string(awsv1.LifecycleHookDefaultResultContinue)),
		HeartbeatTimeout:    new(int32(drainHeartbeat.Seconds())),
	})
}

// CheckNames rejects a hook of the specification that has the name of the drain hook. field is the path of the list.
func CheckNames(list []awsv1.AWSLifecycleHook, field string) error {
	for k, h := range list {
		if h.Name == drainHook {
			return cloud.Invalidf(fmt.Sprintf("%s[%d].name", field, k), "the name %s is that of the hook by which nodes are drained: choose another",
				drainHook)
		}
	}
	return nil
}

// translated returns the hooks of the specification as they are sent.
func translated(list []awsv1.AWSLifecycleHook) []asgtypes.LifecycleHookSpecification {
	var out []asgtypes.LifecycleHookSpecification
	for _, h := range list {
		hook := asgtypes.LifecycleHookSpecification{
			LifecycleHookName:     new(h.Name),
			LifecycleTransition:   new(string(h.LifecycleTransition)),
			NotificationTargetARN: h.NotificationTargetARN,
			RoleARN:               h.RoleARN,
			NotificationMetadata:  h.NotificationMetadata,
		}
		if h.HeartbeatTimeout != nil {
			hook.HeartbeatTimeout = new(int32(h.HeartbeatTimeout.Seconds()))
		}
		if h.DefaultResult != nil {
			hook.DefaultResult = new(string(*h.DefaultResult))
		}
		out = append(out, hook)
	}
	return out
}

// created returns the hooks of a group that was created with them.
func created(list []asgtypes.LifecycleHookSpecification) []asgtypes.LifecycleHook {
	var out []asgtypes.LifecycleHook
	for _, h := range list {
		out = append(out, asgtypes.LifecycleHook{
			LifecycleHookName: h.LifecycleHookName, LifecycleTransition: h.LifecycleTransition, NotificationTargetARN: h.NotificationTargetARN,
			RoleARN: h.RoleARN, NotificationMetadata: h.NotificationMetadata, HeartbeatTimeout: h.HeartbeatTimeout, DefaultResult: h.DefaultResult,
		})
	}
	return out
}

// Names returns the names of hooks.
func Names(list []asgtypes.LifecycleHookSpecification) []string {
	var names []string
	for _, h := range list {
		names = append(names, ptr.Deref(h.LifecycleHookName, ""))
	}
	return names
}

// The service's own values for the fields that a hook leaves out.
const (
	defaultHeartbeat = 3600
	defaultResult    = string(awsv1.LifecycleHookDefaultResultAbandon)
)

// hookText is a hook with the service's defaults filled in, for comparison.
type hookText struct {
	name, transition, target, role, metadata, result string
	heartbeat                                        int32
}

// textOf returns the text of a hook as the service shows it.
func textOf(h asgtypes.LifecycleHook) hookText {
	return hookText{
		name: ptr.Deref(h.LifecycleHookName, ""), transition: ptr.Deref(h.LifecycleTransition, ""),
		target: ptr.Deref(h.NotificationTargetARN, ""),
		role:   ptr.Deref(h.RoleARN, ""), metadata: ptr.Deref(h.NotificationMetadata, ""),
		result: ptr.Deref(h.DefaultResult, defaultResult), heartbeat: ptr.Deref(h.HeartbeatTimeout, defaultHeartbeat),
	}
}

// sameHook reports whether an existing hook does what is wanted. A role and metadata that the specification does not name can't be removed
// from a hook, and have no effect without a target. Notifications that other clients added to the drain hook are left alone.
func sameHook(want asgtypes.LifecycleHookSpecification, is asgtypes.LifecycleHook) bool {
	specified, existing := textOf(created([]asgtypes.LifecycleHookSpecification{want})[0]), textOf(is)
	if specified.role == "" {
		existing.role = ""
	}
	if specified.metadata == "" {
		existing.metadata = ""
	}
	if specified.name == drainHook {
		existing.target = ""
	}
	return specified == existing
}

// notificationTarget returns the target to send with a hook: the service keeps the one that a hook has unless it is sent an empty one.
func notificationTarget(want asgtypes.LifecycleHookSpecification, existing []asgtypes.LifecycleHook) *string {
	for _, h := range existing {
		same := ptr.Deref(h.LifecycleHookName, "") == ptr.Deref(want.LifecycleHookName, "")
		if same && want.NotificationTargetARN == nil && ptr.Deref(want.LifecycleHookName, "") != drainHook &&
			ptr.Deref(h.NotificationTargetARN, "") != "" {
			return new(string)
		}
	}
	return want.NotificationTargetARN
}

// Changes are the hooks to put, and the names of those to remove.
type Changes struct {
	Put    []asgtypes.LifecycleHookSpecification
	Remove []string
}

// Needed reports whether there is anything to change.
func (c Changes) Needed() bool { return len(c.Put) > 0 || len(c.Remove) > 0 }

// Changes returns how the hooks differ from what is wanted. marks is the bookkeeping tag that names the hooks which Muster put there:
// hooks of others (of a termination handler, of other tools) are left alone.
func (h Hooks) Changes(want []asgtypes.LifecycleHookSpecification, marks string) (c Changes) {
	for _, specified := range want {
		if !slices.ContainsFunc(h.list, func(existing asgtypes.LifecycleHook) bool { return sameHook(specified, existing) }) {
			c.Put = append(c.Put, specified)
		}
	}
	names := Names(want)
	for _, existing := range h.list {
		name := ptr.Deref(existing.LifecycleHookName, "")
		if session.Marked(marks, name) && !slices.Contains(names, name) {
			c.Remove = append(c.Remove, name)
		}
	}
	return c
}

// putInput returns the request that puts a hook on a group that has these hooks.
func (h Hooks) putInput(group string, want asgtypes.LifecycleHookSpecification) *autoscaling.PutLifecycleHookInput {
	return &autoscaling.PutLifecycleHookInput{
		AutoScalingGroupName: &group, LifecycleHookName: want.LifecycleHookName, LifecycleTransition: want.LifecycleTransition,
		DefaultResult: want.DefaultResult, HeartbeatTimeout: want.HeartbeatTimeout, NotificationMetadata: want.NotificationMetadata,
		NotificationTargetARN: notificationTarget(want, h.list), RoleARN: want.RoleARN,
	}
}

// Written is when this process last put each lifecycle hook, by name.
type Written struct{ session.Recent }

// Apply puts and removes hooks of a group, and notes what it has put.
func (w *Written) Apply(ctx context.Context, c Client, h Hooks, changes Changes) error {
	for _, hook := range changes.Put {
		w.Note(c.Now, ptr.Deref(hook.LifecycleHookName, ""))
		if _, err := c.Session.AutoScaling.PutLifecycleHook(ctx, h.putInput(c.Name, hook)); err != nil {
			return session.Refusal(err, c.Now)
		}
	}
	for _, name := range changes.Remove {
		_, err := c.Session.AutoScaling.DeleteLifecycleHook(ctx, &autoscaling.DeleteLifecycleHookInput{AutoScalingGroupName: &c.Name,
			LifecycleHookName: &name})
		if err = session.Refusal(err, c.Now); err != nil && !session.Absent(err) {
			return err
		}
		delete(w.Recent, name)
	}
	return nil
}
