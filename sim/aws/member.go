package aws

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
)

// tickMember brings one member to the present and returns when something about it is due.
func (r *realm) tickMember(g *group, m *member) time.Time {
	i := r.instances.Get(m.Instance)
	switch {
	case m.leaving():
		return r.tickLeaving(g, m, i)
	case m.State == memberPending:
		r.arrive(g, m, i)
	}
	next := r.tickWaits(g, m)
	if !m.leaving() {
		next = earliest(next, r.tickHealth(g, m, i))
	}
	return next
}

// tickLeaving ends the membership once the instance has stopped.
func (r *realm) tickLeaving(g *group, m *member, i *instance) time.Time {
	if m.State == memberTerminatingWait {
		if next := r.tickWaits(g, m); m.State == memberTerminatingWait {
			return next
		}
	}
	if i != nil && i.alive() {
		// It was told to stop in an earlier life of the simulator, and the telling got lost.
		r.kill(m)
	}
	if i == nil || i.State == stateTerminated {
		if a := r.activities.Get(m.Activity); a != nil && a.EndTime == nil {
			r.end(a, "Successful", "")
		}
		r.members.Delete(memberKey(g.name(), m.Instance))
		r.wake(g)
	}
	return time.Time{}
}

// wake lets the group look soon without forgetting refused launches.
func (r *realm) wake(g *group) {
	if at := r.now.Add(r.life(lifeEvaluate)); g.Check.IsZero() || at.Before(g.Check) {
		g.Check = at
		r.groups.Touch(g.name())
	}
}

// arrive takes a member whose instance runs on: to its launching hooks, or into service.
func (r *realm) arrive(g *group, m *member, i *instance) {
	if i == nil || i.State != stateRunning {
		return
	}
	m.Waits, m.Since = r.waits(g, m, transitionLaunching), r.now
	r.members.Touch(memberKey(g.name(), m.Instance))
	if len(m.Waits) > 0 {
		m.State = memberPendingWait
		if a := r.activities.Get(m.Activity); a != nil {
			a.StatusCode, a.Progress = "MidLifecycleAction", ptr(int32(60))
			r.activities.Touch(m.Activity)
		}
		return
	}
	r.serve(g, m)
}

// serve puts a member into service.
func (r *realm) serve(g *group, m *member) {
	m.State, m.Since, m.InServiceAt = memberInService, r.now, r.now
	r.members.Touch(memberKey(g.name(), m.Instance))
	if a := r.activities.Get(m.Activity); a != nil && a.EndTime == nil {
		r.end(a, "Successful", "")
	}
	r.wake(g)
}

// tickHealth marks members whose instance has failed, and lets go those that are unhealthy.
func (r *realm) tickHealth(g *group, m *member, i *instance) time.Time {
	// "Temporarily remove instances from your Auto Scaling group": health is not checked in standby, not even that of an
	// instance that has ended there.
	if g.Deleting || m.State == memberStandby {
		return time.Time{}
	}
	failed, why, next := r.failed(g, m, i)
	if failed && m.Health != unhealthy && !g.suspended("HealthCheck") {
		m.Health = unhealthy
		r.members.Touch(memberKey(g.name(), m.Instance))
	}
	if !failed {
		why = "a user health-check"
	}
	if m.Health == unhealthy && !g.suspended("ReplaceUnhealthy") && !g.suspended("Terminate") {
		g.Cause = ""
		r.dismiss(g, m, "", "an instance was taken out of service in response to "+why)
		r.wake(g)
		return next
	}
	r.rebalance(g, m, i)
	return earliest(next, r.tickAge(g, m))
}

// failed is what the health check of EC2 says, and when a failure that is within its grace will count.
func (r *realm) failed(g *group, m *member, i *instance) (bool, string, time.Time) {
	if i == nil || !i.alive() {
		return true, "an EC2 health check indicating it has been terminated or stopped", time.Time{}
	}
	if !i.impaired(r.now) {
		return false, "", i.ImpairedAt
	}
	if m.State != memberInService {
		return false, "", time.Time{}
	}
	if grace := m.InServiceAt.Add(r.life(seconds(g.Spec.HealthCheckGracePeriod))); r.now.Before(grace) {
		return false, "", grace
	}
	return true, "EC2 instance status checks failure", time.Time{}
}

// tickAge replaces members that have lived longer than the group lets them.
func (r *realm) tickAge(g *group, m *member) time.Time {
	limit := val(g.Spec.MaxInstanceLifetime)
	if limit == 0 || m.State != memberInService || m.AtRisk != "" {
		return time.Time{}
	}
	end := m.InServiceAt.Add(r.life(time.Duration(limit) * time.Second))
	if r.now.Before(end) {
		return end
	}
	m.AtRisk = "an instance was taken out of service in response to its age exceeding the maximum instance lifetime"
	r.members.Touch(memberKey(g.name(), m.Instance))
	r.wake(g)
	return time.Time{}
}

// relieve lets go the members at risk whose place others have taken, and returns when the next of those can be counted on.
func (r *realm) relieve(g *group) time.Time {
	ready, want := 0, int(*g.Spec.DesiredCapacity)
	var risky []*member
	var next time.Time
	for _, m := range r.membersOf(g) {
		warm := m.InServiceAt.Add(r.warmup(g))
		switch {
		case m.AtRisk != "" && !m.leaving():
			risky = append(risky, m)
		case m.State == memberInService && r.now.Before(warm):
			next = earliest(next, warm)
		case m.State == memberInService:
			ready += m.weight()
		}
	}
	for len(risky) > 0 && ready+r.weightOf(risky) > want && !g.suspended("Terminate") {
		m := risky[0]
		risky = risky[1:]
		g.Cause = ""
		r.dismiss(g, m, "", m.AtRisk)
	}
	if len(risky) == 0 {
		return time.Time{}
	}
	return next
}

func (r *realm) weightOf(members []*member) int {
	n := 0
	for _, m := range members {
		n += m.weight()
	}
	return n
}

// The transitions that hooks stand in.
const (
	transitionLaunching   = "autoscaling:EC2_INSTANCE_LAUNCHING"
	transitionTerminating = "autoscaling:EC2_INSTANCE_TERMINATING"
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
func (r *realm) waits(g *group, m *member, transition string) map[string]wait {
	out := map[string]wait{}
	for name, h := range g.Hooks {
		if str(h.LifecycleTransition) != transition {
			continue
		}
		beat := seconds(h.HeartbeatTimeout)
		out[name] = wait{
			Token: r.server.seed.UUID("hook", m.Instance, name, transition), Beat: beat, Until: r.now.Add(beat),
			Global: r.now.Add(min(globalWaits*beat, globalLimit)), Default: str(h.DefaultResult),
		}
	}
	return out
}

// tickWaits completes with their default result the waits whose time is up.
func (r *realm) tickWaits(g *group, m *member) time.Time {
	var next time.Time
	for _, name := range slices.Sorted(maps.Keys(m.Waits)) {
		w, ok := m.Waits[name]
		switch {
		case !ok: // another's result has ended them all
		case due(w.Until, r.now):
			r.complete(g, m, name, w.Default)
		default:
			next = earliest(next, w.Until)
		}
	}
	return next
}

// complete ends one wait. An abandoned launch is let go; an abandoned termination goes on at once.
func (r *realm) complete(g *group, m *member, hook, result string) {
	delete(m.Waits, hook)
	r.members.Touch(memberKey(g.name(), m.Instance))
	launching := m.State == memberPendingWait
	if result == "ABANDON" {
		m.Waits = nil
		if launching {
			if a := r.activities.Get(m.Activity); a != nil {
				r.end(a, "Cancelled", "Instance failed to complete user's Lifecycle Action: Lifecycle Action with token was abandoned: "+result)
			}
			g.Cause = ""
			r.dismiss(g, m, "", "an instance was taken out of service in response to a failed lifecycle hook")
			r.wake(g)
			return
		}
	}
	if len(m.Waits) > 0 {
		return
	}
	if launching {
		r.serve(g, m)
	} else if m.State == memberTerminatingWait {
		r.kill(m)
	}
}

// putHook adds or changes a hook.
func (g *group) putHook(in *autoscaling.PutLifecycleHookInput) error {
	name := str(in.LifecycleHookName)
	h := g.Hooks[name]
	overlay(&h, in)
	h.AutoScalingGroupName = ptr(g.name())
	h.HeartbeatTimeout = ptr(cmp.Or(val(h.HeartbeatTimeout), int32(defaultHeartbeat/time.Second)))
	h.DefaultResult = ptr(cmp.Or(str(h.DefaultResult), "ABANDON"))
	switch {
	case name == "" || len(name) > 255:
		return invalid("1 validation error detected: Value '%s' at 'lifecycleHookName' failed to satisfy constraint: Member must have length between 1 and 255", name)
	case !slices.Contains([]string{transitionLaunching, transitionTerminating}, str(h.LifecycleTransition)):
		return invalid("Invalid lifecycle transition: %s", str(h.LifecycleTransition))
	case !slices.Contains([]string{"CONTINUE", "ABANDON"}, *h.DefaultResult):
		return invalid("Invalid default result: %s. Allowed values are CONTINUE and ABANDON.", *h.DefaultResult)
	case *h.HeartbeatTimeout < 30 || *h.HeartbeatTimeout > 7200:
		return invalid("Heartbeat timeout must be between 30 and 7200 seconds: %d", *h.HeartbeatTimeout)
	case str(h.NotificationTargetARN) != "" && str(h.RoleARN) == "":
		return invalid("A notification target and a role that may publish to it must be given together.")
	}
	h.GlobalTimeout = ptr(int32(min(globalWaits*seconds(h.HeartbeatTimeout), globalLimit) / time.Second))
	g.Hooks[name] = h
	if len(g.Hooks) > maxHooks {
		delete(g.Hooks, name)
		return refuse("LimitExceeded", "The limit of %d lifecycle hooks for the group %s is exceeded", maxHooks, g.name())
	}
	return nil
}

func (r *realm) putLifecycleHook(in *autoscaling.PutLifecycleHookInput) (*autoscaling.PutLifecycleHookOutput, error) {
	g, err := r.findGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	r.groups.Touch(g.name())
	return &autoscaling.PutLifecycleHookOutput{}, g.putHook(in)
}

func (r *realm) deleteLifecycleHook(in *autoscaling.DeleteLifecycleHookInput) (*autoscaling.DeleteLifecycleHookOutput, error) {
	g, err := r.findGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	name := str(in.LifecycleHookName)
	if _, ok := g.Hooks[name]; !ok {
		return nil, invalid("No Lifecycle Hook found with name: %s", name)
	}
	delete(g.Hooks, name)
	r.groups.Touch(g.name())
	// Outstanding actions of a deleted hook are completed: a launch is abandoned, a termination goes on.
	for _, m := range r.membersOf(g) {
		if _, ok := m.Waits[name]; ok {
			result := "CONTINUE"
			if m.State == memberPendingWait {
				result = "ABANDON"
			}
			r.complete(g, m, name, result)
		}
	}
	return &autoscaling.DeleteLifecycleHookOutput{}, nil
}

func (r *realm) describeLifecycleHooks(in *autoscaling.DescribeLifecycleHooksInput) (*autoscaling.DescribeLifecycleHooksOutput, error) {
	g, err := r.findGroup(in.AutoScalingGroupName)
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
func (r *realm) waiting(name, hook, instance, token *string) (*group, *member, error) {
	g, err := r.findGroup(name)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range r.membersOf(g) {
		w, ok := m.Waits[str(hook)]
		if ok && (instance != nil && *instance == m.Instance || token != nil && *token == w.Token) {
			return g, m, nil
		}
	}
	return nil, nil, invalid("No active Lifecycle Action found with instance ID %s", str(instance))
}

func (r *realm) completeLifecycleAction(in *autoscaling.CompleteLifecycleActionInput) (*autoscaling.CompleteLifecycleActionOutput, error) {
	result := str(in.LifecycleActionResult)
	if result != "CONTINUE" && result != "ABANDON" {
		return nil, invalid("Invalid lifecycle action result: %s. Allowed values are CONTINUE and ABANDON.", result)
	}
	g, m, err := r.waiting(in.AutoScalingGroupName, in.LifecycleHookName, in.InstanceId, in.LifecycleActionToken)
	if err != nil {
		return nil, err
	}
	r.complete(g, m, str(in.LifecycleHookName), result)
	return &autoscaling.CompleteLifecycleActionOutput{}, nil
}

func (r *realm) recordLifecycleActionHeartbeat(in *autoscaling.RecordLifecycleActionHeartbeatInput) (*autoscaling.RecordLifecycleActionHeartbeatOutput, error) {
	g, m, err := r.waiting(in.AutoScalingGroupName, in.LifecycleHookName, in.InstanceId, in.LifecycleActionToken)
	if err != nil {
		return nil, err
	}
	w := m.Waits[str(in.LifecycleHookName)]
	w.Until = r.now.Add(w.Beat)
	if w.Until.After(w.Global) {
		w.Until = w.Global
	}
	m.Waits[str(in.LifecycleHookName)] = w
	r.members.Touch(memberKey(g.name(), m.Instance))
	return &autoscaling.RecordLifecycleActionHeartbeatOutput{}, nil
}
