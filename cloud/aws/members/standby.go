package members

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// InService returns those of the targets that are in service. What is in standby or being terminated already is left out; any other state
// is a conflict.
func InService(is *asgtypes.AutoScalingGroup, targets []pool.InstanceRef) ([]string, error) {
	if is == nil {
		return nil, nil
	}
	var ids []string
	for _, target := range targets {
		i := asg.Member(is, target.ID)
		if i == nil || asg.InStandby(*i) {
			continue
		}
		switch state, member := asg.StateOf(*i); {
		case !member || state == pool.Terminating:
		case i.LifecycleState == asgtypes.LifecycleStateInService:
			ids = append(ids, target.ID)
		default:
			return nil, &cloud.Error{Kind: cloud.Conflict, Code: "NotInService", Message: fmt.Sprintf(
				"instance %s is %s: only one that is in service can be set aside", target.ID, i.LifecycleState)}
		}
	}
	return ids, nil
}

// MarkStandby tags instances that are about to be put into standby: a crash in between leaves nothing in standby that is not known to be
// Muster's.
func (m *Members) MarkStandby(ctx context.Context, c asg.Client, ids []string, owner cloud.Owner) error {
	return c.TagInstances(ctx, ids, map[string]string{tagStandby: owner.ID}, func(tagged []string) {
		m.change(tagged, func(known *member) { known.standby = true })
	})
}

// EnterStandby puts marked instances into standby without lowering the group's size: it launches others in their place.
func (m *Members) EnterStandby(ctx context.Context, c asg.Client, ids []string) error {
	_, err := c.Session.AutoScaling.EnterStandby(ctx, &autoscaling.EnterStandbyInput{
		AutoScalingGroupName: &c.Name, InstanceIds: ids, ShouldDecrementDesiredCapacity: new(false),
	})
	if err = session.Refusal(err, c.Now); err != nil {
		return err
	}
	m.change(ids, func(known *member) {
		// An instance that is in service although the request was accepted before shows that requests have no effect: reads are taken as they
		// are.
		if known.entered.IsZero() {
			known.entered = c.Now
		}
	})
	return nil
}
