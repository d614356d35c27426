package aws

import (
	"fmt"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/autoscaling"
	autoscalingshapes "github.com/muster-project/muster/sim/aws/shapes/autoscaling"
)

// putAside moves an instance to standby, with another launched in its place.
func putAside(r *region, on sim.Resource) error {
	m := r.AutoScaling.Members.MemberOf(on.Instance)
	if m == nil {
		return fmt.Errorf("instance %s is in no group", on.Instance)
	}
	_, err := r.AutoScaling.Members.EnterStandby(&autoscalingshapes.EnterStandbyInput{
		AutoScalingGroupName: &m.Group, InstanceIds: []string{m.Instance}, ShouldDecrementDesiredCapacity: new(false),
	})
	return err
}

func sicken(r *region, on sim.Resource) error {
	return only(r.AutoScaling.Members.SetInstanceHealth(&autoscalingshapes.SetInstanceHealthInput{
		InstanceId: &on.Instance, HealthStatus: new(autoscaling.Unhealthy), ShouldRespectGracePeriod: new(false),
	}))
}

// evenOut moves an instance of the group to another zone, as evenZones does when there are two more in one than in another. A
// Group of one zone stays as it is, and so does one in which something else goes on.
func evenOut(r *region, on sim.Resource) error {
	g, err := r.AutoScaling.Groups.FindGroup(&on.Name)
	if err != nil {
		return err
	}
	m := r.AutoScaling.Scaling.Movable(g)
	if m == nil {
		return nil
	}
	for _, sub := range r.AutoScaling.Groups.SubnetsOf(g) {
		if sub.Zone != m.Zone {
			r.AutoScaling.Scaling.MoveZone(g, m, sub)
			return nil
		}
	}
	return nil
}

// beginRefresh begins a refresh as the console does without a desired configuration.
func beginRefresh(r *region, on sim.Resource) error {
	return only(r.AutoScaling.Refreshes.StartInstanceRefresh(&autoscalingshapes.StartInstanceRefreshInput{
		AutoScalingGroupName: &on.Name, Preferences: &autoscalingshapes.RefreshPreferences{ScaleInProtectedInstances: "Ignore",
			StandbyInstances: "Ignore"},
	}))
}

func endRefreshByHand(r *region, on sim.Resource) error {
	return only(r.AutoScaling.Refreshes.CancelInstanceRefresh(&autoscalingshapes.CancelInstanceRefreshInput{AutoScalingGroupName: &on.Name}))
}

// failRefreshByHand lets an alarm go off that the refresh watches, or would if it had been asked to: "Start an instance refresh with
// auto rollback".
func failRefreshByHand(r *region, on sim.Resource) error {
	g, rf, err := r.AutoScaling.Refreshes.ActiveRefresh(&on.Name)
	if err != nil {
		return err
	}
	name := "by-hand"
	if a := rf.Preferences.AlarmSpecification; a != nil && len(a.Alarms) > 0 {
		name = a.Alarms[0]
	}
	r.AutoScaling.Refreshes.FailRefresh(g, rf, "The instance refresh has failed because the CloudWatch alarm "+name+" is in ALARM state.")
	r.AutoScaling.Refreshes.Rows.Touch(autoscaling.RefreshKey(rf.Group, rf.Number))
	r.AutoScaling.Members.WakeUp(g)
	return nil
}
