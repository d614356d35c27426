package autoscaling

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	"github.com/muster-project/muster/sim/aws/wire"
	"github.com/muster-project/muster/sim/core"
)

// The transitions that hooks stand in.
const (
	TransitionLaunching   = "autoscaling:EC2_INSTANCE_LAUNCHING"
	TransitionTerminating = "autoscaling:EC2_INSTANCE_TERMINATING"
)

// Hooks' times are those of their clients and pass as in life, whatever the speed of machines.
const (
	defaultHeartbeat = time.Hour
	// globalWaits and globalLimit bound how long heartbeats can prolong a wait (the API's LifecycleHook, GlobalTimeout).
	globalWaits = 100
	globalLimit = 48 * time.Hour
)

// waits are the lifecycle actions that a member must wait for in a transition, those of all its hooks: "Amazon EC2 Auto Scaling
// lifecycle hooks" and "How lifecycle hooks work".
func (r *Hooks) waits(g *Group, m *Member, transition string) map[string]wait {
	out := map[string]wait{}
	for name, h := range g.Hooks {
		if shapes.Str(h.LifecycleTransition) != transition {
			continue
		}
		beat := seconds(h.HeartbeatTimeout)
		out[name] = wait{
			Token: r.Seed.UUID("hook", m.Instance, name, transition), Beat: beat, Until: r.Now.Add(beat),
			Global: r.Now.Add(min(globalWaits*beat, globalLimit)), Default: shapes.Str(h.DefaultResult),
		}
	}
	return out
}

// tickWaits completes with their default result the waits whose time is up.
func (r *Hooks) tickWaits(g *Group, m *Member) time.Time {
	var next time.Time
	for _, name := range slices.Sorted(maps.Keys(m.Waits)) {
		w, ok := m.Waits[name]
		switch {
		case !ok: // another's result has ended them all
		case core.Due(w.Until, r.Now):
			r.Complete(g, m, name, w.Default)
		default:
			next = core.Earliest(next, w.Until)
		}
	}
	return next
}

// Complete ends one wait. An abandoned launch is let go; an abandoned termination goes on at once.
func (r *Hooks) Complete(g *Group, m *Member, hook, result string) {
	delete(m.Waits, hook)
	r.Members.Rows.Touch(MemberKey(g.Name(), m.Instance))
	launching := m.State == MemberPendingWait
	if result == "ABANDON" {
		m.Waits = nil
		if launching {
			if a := r.Activities.Rows.Get(m.Activity); a != nil {
				r.Activities.end(a, "Cancelled", "Instance failed to complete user's Lifecycle Action: Lifecycle Action with token was abandoned: "+
					result)
			}
			g.Cause = ""
			r.Members.dismiss(g, m, "", "an instance was taken out of service in response to a failed lifecycle hook")
			r.Members.WakeUp(g)
			return
		}
	}
	if len(m.Waits) > 0 {
		return
	}
	if launching {
		r.Members.enterService(g, m)
	} else if m.State == MemberTerminatingWait {
		r.Members.terminateInstance(m)
	}
}

// putHook adds or changes a hook.
func (g *Group) putHook(in *autoscaling.PutLifecycleHookInput) error {
	name := shapes.Str(in.LifecycleHookName)
	h := g.Hooks[name]
	shapes.Overlay(&h, in)
	h.AutoScalingGroupName = new(g.Name())
	h.HeartbeatTimeout = new(cmp.Or(shapes.Val(h.HeartbeatTimeout), int32(defaultHeartbeat/time.Second)))
	h.DefaultResult = new(cmp.Or(shapes.Str(h.DefaultResult), "ABANDON"))
	switch {
	case name == "" || len(name) > 255:
		return wire.Invalid("1 validation error detected: Value '%s' at 'lifecycleHookName' failed to satisfy constraint: Member must have "+
			"length between 1 and 255", name)
	case !slices.Contains([]string{TransitionLaunching, TransitionTerminating}, shapes.Str(h.LifecycleTransition)):
		return wire.Invalid("Invalid lifecycle transition: %s", shapes.Str(h.LifecycleTransition))
	case !slices.Contains([]string{"CONTINUE", "ABANDON"}, *h.DefaultResult):
		return wire.Invalid("Invalid default result: %s. Allowed values are CONTINUE and ABANDON.", *h.DefaultResult)
	case *h.HeartbeatTimeout < 30 || *h.HeartbeatTimeout > 7200:
		return wire.Invalid("Heartbeat timeout must be between 30 and 7200 seconds: %d", *h.HeartbeatTimeout)
	case shapes.Str(h.NotificationTargetARN) != "" && shapes.Str(h.RoleARN) == "":
		return wire.Invalid("A notification target and a role that may publish to it must be given together.")
	}
	h.GlobalTimeout = new(int32(min(globalWaits*seconds(h.HeartbeatTimeout), globalLimit) / time.Second))
	g.Hooks[name] = h
	if len(g.Hooks) > maxHooks {
		delete(g.Hooks, name)
		return wire.Refuse("LimitExceeded", "The limit of %d lifecycle hooks for the group %s is exceeded", maxHooks, g.Name())
	}
	return nil
}

func (r *Hooks) putLifecycleHook(in *autoscaling.PutLifecycleHookInput) (*autoscaling.PutLifecycleHookOutput, error) {
	g, err := r.Groups.FindGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	r.Groups.Rows.Touch(g.Name())
	return &autoscaling.PutLifecycleHookOutput{}, g.putHook(in)
}

// DeleteLifecycleHook is the action of that name.
func (r *Hooks) DeleteLifecycleHook(in *autoscaling.DeleteLifecycleHookInput) (*autoscaling.DeleteLifecycleHookOutput, error) {
	g, err := r.Groups.FindGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	name := shapes.Str(in.LifecycleHookName)
	if _, ok := g.Hooks[name]; !ok {
		return nil, wire.Invalid("No Lifecycle Hook found with name: %s", name)
	}
	delete(g.Hooks, name)
	r.Groups.Rows.Touch(g.Name())
	// Outstanding actions of a deleted hook are completed: a launch is abandoned, a termination goes on.
	for _, m := range r.Members.MembersOf(g) {
		if _, ok := m.Waits[name]; ok {
			result := "CONTINUE"
			if m.State == MemberPendingWait {
				result = "ABANDON"
			}
			r.Complete(g, m, name, result)
		}
	}
	return &autoscaling.DeleteLifecycleHookOutput{}, nil
}

func (r *Hooks) describeLifecycleHooks(in *autoscaling.DescribeLifecycleHooksInput) (*autoscaling.DescribeLifecycleHooksOutput, error) {
	g, err := r.Groups.FindGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	out := &autoscaling.DescribeLifecycleHooksOutput{}
	for _, name := range slices.Sorted(maps.Keys(g.Hooks)) {
		if len(in.LifecycleHookNames) == 0 || slices.Contains(in.LifecycleHookNames, name) {
			out.LifecycleHooks = append(out.LifecycleHooks, g.Hooks[name])
		}
	}
	return out, nil
}

// waiting finds the wait that a call is about, by instance or by token.
func (r *Hooks) waiting(name, hook, instance, token *string) (*Group, *Member, error) {
	g, err := r.Groups.FindGroup(name)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range r.Members.MembersOf(g) {
		w, ok := m.Waits[shapes.Str(hook)]
		if ok && (instance != nil && *instance == m.Instance || token != nil && *token == w.Token) {
			return g, m, nil
		}
	}
	return nil, nil, wire.Invalid("No active Lifecycle Action found with instance ID %s", shapes.Str(instance))
}

func (r *Hooks) completeLifecycleAction(in *autoscaling.CompleteLifecycleActionInput) (*autoscaling.CompleteLifecycleActionOutput, error) {
	result := shapes.Str(in.LifecycleActionResult)
	if result != "CONTINUE" && result != "ABANDON" {
		return nil, wire.Invalid("Invalid lifecycle action result: %s. Allowed values are CONTINUE and ABANDON.", result)
	}
	g, m, err := r.waiting(in.AutoScalingGroupName, in.LifecycleHookName, in.InstanceId, in.LifecycleActionToken)
	if err != nil {
		return nil, err
	}
	r.Complete(g, m, shapes.Str(in.LifecycleHookName), result)
	return &autoscaling.CompleteLifecycleActionOutput{}, nil
}

func (r *Hooks) recordLifecycleActionHeartbeat(
	in *autoscaling.RecordLifecycleActionHeartbeatInput) (*autoscaling.RecordLifecycleActionHeartbeatOutput, error) {
	g, m, err := r.waiting(in.AutoScalingGroupName, in.LifecycleHookName, in.InstanceId, in.LifecycleActionToken)
	if err != nil {
		return nil, err
	}
	w := m.Waits[shapes.Str(in.LifecycleHookName)]
	w.Until = r.Now.Add(w.Beat)
	if w.Until.After(w.Global) {
		w.Until = w.Global
	}
	m.Waits[shapes.Str(in.LifecycleHookName)] = w
	r.Members.Rows.Touch(MemberKey(g.Name(), m.Instance))
	return &autoscaling.RecordLifecycleActionHeartbeatOutput{}, nil
}
