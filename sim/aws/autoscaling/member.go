package autoscaling

import (
	"strconv"
	"time"

	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/core"
)

// Serving reports a member that counts towards the desired capacity.
func (m *Member) Serving() bool {
	return m.State == memberPending || m.State == MemberPendingWait || m.State == MemberInService
}

// Leaving reports whether the member is about to be terminated.
func (m *Member) Leaving() bool {
	return m.State == memberTerminating || m.State == MemberTerminatingWait
}

// weight returns the member's share of the desired capacity.
func (m *Member) weight() int {
	if n, err := strconv.Atoi(m.Weighted); err == nil && n > 0 {
		return n
	}
	return 1
}

// dismiss begins the end of a member: first its hooks, then the instance itself. request and why are sentences for the activity.
func (r *Members) dismiss(g *Group, m *Member, request, why string) *Activity {
	if m.Leaving() {
		return r.Activities.Rows.Get(m.Activity)
	}
	cause := g.Cause
	if request != "" {
		cause = "At " + moment(r.Now) + " " + request + "."
		if why == "" {
			why = "instance " + m.Instance + " was taken out of service in response to a user request"
		}
	}
	if cause != "" {
		cause += "  "
	}
	cause += "At " + moment(r.Now) + " " + why + "."
	r.cancelLaunch(m)
	a := r.Activities.begin(g, "Terminating EC2 instance: "+m.Instance, cause)
	m.Activity, m.Since, m.AtRisk = activityKey(g.Name(), a.Number), r.Now, ""
	m.State, m.Waits = memberTerminating, r.Hooks.waits(g, m, TransitionTerminating)
	r.Rows.Touch(MemberKey(g.Name(), m.Instance))
	if len(m.Waits) > 0 {
		m.State = MemberTerminatingWait
		a.StatusCode, a.Progress = "MidTerminatingLifecycleAction", new(int32(60))
		return a
	}
	r.terminateInstance(m)
	return a
}

// cancelLaunch ends the activity of a launch that never came to service.
func (r *Members) cancelLaunch(m *Member) {
	if a := r.Activities.Rows.Get(m.Activity); a != nil && a.EndTime == nil {
		r.Activities.end(a, "Cancelled", "Instance was taken out before it came into service.")
	}
}

// terminateInstance terminates the instance of a member whose hooks are done.
func (r *Members) terminateInstance(m *Member) {
	m.State = memberTerminating
	r.Rows.Touch(MemberKey(m.Group, m.Instance))
	if i := r.EC2.Instances.Rows.Get(m.Instance); i != nil {
		r.EC2.Instances.Stop(i, ec2.ByUserCode, ec2.ByUser)
	}
}

// tickMember brings one member to the present and returns when something about it is due.
func (r *Members) tickMember(g *Group, m *Member) time.Time {
	i := r.EC2.Instances.Rows.Get(m.Instance)
	switch {
	case m.Leaving():
		return r.tickLeaving(g, m, i)
	case m.State == memberPending:
		r.arriveRunning(g, m, i)
	}
	next := r.Hooks.tickWaits(g, m)
	if !m.Leaving() {
		next = core.Earliest(next, r.tickHealth(g, m, i))
	}
	return next
}

// tickLeaving ends the membership once the instance has stopped.
func (r *Members) tickLeaving(g *Group, m *Member, i *ec2.Instance) time.Time {
	if m.State == MemberTerminatingWait {
		if next := r.Hooks.tickWaits(g, m); m.State == MemberTerminatingWait {
			return next
		}
	}
	if i != nil && i.Alive() {
		// It was told to stop in an earlier life of the simulator, and the telling got lost.
		r.terminateInstance(m)
	}
	if i == nil || i.State == ec2.StateTerminated {
		if a := r.Activities.Rows.Get(m.Activity); a != nil && a.EndTime == nil {
			r.Activities.end(a, "Successful", "")
		}
		r.Rows.Delete(MemberKey(g.Name(), m.Instance))
		r.WakeUp(g)
	}
	return time.Time{}
}

// WakeUp lets the group look soon without forgetting refused launches.
func (r *Members) WakeUp(g *Group) {
	if at := r.Now.Add(r.Life(lifeEvaluate)); g.Check.IsZero() || at.Before(g.Check) {
		g.Check = at
		r.Groups.Rows.Touch(g.Name())
	}
}

// arriveRunning takes a member whose instance runs on: to its launching hooks, or into service.
func (r *Members) arriveRunning(g *Group, m *Member, i *ec2.Instance) {
	if i == nil || i.State != ec2.StateRunning {
		return
	}
	m.Waits, m.Since = r.Hooks.waits(g, m, TransitionLaunching), r.Now
	r.Rows.Touch(MemberKey(g.Name(), m.Instance))
	if len(m.Waits) > 0 {
		m.State = MemberPendingWait
		if a := r.Activities.Rows.Get(m.Activity); a != nil {
			a.StatusCode, a.Progress = "MidLifecycleAction", new(int32(60))
			r.Activities.Rows.Touch(m.Activity)
		}
		return
	}
	r.enterService(g, m)
}

// enterService puts a member into service.
func (r *Members) enterService(g *Group, m *Member) {
	m.State, m.Since, m.InServiceAt = MemberInService, r.Now, r.Now
	r.Rows.Touch(MemberKey(g.Name(), m.Instance))
	if a := r.Activities.Rows.Get(m.Activity); a != nil && a.EndTime == nil {
		r.Activities.end(a, "Successful", "")
	}
	r.WakeUp(g)
}

// tickHealth marks members whose instance has failed, and lets go those that are unhealthy.
func (r *Members) tickHealth(g *Group, m *Member, i *ec2.Instance) time.Time {
	// "Temporarily remove instances from your Auto Scaling group": health is not checked in standby, not even that of an
	// Instance that has ended there.
	if g.Deleting || m.State == memberStandby {
		return time.Time{}
	}
	failed, why, next := r.failed(g, m, i)
	if failed && m.Health != Unhealthy && !g.suspended("HealthCheck") {
		m.Health = Unhealthy
		r.Rows.Touch(MemberKey(g.Name(), m.Instance))
	}
	if !failed {
		why = "a user health-check"
	}
	if m.Health == Unhealthy && !g.suspended("ReplaceUnhealthy") && !g.suspended("Terminate") {
		g.Cause = ""
		r.dismiss(g, m, "", "an instance was taken out of service in response to "+why)
		r.WakeUp(g)
		return next
	}
	r.rebalanceCapacity(g, m, i)
	return core.Earliest(next, r.tickAge(g, m))
}

// failed is what the health check of EC2 says, and when a failure that is within its grace will count.
func (r *Members) failed(g *Group, m *Member, i *ec2.Instance) (bool, string, time.Time) {
	if i == nil || !i.Alive() {
		return true, "an EC2 health check indicating it has been terminated or stopped", time.Time{}
	}
	if !i.Impaired(r.Now) {
		return false, "", i.ImpairedAt
	}
	if m.State != MemberInService {
		return false, "", time.Time{}
	}
	if grace := m.InServiceAt.Add(r.Life(seconds(g.Spec.HealthCheckGracePeriod))); r.Now.Before(grace) {
		return false, "", grace
	}
	return true, "EC2 instance status checks failure", time.Time{}
}

// tickAge replaces members that have lived longer than the group lets them.
func (r *Members) tickAge(g *Group, m *Member) time.Time {
	limit := shapes.Val(g.Spec.MaxInstanceLifetime)
	if limit == 0 || m.State != MemberInService || m.AtRisk != "" {
		return time.Time{}
	}
	end := m.InServiceAt.Add(r.Life(time.Duration(limit) * time.Second))
	if r.Now.Before(end) {
		return end
	}
	m.AtRisk = "an instance was taken out of service in response to its age exceeding the maximum instance lifetime"
	r.Rows.Touch(MemberKey(g.Name(), m.Instance))
	r.WakeUp(g)
	return time.Time{}
}

// replaceAtRisk lets go the members at risk whose place others have taken, and returns when the next of those can be counted on.
func (r *Scaling) replaceAtRisk(g *Group) time.Time {
	ready, want := 0, int(*g.Spec.DesiredCapacity)
	var risky []*Member
	var next time.Time
	for _, m := range r.Members.MembersOf(g) {
		warm := m.InServiceAt.Add(r.Refreshes.warmup(g))
		switch {
		case m.AtRisk != "" && !m.Leaving():
			risky = append(risky, m)
		case m.State == MemberInService && r.Now.Before(warm):
			next = core.Earliest(next, warm)
		case m.State == MemberInService:
			ready += m.weight()
		}
	}
	for len(risky) > 0 && ready+weightOf(risky) > want && !g.suspended("Terminate") {
		m := risky[0]
		risky = risky[1:]
		g.Cause = ""
		r.Members.dismiss(g, m, "", m.AtRisk)
	}
	if len(risky) == 0 {
		return time.Time{}
	}
	return next
}

func weightOf(members []*Member) int {
	n := 0
	for _, m := range members {
		n += m.weight()
	}
	return n
}

// rebalanceCapacity lets a group that is asked to care about spot interruptions care, as "Use Capacity Rebalancing to handle Amazon EC2
// Spot interruptions" has it: an instance whose replacement is recommended goes once another serves, one that has its final notice goes
// through its hooks at once. Neither keeps EC2 from taking it when its two minutes are over, whatever waits for a hook. A group that is not
// asked to learns of an interruption from its health check, when the instance has ended.
func (r *Members) rebalanceCapacity(g *Group, m *Member, i *ec2.Instance) {
	if i == nil || !shapes.Val(g.Spec.CapacityRebalance) || m.State != MemberInService {
		return
	}
	switch {
	case core.Due(i.ReclaimAt, r.Now) && !g.suspended("Terminate"):
		g.Cause = ""
		r.dismiss(g, m, "", "an instance was taken out of service in response to an EC2 spot instance interruption notice")
		r.WakeUp(g)
	case core.Due(i.RecommendedAt, r.Now) && m.AtRisk == "":
		m.AtRisk = "an instance was taken out of service in response to an EC2 instance rebalance recommendation"
		r.Rows.Touch(MemberKey(g.Name(), m.Instance))
		r.WakeUp(g)
	}
}
