package aws

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
)

func (r *realm) startInstanceRefresh(in *autoscaling.StartInstanceRefreshInput) (*autoscaling.StartInstanceRefreshOutput, error) {
	g, err := r.findGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	if r.refreshing(g) != nil {
		return nil, refuse("InstanceRefreshInProgress", "An Instance Refresh is already in progress and blocks the execution of this Instance Refresh.")
	}
	if in.Strategy != "" && in.Strategy != "Rolling" {
		return nil, invalid("The strategy %s is not supported. Supported strategies: [Rolling].", in.Strategy)
	}
	preferences := r.preferences(g, in.Preferences)
	if err := checkPreferences(preferences, in.DesiredConfiguration); err != nil {
		return nil, err
	}
	if err := r.checkDesired(g, in.DesiredConfiguration); err != nil {
		return nil, err
	}
	n := r.number()
	rf := &refresh{Group: g.name(), Number: n, Progressed: r.now, InstanceRefresh: autoscaling.InstanceRefresh{
		AutoScalingGroupName: ptr(g.name()), InstanceRefreshId: ptr(r.server.seed.UUID("refresh", g.name(), n)), StartTime: stamp(r.now),
		Status: refreshPending, Strategy: "Rolling", Preferences: preferences, DesiredConfiguration: in.DesiredConfiguration,
	}}
	if err := reshape(autoscaling.DesiredConfiguration{LaunchTemplate: g.Spec.LaunchTemplate, MixedInstancesPolicy: g.Spec.MixedInstancesPolicy}, &rf.Before); err != nil {
		return nil, err
	}
	rf.LaunchFirst = in.Preferences != nil && in.Preferences.MaxHealthyPercentage != nil
	key := refreshKey(g.name(), n)
	r.refreshes.Put(key, rf)
	g.Refreshing = key
	r.groups.Touch(g.name())
	rf.Total = len(r.stale(g, rf))
	r.showProgress(g, rf)
	return &autoscaling.StartInstanceRefreshOutput{InstanceRefreshId: rf.InstanceRefreshId}, nil
}

// preferences completes what was asked for with AWS's defaults.
func (r *realm) preferences(g *group, given *autoscaling.RefreshPreferences) *autoscaling.RefreshPreferences {
	policy := val(g.Spec.InstanceMaintenancePolicy)
	out := autoscaling.RefreshPreferences{
		MinHealthyPercentage: ptr(cmp.Or(val(policy.MinHealthyPercentage), 90)), MaxHealthyPercentage: ptr(cmp.Or(val(policy.MaxHealthyPercentage), 100)),
		InstanceWarmup: ptr(cmp.Or(val(g.Spec.DefaultInstanceWarmup), val(g.Spec.HealthCheckGracePeriod))), SkipMatching: ptr(false),
		AutoRollback: ptr(false), ScaleInProtectedInstances: "Wait", StandbyInstances: "Wait", BakeTime: ptr(int32(0)),
	}
	if given != nil {
		overlay(&out, given)
	}
	if len(out.CheckpointPercentages) > 0 && out.CheckpointDelay == nil {
		out.CheckpointDelay = ptr(int32(lifeCheckpoint / time.Second))
	}
	return &out
}

// maxAlarms is how many alarms a refresh may watch.
const maxAlarms = 10

func checkPreferences(p *autoscaling.RefreshPreferences, desired *autoscaling.DesiredConfiguration) error {
	if err := checkHealth(val(p.MinHealthyPercentage), val(p.MaxHealthyPercentage)); err != nil {
		return err
	}
	switch {
	case p.AlarmSpecification != nil && len(p.AlarmSpecification.Alarms) > maxAlarms:
		return invalid("An instance refresh can watch at most %d alarms.", maxAlarms)
	case !ascending(p.CheckpointPercentages):
		return invalid("CheckpointPercentages must be ascending and between 1 and 100.")
	case val(p.AutoRollback) && desired == nil:
		return invalid("You must specify a desired configuration to use auto rollback.")
	case !slices.Contains([]string{"Refresh", "Ignore", "Wait"}, p.ScaleInProtectedInstances):
		return invalid("Invalid ScaleInProtectedInstances: %s", p.ScaleInProtectedInstances)
	case !slices.Contains([]string{"Terminate", "Ignore", "Wait"}, p.StandbyInstances):
		return invalid("Invalid StandbyInstances: %s", p.StandbyInstances)
	}
	return nil
}

func checkHealth(low, high int32) error {
	switch {
	case low < 0 || low > 100:
		return invalid("MinHealthyPercentage must be between 0 and 100.")
	case high < 100 || high > 200:
		return invalid("MaxHealthyPercentage must be between 100 and 200.")
	case high-low > 100:
		return invalid("The difference between MinHealthyPercentage and MaxHealthyPercentage cannot be greater than 100.")
	}
	return nil
}

func ascending(percentages []int32) bool {
	return slices.IsSorted(percentages) && len(slices.Compact(slices.Clone(percentages))) == len(percentages) && !slices.ContainsFunc(percentages, func(n int32) bool { return n < 1 || n > 100 })
}

// checkDesired wants a configuration that could be the group's own.
func (r *realm) checkDesired(g *group, d *autoscaling.DesiredConfiguration) error {
	if d == nil {
		return nil
	}
	trial := *g
	trial.Refreshing = ""
	trial.Spec.LaunchTemplate, trial.Spec.MixedInstancesPolicy = d.LaunchTemplate, d.MixedInstancesPolicy
	return r.checkGroupTemplate(&trial)
}

func (r *realm) cancelInstanceRefresh(in *autoscaling.CancelInstanceRefreshInput) (*autoscaling.CancelInstanceRefreshOutput, error) {
	g, rf, err := r.activeRefresh(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	rf.Status = refreshCancelling
	for _, m := range r.membersOf(g) {
		if m.AtRisk != "" {
			m.AtRisk = ""
			r.members.Touch(memberKey(g.name(), m.Instance))
		}
	}
	r.refreshes.Touch(g.Refreshing)
	id := rf.InstanceRefreshId
	if in.WaitForTransitioningInstances != nil && !*in.WaitForTransitioningInstances {
		r.endRefresh(g, rf, "Cancelled", "Cancelled due to user request.")
	}
	return &autoscaling.CancelInstanceRefreshOutput{InstanceRefreshId: id}, nil
}

// activeRefresh is the refresh of a group that has not ended.
func (r *realm) activeRefresh(name *string) (*group, *refresh, error) {
	g, err := r.findGroup(name)
	if err != nil {
		return nil, nil, err
	}
	rf := r.refreshing(g)
	if rf == nil {
		return nil, nil, refuse("ActiveInstanceRefreshNotFound", "No in progress or pending Instance Refresh found for Auto Scaling group %s", g.name())
	}
	return g, rf, nil
}

func (r *realm) rollbackInstanceRefresh(in *autoscaling.RollbackInstanceRefreshInput) (*autoscaling.RollbackInstanceRefreshOutput, error) {
	g, rf, err := r.activeRefresh(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	floating := func(s *autoscaling.LaunchTemplateSpecification) bool {
		return s != nil && strings.HasPrefix(str(s.Version), "$")
	}
	switch {
	case rf.DesiredConfiguration == nil:
		return nil, refuse("IrreversibleInstanceRefresh", "The instance refresh has no desired configuration and cannot be rolled back.")
	case floating(rf.Before.LaunchTemplate):
		return nil, refuse("IrreversibleInstanceRefresh", "The group's launch template version %s cannot be rolled back to.", str(rf.Before.LaunchTemplate.Version))
	case rf.Reverting:
		return nil, refuse("InstanceRefreshInProgress", "The instance refresh is already being rolled back.")
	}
	r.revert(g, rf, "Rollback initiated by user.")
	r.refreshes.Touch(g.Refreshing)
	return &autoscaling.RollbackInstanceRefreshOutput{InstanceRefreshId: rf.InstanceRefreshId}, nil
}

func (r *realm) describeInstanceRefreshes(in *autoscaling.DescribeInstanceRefreshesInput) (*autoscaling.DescribeInstanceRefreshesOutput, error) {
	size, err := records(in.MaxRecords, 50, 100)
	if err != nil {
		return nil, err
	}
	g, err := r.findGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	found := slices.Collect(values(r.refreshes.Under(g.name() + ":")))
	if len(in.InstanceRefreshIds) > 0 {
		found = slices.DeleteFunc(found, func(f *refresh) bool { return !slices.Contains(in.InstanceRefreshIds, str(f.InstanceRefreshId)) })
	}
	key := func(f *refresh) string { return versionKey("", 1<<52-f.Number) }
	slices.SortFunc(found, func(a, b *refresh) int { return strings.Compare(key(a), key(b)) })
	page, next, err := paged(found, key, in.NextToken, r.page(size))
	if err != nil {
		return nil, err
	}
	out := &autoscaling.DescribeInstanceRefreshesOutput{NextToken: next}
	for _, f := range page {
		out.InstanceRefreshes = append(out.InstanceRefreshes, f.InstanceRefresh)
	}
	return out, nil
}
