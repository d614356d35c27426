package aws

import (
	"slices"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/aws/session"
)

// hooks translates the pool's lifecycle hooks.
func hooks(list []awsv1.AWSLifecycleHook) []asgtypes.LifecycleHookSpecification {
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

// created are the hooks of a group that was created with them.
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

func hookNames(list []asgtypes.LifecycleHookSpecification) []string {
	var names []string
	for _, h := range list {
		names = append(names, session.Deref(h.LifecycleHookName))
	}
	return names
}

// The service's own values for what a hook does not say.
const (
	defaultHeartbeat = 3600
	defaultResult    = string(awsv1.LifecycleHookDefaultResultAbandon)
)

// hookText is a hook with the service's defaults filled in, for comparison.
type hookText struct {
	name, transition, target, role, metadata, result string
	heartbeat                                        int32
}

func textOfWanted(h asgtypes.LifecycleHookSpecification) hookText {
	return hookText{
		name: session.Deref(h.LifecycleHookName), transition: session.Deref(h.LifecycleTransition), target: session.Deref(h.NotificationTargetARN),
		role: session.Deref(h.RoleARN), metadata: session.Deref(h.NotificationMetadata),
		result: or(h.DefaultResult, defaultResult), heartbeat: or(h.HeartbeatTimeout, defaultHeartbeat),
	}
}

func textOfExisting(h asgtypes.LifecycleHook) hookText {
	return hookText{
		name: session.Deref(h.LifecycleHookName), transition: session.Deref(h.LifecycleTransition), target: session.Deref(h.NotificationTargetARN),
		role: session.Deref(h.RoleARN), metadata: session.Deref(h.NotificationMetadata),
		result: or(h.DefaultResult, defaultResult), heartbeat: or(h.HeartbeatTimeout, defaultHeartbeat),
	}
}

// or is what p points to, or the given value.
func or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// sameHook reports whether a hook does what is wanted. A role and metadata that the specification does not name can't be removed from
// a hook, and have no effect without a target. What others notify of the hook by which nodes are drained is theirs.
func sameHook(want asgtypes.LifecycleHookSpecification, is asgtypes.LifecycleHook) bool {
	wanted, existing := textOfWanted(want), textOfExisting(is)
	if wanted.role == "" {
		existing.role = ""
	}
	if wanted.metadata == "" {
		existing.metadata = ""
	}
	if wanted.name == drainHook {
		existing.target = ""
	}
	return wanted == existing
}

// notificationTarget is the target to send with a hook: the service keeps the one that a hook has unless it is sent an empty one.
func notificationTarget(want asgtypes.LifecycleHookSpecification, existing []asgtypes.LifecycleHook) *string {
	for _, h := range existing {
		same := session.Deref(h.LifecycleHookName) == session.Deref(want.LifecycleHookName)
		if same && want.NotificationTargetARN == nil && session.Deref(want.LifecycleHookName) != drainHook && session.Deref(h.NotificationTargetARN) != "" {
			return new(string)
		}
	}
	return want.NotificationTargetARN
}

// hookChanges says which hooks are to be put, and which of Muster's own are to be removed. Hooks of others (of a termination
// handler, of other tools) are left alone.
func (g groupSpec) hookChanges(is *asgtypes.AutoScalingGroup, existing []asgtypes.LifecycleHook) (put []asgtypes.LifecycleHookSpecification, remove []string) {
	for _, want := range g.hooks {
		if !slices.ContainsFunc(existing, func(h asgtypes.LifecycleHook) bool { return sameHook(want, h) }) {
			put = append(put, want)
		}
	}
	names := hookNames(g.hooks)
	for _, h := range existing {
		name := session.Deref(h.LifecycleHookName)
		if session.Marked(tagOf(is, tagOurHooks), name) && !slices.Contains(names, name) {
			remove = append(remove, name)
		}
	}
	return put, remove
}

func (g groupSpec) hooksDrift(is *asgtypes.AutoScalingGroup, existing []asgtypes.LifecycleHook) bool {
	put, remove := g.hookChanges(is, existing)
	return len(put) > 0 || len(remove) > 0 || tagOf(is, tagOurHooks) != g.tags[tagOurHooks]
}
