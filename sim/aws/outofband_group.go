package aws

import (
	"fmt"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
)

// putAside moves an instance to standby, with another launched in its place.
func (s *Server) putAside(on sim.Resource) error {
	return s.home(func(r *realm) error {
		m := r.memberOf(on.Instance)
		if m == nil {
			return fmt.Errorf("instance %s is in no group", on.Instance)
		}
		_, err := r.enterStandby(&autoscaling.EnterStandbyInput{
			AutoScalingGroupName: &m.Group, InstanceIds: []string{m.Instance}, ShouldDecrementDesiredCapacity: ptr(false),
		})
		return err
	})
}

func (s *Server) sicken(on sim.Resource) error {
	return did(s, (*realm).setInstanceHealth, &autoscaling.SetInstanceHealthInput{
		InstanceId: &on.Instance, HealthStatus: ptr(unhealthy), ShouldRespectGracePeriod: ptr(false),
	})
}

// evenOut moves an instance of the group to another zone, as evenZones does when there are two more in one than in another. A
// group of one zone stays as it is, and so does one in which something else goes on.
func (s *Server) evenOut(on sim.Resource) error {
	return s.home(func(r *realm) error {
		g, err := r.findGroup(&on.Name)
		if err != nil {
			return err
		}
		m := r.movable(g)
		if m == nil {
			return nil
		}
		for _, sub := range r.subnetsOf(g) {
			if sub.Zone != m.Zone {
				r.moveZone(g, m, sub)
				return nil
			}
		}
		return nil
	})
}

// movable is a member of a group that is at rest and may even its zones.
func (r *realm) movable(g *group) *member {
	if g.suspended("AZRebalance") || g.suspended("Launch") || g.suspended("Terminate") || g.Refreshing != "" || g.Deleting {
		return nil
	}
	for _, m := range r.membersOf(g) {
		if m.State != memberStandby && (m.State != memberInService || m.AtRisk != "") {
			return nil
		}
	}
	return r.chooseSurplus(g)
}

// beginRefresh begins a refresh as the console does without a desired configuration.
func (s *Server) beginRefresh(on sim.Resource) error {
	return did(s, (*realm).startInstanceRefresh, &autoscaling.StartInstanceRefreshInput{
		AutoScalingGroupName: &on.Name, Preferences: &autoscaling.RefreshPreferences{ScaleInProtectedInstances: "Ignore", StandbyInstances: "Ignore"},
	})
}

func (s *Server) endRefreshByHand(on sim.Resource) error {
	return did(s, (*realm).cancelInstanceRefresh, &autoscaling.CancelInstanceRefreshInput{AutoScalingGroupName: &on.Name})
}

// failRefreshByHand lets an alarm go off that the refresh watches, or would if it had been asked to: "Start an instance refresh with
// auto rollback".
func (s *Server) failRefreshByHand(on sim.Resource) error {
	return s.home(func(r *realm) error {
		g, rf, err := r.activeRefresh(&on.Name)
		if err != nil {
			return err
		}
		name := "by-hand"
		if a := rf.Preferences.AlarmSpecification; a != nil && len(a.Alarms) > 0 {
			name = a.Alarms[0]
		}
		r.failRefresh(g, rf, "The instance refresh has failed because the CloudWatch alarm "+name+" is in ALARM state.")
		r.refreshes.Touch(refreshKey(rf.Group, rf.Number))
		r.wake(g)
		return nil
	})
}
