package aws

import (
	"context"

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
