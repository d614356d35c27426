package aws

import (
	"time"

	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
)

// How long a refresh waits in life.
const (
	// lifeRefreshStuck is how long a refresh may go without progress before it fails.
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

// refreshing is the refresh that is under way in a group, nil for none.
func (r *realm) refreshing(g *group) *refresh {
	if g.Refreshing == "" {
		return nil
	}
	return r.refreshes.Get(g.Refreshing)
}

// stale are the members that a refresh has still to replace.
func (r *realm) stale(g *group, rf *refresh) []*member {
	var out []*member
	for _, m := range r.membersOf(g) {
		if !m.leaving() && !r.refreshed(g, rf, m) && !ignored(rf, m) {
			out = append(out, m)
		}
	}
	return out
}

// refreshed reports a member that is as the refresh wants it: launched by it, or, where those may stay, one that matches.
func (r *realm) refreshed(g *group, rf *refresh, m *member) bool {
	if rf.Reverting {
		return r.matching(g, m)
	}
	return m.Refresh == g.Refreshing || val(rf.Preferences.SkipMatching) && r.matching(g, m)
}

// ignored reports a member that the refresh was told to leave alone.
func ignored(rf *refresh, m *member) bool {
	return m.Protected && rf.Preferences.ScaleInProtectedInstances == "Ignore" || m.State == memberStandby && rf.Preferences.StandbyInstances == "Ignore"
}

// matching reports a member that is as the group would launch it now.
func (r *realm) matching(g *group, m *member) bool {
	c := r.configuration(g)
	spec := c.LaunchTemplate
	if c.MixedInstancesPolicy != nil {
		spec = c.MixedInstancesPolicy.LaunchTemplate.LaunchTemplateSpecification
	}
	t, err := r.findTemplate(spec.LaunchTemplateId, nil)
	if err != nil {
		return false
	}
	v, err := r.versionOf(t, str(spec.Version))
	return err == nil && str(m.Template.LaunchTemplateId) == t.ID && str(m.Template.Version) == itoa(v.Number)
}

// warmup is how long a new member is not counted on.
func (r *realm) warmup(g *group) time.Duration {
	if rf := r.refreshing(g); rf != nil {
		return r.life(seconds(rf.Preferences.InstanceWarmup))
	}
	return r.life(seconds(g.Spec.DefaultInstanceWarmup))
}

// tickRefresh takes the group's refresh one step on and returns when it has something to do next. It follows "How an instance
// refresh works in an Auto Scaling group", "Add checkpoints to an instance refresh", "Use an instance refresh with skip matching",
// "Cancel an instance refresh" and "Undo changes with a rollback".
func (r *realm) tickRefresh(g *group) time.Time {
	rf := r.refreshing(g)
	if rf == nil || g.suspended("InstanceRefresh") {
		return time.Time{}
	}
	r.refreshes.Touch(g.Refreshing)
	if rf.Status == refreshPending {
		rf.Status = refreshInProgress
	}
	if rf.Status == refreshCancelling {
		return r.tickCancelling(g, rf)
	}
	if r.now.Before(rf.Until) {
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
	if end := rf.Progressed.Add(r.life(lifeRefreshStuck)); r.now.Before(end) {
		return earliest(next, end)
	}
	return r.failRefresh(g, rf, "The refresh has not been able to replace an instance for an hour.")
}

// replace takes out as many stale members as the bounds of health allow, as "How an instance refresh works" and the API's
// RefreshPreferences have it: with room above a hundred percent another is launched first, and so it is where a maximum was
// given and no instance may go; without a maximum one goes all the same, for else nothing would ever be replaced.
func (r *realm) replace(g *group, rf *refresh, left []*member) time.Time {
	desired := int(*g.Spec.DesiredCapacity)
	floor, surge := rf.bounds(desired)
	ready, moving, next := r.census(g)
	for _, m := range left {
		if m.AtRisk != "" || r.spared(rf, m) {
			continue
		}
		switch {
		case surge > 0 && moving < surge:
			m.AtRisk = "an instance was taken out of service in response to an instance refresh"
			r.members.Touch(memberKey(g.name(), m.Instance))
		case surge > 0:
			return next
		case m.State == memberInService && ready-1 < floor && (moving > 0 || ready < desired):
			return next
		default:
			g.Cause = ""
			r.dismiss(g, m, "", "an instance was taken out of service in response to an instance refresh")
			ready--
		}
		moving++
		rf.Progressed = r.now
		r.wake(g)
	}
	return next
}

// bounds are the least number of members that must serve, and how many there may be above the desired capacity.
func (rf *refresh) bounds(desired int) (floor, surge int) {
	floor = (desired*int(val(rf.Preferences.MinHealthyPercentage)) + 99) / 100
	surge = desired * (int(val(rf.Preferences.MaxHealthyPercentage)) - 100) / 100
	if rf.LaunchFirst && surge == 0 && desired-1 < floor {
		surge = 1
	}
	return floor, surge
}

// spared reports a member that the refresh must wait with.
func (r *realm) spared(rf *refresh, m *member) bool {
	return m.Protected && rf.Preferences.ScaleInProtectedInstances == "Wait" || m.State == memberStandby && rf.Preferences.StandbyInstances == "Wait" ||
		m.State == memberPending || m.State == memberPendingWait
}

// census counts the members that serve and are warm, those that come or go, and says when the next one will be warm.
func (r *realm) census(g *group) (ready, moving int, next time.Time) {
	for _, m := range r.membersOf(g) {
		warm := m.InServiceAt.Add(r.warmup(g))
		switch {
		case m.State == memberStandby:
		case m.State != memberInService || m.AtRisk != "":
			moving++
		case m.Refresh == g.Refreshing && r.now.Before(warm):
			moving++
			next = earliest(next, warm)
		default:
			ready++
		}
	}
	return ready, moving, next
}

// warm counts the members that the refresh has brought in and that can be counted on.
func (r *realm) warm(g *group) int {
	n := 0
	for _, m := range r.membersOf(g) {
		if m.Refresh == g.Refreshing && m.State == memberInService && !r.now.Before(m.InServiceAt.Add(r.warmup(g))) {
			n++
		}
	}
	return n
}

// checkpoint pauses the refresh when it has come to the next of its percentages.
func (r *realm) checkpoint(rf *refresh) time.Time {
	at := rf.Preferences.CheckpointPercentages
	if rf.CheckpointAt >= len(at) || val(rf.PercentageComplete) < at[rf.CheckpointAt] || rf.Reverting {
		return time.Time{}
	}
	rf.CheckpointAt++
	rf.Until = r.now.Add(r.life(seconds(rf.Preferences.CheckpointDelay)))
	rf.Progressed = rf.Until
	return rf.Until
}

// finishRefresh ends a refresh once all that are new are warm and the bake time is over.
func (r *realm) finishRefresh(g *group, rf *refresh) time.Time {
	_, moving, next := r.census(g)
	r.showProgress(g, rf)
	if moving > 0 {
		return next
	}
	if bake := seconds(rf.Preferences.BakeTime); bake > 0 && rf.Status == refreshInProgress {
		rf.Status, rf.Until = refreshBaking, r.now.Add(r.life(bake))
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
func (r *realm) endRefresh(g *group, rf *refresh, status, reason string) {
	r.showProgress(g, rf)
	rf.Status, rf.StatusReason, rf.EndTime = status, opt(reason), stamp(r.now)
	if status == "Successful" {
		rf.PercentageComplete, rf.InstancesToUpdate = ptr(int32(100)), ptr(int32(0))
	}
	r.refreshes.Touch(g.Refreshing)
	for _, m := range r.membersOf(g) {
		if m.AtRisk != "" && status != "Successful" {
			m.AtRisk = ""
			r.members.Touch(memberKey(g.name(), m.Instance))
		}
	}
	g.Refreshing = ""
	r.wake(g)
	r.groups.Touch(g.name())
}

// failRefresh ends a refresh that is stuck, or turns it back where that was asked for.
func (r *realm) failRefresh(g *group, rf *refresh, reason string) time.Time {
	if val(rf.Preferences.AutoRollback) && !rf.Reverting {
		r.revert(g, rf, reason)
		return r.now.Add(r.life(lifeEvaluate))
	}
	status := "Failed"
	if rf.Reverting {
		status = "RollbackFailed"
	}
	r.endRefresh(g, rf, status, reason)
	return time.Time{}
}

// revert turns a refresh back to the configuration from before.
func (r *realm) revert(g *group, rf *refresh, reason string) {
	rf.RollbackDetails = &autoscaling.RollbackDetails{
		RollbackReason: ptr(reason), RollbackStartTime: stamp(r.now), PercentageCompleteOnRollback: rf.PercentageComplete,
		InstancesToUpdateOnRollback: rf.InstancesToUpdate,
	}
	rf.Reverting, rf.Status, rf.Until, rf.Progressed = true, refreshReverting, time.Time{}, r.now
	for _, m := range r.membersOf(g) {
		if m.AtRisk != "" {
			m.AtRisk = ""
			r.members.Touch(memberKey(g.name(), m.Instance))
		}
	}
	rf.Total = len(r.stale(g, rf))
	r.showProgress(g, rf)
}

// tickCancelling ends a refresh that was cancelled once nothing moves any more.
func (r *realm) tickCancelling(g *group, rf *refresh) time.Time {
	_, moving, next := r.census(g)
	if moving > 0 {
		return next
	}
	r.endRefresh(g, rf, "Cancelled", "Cancelled due to user request.")
	return time.Time{}
}

// showProgress writes how far a refresh has come.
func (r *realm) showProgress(g *group, rf *refresh) {
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
	rf.InstancesToUpdate, rf.PercentageComplete = ptr(int32(rf.Total-done)), ptr(int32(whole))
	rf.ProgressDetails = &autoscaling.InstanceRefreshProgressDetails{LivePoolProgress: &autoscaling.InstanceRefreshLivePoolProgress{
		InstancesToUpdate: rf.InstancesToUpdate, PercentageComplete: rf.PercentageComplete,
	}}
	rf.StatusReason = nil
	if left > 0 && rf.Status == refreshInProgress {
		rf.StatusReason = ptr("Waiting for instances to warm up or to be replaced.")
	}
}
