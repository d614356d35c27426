package autoscaling

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	"github.com/muster-project/muster/sim/aws/wire"
)

// StartInstanceRefresh is the action of that name.
func (r *Refreshes) StartInstanceRefresh(in *autoscaling.StartInstanceRefreshInput) (*autoscaling.StartInstanceRefreshOutput, error) {
	g, err := r.Groups.FindGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	if r.Refreshing(g) != nil {
		return nil, wire.Refuse("InstanceRefreshInProgress",
			"An Instance Refresh is already in progress and blocks the execution of this Instance Refresh.")
	}
	if in.Strategy != "" && in.Strategy != "Rolling" {
		return nil, wire.Invalid("The strategy %s is not supported. Supported strategies: [Rolling].", in.Strategy)
	}
	preferences := r.preferences(g, in.Preferences)
	if err := checkPreferences(preferences, in.DesiredConfiguration); err != nil {
		return nil, err
	}
	if err := r.checkDesired(g, in.DesiredConfiguration); err != nil {
		return nil, err
	}
	n := r.Number()
	rf := &Refresh{Group: g.Name(), Number: n, Progressed: r.Now, InstanceRefresh: autoscaling.InstanceRefresh{
		AutoScalingGroupName: new(g.Name()), InstanceRefreshId: new(r.Seed.UUID("refresh", g.Name(), n)), StartTime: shapes.Stamp(r.Now),
		Status: refreshPending, Strategy: "Rolling", Preferences: preferences, DesiredConfiguration: in.DesiredConfiguration,
	}}
	if err := shapes.Reshape(autoscaling.DesiredConfiguration{LaunchTemplate: g.Spec.LaunchTemplate,
		MixedInstancesPolicy: g.Spec.MixedInstancesPolicy}, &rf.Before); err != nil {
		return nil, err
	}
	rf.LaunchFirst = in.Preferences != nil && in.Preferences.MaxHealthyPercentage != nil
	key := RefreshKey(g.Name(), n)
	r.Rows.Put(key, rf)
	g.Refreshing = key
	r.Groups.Rows.Touch(g.Name())
	rf.Total = len(r.stale(g, rf))
	r.showProgress(g, rf)
	return &autoscaling.StartInstanceRefreshOutput{InstanceRefreshId: rf.InstanceRefreshId}, nil
}

// preferences completes what was asked for with AWS's defaults.
func (r *Refreshes) preferences(g *Group, given *autoscaling.RefreshPreferences) *autoscaling.RefreshPreferences {
	policy := shapes.Val(g.Spec.InstanceMaintenancePolicy)
	out := autoscaling.RefreshPreferences{
		MinHealthyPercentage: new(cmp.Or(shapes.Val(policy.MinHealthyPercentage), 90)),
		MaxHealthyPercentage: new(cmp.Or(shapes.Val(policy.MaxHealthyPercentage), 100)),
		InstanceWarmup:       new(cmp.Or(shapes.Val(g.Spec.DefaultInstanceWarmup), shapes.Val(g.Spec.HealthCheckGracePeriod))),
		SkipMatching:         new(false),
		AutoRollback:         new(false), ScaleInProtectedInstances: "Wait", StandbyInstances: "Wait", BakeTime: new(int32(0)),
	}
	if given != nil {
		shapes.Overlay(&out, given)
	}
	if len(out.CheckpointPercentages) > 0 && out.CheckpointDelay == nil {
		out.CheckpointDelay = new(int32(lifeCheckpoint / time.Second))
	}
	return &out
}

// maxAlarms limits the alarms that a refresh watches, mostDelay its wait at a checkpoint in seconds.
const maxAlarms, mostDelay = 10, 172800

func checkPreferences(p *autoscaling.RefreshPreferences, desired *autoscaling.DesiredConfiguration) error {
	if err := checkHealth(shapes.Val(p.MinHealthyPercentage), shapes.Val(p.MaxHealthyPercentage)); err != nil {
		return err
	}
	switch {
	case p.AlarmSpecification != nil && len(p.AlarmSpecification.Alarms) > maxAlarms:
		return wire.Invalid("An instance refresh can watch at most %d alarms.", maxAlarms)
	case shapes.Val(p.InstanceWarmup) < 0:
		return wire.Invalid("InstanceWarmup must not be negative.")
	case shapes.Val(p.CheckpointDelay) < 0 || shapes.Val(p.CheckpointDelay) > mostDelay:
		return wire.Invalid("CheckpointDelay must be between 0 and %d seconds.", mostDelay)
	case !ascending(p.CheckpointPercentages):
		return wire.Invalid("CheckpointPercentages must be ascending and between 1 and 100.")
	case shapes.Val(p.AutoRollback) && desired == nil:
		return wire.Invalid("You must specify a desired configuration to use auto rollback.")
	case !slices.Contains([]string{"Refresh", "Ignore", "Wait"}, p.ScaleInProtectedInstances):
		return wire.Invalid("Invalid ScaleInProtectedInstances: %s", p.ScaleInProtectedInstances)
	case !slices.Contains([]string{"Terminate", "Ignore", "Wait"}, p.StandbyInstances):
		return wire.Invalid("Invalid StandbyInstances: %s", p.StandbyInstances)
	}
	return nil
}

func checkHealth(low, high int32) error {
	switch {
	case low < 0 || low > 100:
		return wire.Invalid("MinHealthyPercentage must be between 0 and 100.")
	case high < 100 || high > 200:
		return wire.Invalid("MaxHealthyPercentage must be between 100 and 200.")
	case high-low > 100:
		return wire.Invalid("The difference between MinHealthyPercentage and MaxHealthyPercentage cannot be greater than 100.")
	}
	return nil
}

func ascending(percentages []int32) bool {
	return slices.IsSorted(percentages) && len(slices.Compact(slices.Clone(percentages))) == len(percentages) &&
		!slices.ContainsFunc(percentages, func(n int32) bool { return n < 1 || n > 100 })
}

// checkDesired wants a configuration that could be the group's own.
func (r *Refreshes) checkDesired(g *Group, d *autoscaling.DesiredConfiguration) error {
	if d == nil {
		return nil
	}
	trial := *g
	trial.Refreshing = ""
	trial.Spec.LaunchTemplate, trial.Spec.MixedInstancesPolicy = d.LaunchTemplate, d.MixedInstancesPolicy
	return r.Groups.checkGroupTemplate(&trial)
}

// CancelInstanceRefresh is the action of that name.
func (r *Refreshes) CancelInstanceRefresh(in *autoscaling.CancelInstanceRefreshInput) (*autoscaling.CancelInstanceRefreshOutput, error) {
	g, rf, err := r.ActiveRefresh(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	rf.Status = refreshCancelling
	for _, m := range r.Members.MembersOf(g) {
		if m.AtRisk != "" {
			m.AtRisk = ""
			r.Members.Rows.Touch(MemberKey(g.Name(), m.Instance))
		}
	}
	r.Rows.Touch(g.Refreshing)
	id := rf.InstanceRefreshId
	if in.WaitForTransitioningInstances != nil && !*in.WaitForTransitioningInstances {
		r.endRefresh(g, rf, "Cancelled", "Cancelled due to user request.")
	}
	return &autoscaling.CancelInstanceRefreshOutput{InstanceRefreshId: id}, nil
}

// ActiveRefresh is the refresh of a group that has not ended.
func (r *Refreshes) ActiveRefresh(name *string) (*Group, *Refresh, error) {
	g, err := r.Groups.FindGroup(name)
	if err != nil {
		return nil, nil, err
	}
	rf := r.Refreshing(g)
	if rf == nil {
		return nil, nil, wire.Refuse("ActiveInstanceRefreshNotFound",
			"No in progress or pending Instance Refresh found for Auto Scaling group %s", g.Name())
	}
	return g, rf, nil
}

func (r *Refreshes) rollbackInstanceRefresh(in *autoscaling.RollbackInstanceRefreshInput) (*autoscaling.RollbackInstanceRefreshOutput,
	error) {
	g, rf, err := r.ActiveRefresh(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	floating := func(s *autoscaling.LaunchTemplateSpecification) bool {
		return s != nil && strings.HasPrefix(shapes.Str(s.Version), "$")
	}
	switch {
	case rf.DesiredConfiguration == nil:
		return nil, wire.Refuse("IrreversibleInstanceRefresh", "The instance refresh has no desired configuration and cannot be rolled back.")
	case floating(rf.Before.LaunchTemplate):
		return nil, wire.Refuse("IrreversibleInstanceRefresh", "The group's launch template version %s cannot be rolled back to.",
			shapes.Str(rf.Before.LaunchTemplate.Version))
	case rf.Reverting:
		return nil, wire.Refuse("InstanceRefreshInProgress", "The instance refresh is already being rolled back.")
	}
	r.revert(g, rf, "Rollback initiated by user.")
	r.Rows.Touch(g.Refreshing)
	return &autoscaling.RollbackInstanceRefreshOutput{InstanceRefreshId: rf.InstanceRefreshId}, nil
}

func (r *Refreshes) describeInstanceRefreshes(in *autoscaling.DescribeInstanceRefreshesInput) (*autoscaling.DescribeInstanceRefreshesOutput,
	error) {
	size, err := records(in.MaxRecords, 50, 100)
	if err != nil {
		return nil, err
	}
	g, err := r.Groups.FindGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	found := r.Rows.List(g.Name() + ":")
	if len(in.InstanceRefreshIds) > 0 {
		found = slices.DeleteFunc(found, func(f *Refresh) bool {
			return !slices.Contains(in.InstanceRefreshIds,
				shapes.Str(f.InstanceRefreshId))
		})
	}
	key := func(f *Refresh) string { return ec2.VersionKey("", 1<<52-f.Number) }
	slices.SortFunc(found, func(a, b *Refresh) int { return strings.Compare(key(a), key(b)) })
	page, next, err := account.Paged(nil, found, key, in.NextToken, r.Page(size))
	if err != nil {
		return nil, err
	}
	out := &autoscaling.DescribeInstanceRefreshesOutput{NextToken: next}
	for _, f := range page {
		out.InstanceRefreshes = append(out.InstanceRefreshes, f.InstanceRefresh)
	}
	return out, nil
}
