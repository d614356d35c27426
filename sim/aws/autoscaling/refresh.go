package autoscaling

import (
	"time"

	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	"github.com/muster-project/muster/sim/core"
)

// How long a refresh waits in life.
const (
	// lifeRefreshStuck is the time without progress after which a refresh fails.
	lifeRefreshStuck = time.Hour
	// lifeCheckpoint is the pause at a checkpoint unless told otherwise.
	lifeCheckpoint = time.Hour
)

// Statuses of an instance refresh that has not ended.
const (
	refreshPending    = "Pending"
	refreshInProgress = "InProgress"
	refreshCancelling = "Cancelling"
	refreshReverting  = "RollbackInProgress"
	refreshBaking     = "Baking"
)

// Refreshing is the refresh that is under way in a group, nil for none.
func (r *Refreshes) Refreshing(g *Group) *Refresh {
	if g.Refreshing == "" {
		return nil
	}
	return r.Rows.Get(g.Refreshing)
}

// stale are the members that a refresh has still to replace.
func (r *Refreshes) stale(g *Group, rf *Refresh) []*Member {
	var out []*Member
	for _, m := range r.Members.MembersOf(g) {
		if !m.Leaving() && !r.refreshed(g, rf, m) && !ignored(rf, m) {
			out = append(out, m)
		}
	}
	return out
}

// refreshed reports a member that is as the refresh wants it: launched by it, or, where those may stay, one that matches.
func (r *Refreshes) refreshed(g *Group, rf *Refresh, m *Member) bool {
	if rf.Reverting {
		return r.matching(g, m)
	}
	return m.Refresh == g.Refreshing || shapes.Val(rf.Preferences.SkipMatching) && r.matching(g, m)
}

// ignored reports a member that the refresh was told to leave alone.
func ignored(rf *Refresh, m *Member) bool {
	return m.Protected && rf.Preferences.ScaleInProtectedInstances == "Ignore" || m.State == memberStandby &&
		rf.Preferences.StandbyInstances == "Ignore"
}

// matching reports a member that is as the group would launch it now.
func (r *Refreshes) matching(g *Group, m *Member) bool {
	c := r.Scaling.configuration(g)
	spec := c.LaunchTemplate
	if c.MixedInstancesPolicy != nil {
		spec = c.MixedInstancesPolicy.LaunchTemplate.LaunchTemplateSpecification
	}
	t, err := r.EC2.Templates.FindTemplate(spec.LaunchTemplateId, nil)
	if err != nil {
		return false
	}
	v, err := r.EC2.Templates.VersionOf(t, shapes.Str(spec.Version))
	return err == nil && shapes.Str(m.Template.LaunchTemplateId) == t.ID && shapes.Str(m.Template.Version) == shapes.Itoa(v.Number)
}

// warmup returns the time for which a new member does not count as healthy.
func (r *Refreshes) warmup(g *Group) time.Duration {
	if rf := r.Refreshing(g); rf != nil {
		return r.Life(seconds(rf.Preferences.InstanceWarmup))
	}
	return r.Life(seconds(g.Spec.DefaultInstanceWarmup))
}

// tickRefresh takes the group's refresh one step on and returns when it has something to do next. It follows "How an instance
// Refresh works in an Auto Scaling group", "Add checkpoints to an instance refresh", "Use an instance refresh with skip matching",
// "Cancel an instance refresh" and "Undo changes with a rollback".
func (r *Refreshes) tickRefresh(g *Group) time.Time {
	rf := r.Refreshing(g)
	if rf == nil || g.suspended("InstanceRefresh") {
		return time.Time{}
	}
	r.Rows.Touch(g.Refreshing)
	if rf.Status == refreshPending {
		rf.Status = refreshInProgress
	}
	if rf.Status == refreshCancelling {
		return r.tickCancelling(g, rf)
	}
	if r.Now.Before(rf.Until) {
		return rf.Until
	}
	left := r.stale(g, rf)
	if len(left) == 0 {
		return r.finishRefresh(g, rf)
	}
	r.showProgress(g, rf)
	if next := r.checkpoint(rf); !next.IsZero() {
		return next
	}
	next := r.replace(g, rf, left)
	r.showProgress(g, rf)
	if end := rf.Progressed.Add(r.Life(lifeRefreshStuck)); r.Now.Before(end) {
		return core.Earliest(next, end)
	}
	return r.FailRefresh(g, rf, "The refresh has not been able to replace an instance for an hour.")
}

// replace takes out as many stale members as the bounds of health allow, as "How an instance refresh works" and the API's
// RefreshPreferences have it: with room above a hundred percent another is launched first, and so it is where a maximum was
// Given and no instance may go; without a maximum one goes all the same, for else nothing would ever be replaced.
func (r *Refreshes) replace(g *Group, rf *Refresh, left []*Member) time.Time {
	desired := int(*g.Spec.DesiredCapacity)
	floor, surge := rf.bounds(desired)
	ready, moving, next := r.census(g)
	for _, m := range left {
		if m.AtRisk != "" || r.held(rf, m) {
			continue
		}
		switch {
		case surge > 0 && moving < surge:
			m.AtRisk = "an instance was taken out of service in response to an instance refresh"
			r.Members.Rows.Touch(MemberKey(g.Name(), m.Instance))
		case surge > 0:
			return next
		case m.State == MemberInService && ready-1 < floor && (moving > 0 || ready < desired):
			return next
		default:
			g.Cause = ""
			r.Members.dismiss(g, m, "", "an instance was taken out of service in response to an instance refresh")
			ready--
		}
		moving++
		rf.Progressed = r.Now
		r.Members.WakeUp(g)
	}
	return next
}

// bounds are the least number of members that must serve, and how many there may be above the desired capacity.
func (rf *Refresh) bounds(desired int) (floor, surge int) {
	floor = (desired*int(shapes.Val(rf.Preferences.MinHealthyPercentage)) + 99) / 100
	surge = desired * (int(shapes.Val(rf.Preferences.MaxHealthyPercentage)) - 100) / 100
	if rf.LaunchFirst && surge == 0 && desired-1 < floor {
		surge = 1
	}
	return floor, surge
}

// held reports a member that the refresh must wait with.
func (r *Refreshes) held(rf *Refresh, m *Member) bool {
	return m.Protected && rf.Preferences.ScaleInProtectedInstances == "Wait" || m.State == memberStandby &&
		rf.Preferences.StandbyInstances == "Wait" ||
		m.State == memberPending || m.State == MemberPendingWait
}

// census counts the members that serve and are warm, those that come or go, and says when the next one will be warm.
func (r *Refreshes) census(g *Group) (ready, moving int, next time.Time) {
	for _, m := range r.Members.MembersOf(g) {
		warm := m.InServiceAt.Add(r.warmup(g))
		switch {
		case m.State == memberStandby:
		case m.State != MemberInService || m.AtRisk != "":
			moving++
		case m.Refresh == g.Refreshing && r.Now.Before(warm):
			moving++
			next = core.Earliest(next, warm)
		default:
			ready++
		}
	}
	return ready, moving, next
}

// warm counts the members that the refresh has brought in and that can be counted on.
func (r *Refreshes) warm(g *Group) int {
	n := 0
	for _, m := range r.Members.MembersOf(g) {
		if isWarm(r, g, m) {
			n++
		}
	}
	return n
}

// isWarm reports whether a member has been launched by the refresh that runs, and is warm.
func isWarm(r *Refreshes, g *Group, m *Member) bool {
	return m.Refresh == g.Refreshing && m.State == MemberInService && !r.Now.Before(m.InServiceAt.Add(r.warmup(g)))
}

// checkpoint pauses the refresh when it has come to the next of its percentages.
func (r *Refreshes) checkpoint(rf *Refresh) time.Time {
	at := rf.Preferences.CheckpointPercentages
	if rf.CheckpointAt >= len(at) || shapes.Val(rf.PercentageComplete) < at[rf.CheckpointAt] || rf.Reverting {
		return time.Time{}
	}
	rf.CheckpointAt++
	rf.Until = r.Now.Add(r.Life(seconds(rf.Preferences.CheckpointDelay)))
	rf.Progressed = rf.Until
	return rf.Until
}

// finishRefresh ends a refresh once all that are new are warm and the bake time is over.
func (r *Refreshes) finishRefresh(g *Group, rf *Refresh) time.Time {
	_, moving, next := r.census(g)
	r.showProgress(g, rf)
	if moving > 0 {
		return next
	}
	if bake := seconds(rf.Preferences.BakeTime); bake > 0 && rf.Status == refreshInProgress {
		rf.Status, rf.Until = refreshBaking, r.Now.Add(r.Life(bake))
		return rf.Until
	}
	status := "Successful"
	if rf.Reverting {
		status = "RollbackSuccessful"
	} else if d := rf.DesiredConfiguration; d != nil {
		g.Spec.LaunchTemplate, g.Spec.MixedInstancesPolicy = d.LaunchTemplate, d.MixedInstancesPolicy
	}
	r.endRefresh(g, rf, status, "")
	return time.Time{}
}

// endRefresh closes a refresh.
func (r *Refreshes) endRefresh(g *Group, rf *Refresh, status, reason string) {
	r.showProgress(g, rf)
	rf.Status, rf.StatusReason, rf.EndTime = status, shapes.Opt(reason), shapes.Stamp(r.Now)
	if status == "Successful" {
		rf.PercentageComplete, rf.InstancesToUpdate = new(int32(100)), new(int32(0))
	}
	r.Rows.Touch(g.Refreshing)
	for _, m := range r.Members.MembersOf(g) {
		if m.AtRisk != "" && status != "Successful" {
			m.AtRisk = ""
			r.Members.Rows.Touch(MemberKey(g.Name(), m.Instance))
		}
	}
	g.Refreshing = ""
	r.Members.WakeUp(g)
	r.Groups.Rows.Touch(g.Name())
}

// FailRefresh ends a refresh that is stuck, or turns it back where that was asked for.
func (r *Refreshes) FailRefresh(g *Group, rf *Refresh, reason string) time.Time {
	if shapes.Val(rf.Preferences.AutoRollback) && !rf.Reverting {
		r.revert(g, rf, reason)
		return r.Now.Add(r.Life(lifeEvaluate))
	}
	status := "Failed"
	if rf.Reverting {
		status = "RollbackFailed"
	}
	r.endRefresh(g, rf, status, reason)
	return time.Time{}
}

// revert turns a refresh back to the configuration from before.
func (r *Refreshes) revert(g *Group, rf *Refresh, reason string) {
	rf.RollbackDetails = &autoscaling.RollbackDetails{
		RollbackReason: new(reason), RollbackStartTime: shapes.Stamp(r.Now), PercentageCompleteOnRollback: rf.PercentageComplete,
		InstancesToUpdateOnRollback: rf.InstancesToUpdate,
	}
	rf.Reverting, rf.Status, rf.Until, rf.Progressed = true, refreshReverting, time.Time{}, r.Now
	for _, m := range r.Members.MembersOf(g) {
		if m.AtRisk != "" {
			m.AtRisk = ""
			r.Members.Rows.Touch(MemberKey(g.Name(), m.Instance))
		}
	}
	rf.Total = len(r.stale(g, rf))
	r.showProgress(g, rf)
}

// tickCancelling ends a refresh that was cancelled once nothing moves any more.
func (r *Refreshes) tickCancelling(g *Group, rf *Refresh) time.Time {
	_, moving, next := r.census(g)
	if moving > 0 {
		return next
	}
	r.endRefresh(g, rf, "Cancelled", "Cancelled due to user request.")
	return time.Time{}
}

// showProgress writes how far a refresh has come.
func (r *Refreshes) showProgress(g *Group, rf *Refresh) {
	left := len(r.stale(g, rf))
	rf.Total = max(rf.Total, left)
	done := rf.Total - left
	if !rf.Reverting {
		// What was taken out counts only once what took its place is warm.
		done = min(done, r.warm(g))
	}
	whole := 100
	if rf.Total > 0 {
		whole = 100 * done / rf.Total
	}
	rf.InstancesToUpdate, rf.PercentageComplete = new(int32(rf.Total-done)), new(int32(whole))
	rf.ProgressDetails = &autoscaling.InstanceRefreshProgressDetails{LivePoolProgress: &autoscaling.InstanceRefreshLivePoolProgress{
		InstancesToUpdate: rf.InstancesToUpdate, PercentageComplete: rf.PercentageComplete,
	}}
	rf.StatusReason = nil
	if done < rf.Total && rf.Status == refreshInProgress {
		rf.StatusReason = new(waitsFor(r, g))
	}
}

// waitsFor returns the reason that a waiting refresh shows.
func waitsFor(r *Refreshes, g *Group) string {
	for _, m := range r.Members.MembersOf(g) {
		if m.Refresh == g.Refreshing && !m.Leaving() && !isWarm(r, g, m) {
			return "Waiting for instances to warm up before continuing. For example: " + m.Instance + " is warming up."
		}
	}
	return "Waiting for instances to be replaced."
}
