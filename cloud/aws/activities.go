package aws

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

const (
	// activitiesMost are read: the newest, which are those that count.
	activitiesMost = 20
)

// readActivities asks the group why instances do not come, when some are missing and had time to come.
func (p *pass) readActivities(ctx context.Context, is *asgtypes.AutoScalingGroup) ([]pool.Cause, error) {
	known := &p.memory.activities
	if !session.Missing(is) {
		*known = activitiesRead{}
		return nil, nil
	}
	if p.now.Sub(p.memory.resized) < activityGrace || !known.at.IsZero() && p.now.Sub(known.at) < activityPeriod {
		return known.issues, nil
	}
	pages := autoscaling.NewDescribeScalingActivitiesPaginator(p.c.AutoScaling, &autoscaling.DescribeScalingActivitiesInput{
		AutoScalingGroupName: &p.t.group, MaxRecords: new(int32(activitiesMost)),
	})
	found, err := session.Listed(ctx, pages, func(page *autoscaling.DescribeScalingActivitiesOutput) []asgtypes.Activity { return page.Activities },
		activitiesMost, p.now)
	if err != nil && cloud.KindOf(err) == cloud.Denied {
		*known = activitiesRead{issues: []pool.Cause{causeOf(err)}, at: p.now}
		return known.issues, nil
	}
	if err != nil {
		return nil, err
	}
	*known = activitiesRead{issues: session.LaunchIssues(found), at: p.now}
	return known.issues, nil
}

// suspendedIssues names the suspended processes that the group needs now. Those that hold nothing up are not named.
func suspendedIssues(is *asgtypes.AutoScalingGroup, roll *pool.ProviderRollout) (issues []pool.Cause) {
	launching, unhealthy, running := session.Missing(is), false, 0
	for _, i := range is.Instances {
		switch state, _ := session.StateOf(i); state {
		case pool.Pending:
			launching = true
		case pool.Failed:
			unhealthy = true
		case pool.Running:
			running++
		}
	}
	balanced := len(is.LoadBalancerNames)+len(is.TargetGroupARNs)+len(is.TrafficSources) > 0
	for _, c := range []struct {
		process string
		needed  bool
		effect  string
	}{
		{"Launch", session.Missing(is), "no instance is launched"},
		{"Terminate", unhealthy || running > int(session.Deref(is.DesiredCapacity)), "the group terminates no instance"},
		{"AddToLoadBalancer", launching && balanced, "instances that are launched now get no traffic, also after it has been resumed"},
		{"InstanceRefresh", roll.Runs(), "the instance refresh does not go on"},
	} {
		if c.needed && slices.Contains(session.Suspended(is), c.process) {
			issues = append(issues, pool.Cause{Reason: c.process + "Suspended", Message: fmt.Sprintf(
				"process %s of Auto Scaling group %s is suspended (%s): %s. Resume it", c.process, session.Deref(is.AutoScalingGroupName), suspendedBy(is, c.process), c.effect)})
		}
	}
	return issues
}

// suspendedBy returns where a process is to be resumed: in the specification, if the group's tags tell that it suspends the process.
func suspendedBy(is *asgtypes.AutoScalingGroup, process string) string {
	if slices.Contains(splitList(tagOf(is, tagSuspended)), process) {
		return driftProcesses
	}
	return "by another client"
}
