package aws

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// terminate terminates exactly the given instances. A removal lowers the group's size by one in the same call; otherwise the
// group launches another in the place of each, unless it did so when the instance was set aside.
func (p *pass) terminate(ctx context.Context, s pool.Step, lower bool) error {
	if err := asg.NoMoreThan(s.Targets, "terminate"); err != nil {
		return err
	}
	if err := p.known(ctx); err != nil {
		return err
	}
	if err := p.upToDate(); err != nil {
		return err
	}
	size := p.memory.size()
	p.memory.touchedMembers()
	return asg.Termination{
		Session: p.c, Now: p.now, Group: p.t.group, Size: size, Lower: lower, Asked: &p.memory.asked, Going: p.going, Took: p.took,
	}.Terminate(ctx, s.Targets)
}

// took notes that the group takes an instance because it was asked to: when our hook holds it, nothing more has to be read.
func (p *pass) took(id string) {
	if p.memory.takes == nil {
		p.memory.takes = map[string]time.Time{}
	}
	p.memory.takes[id] = p.now
}

// going reports whether an instance is on its way out already, or gone.
func (p *pass) going(ctx context.Context, id string) (bool, error) {
	defer p.memory.touchedMembers()
	if err := p.readGroup(ctx); err != nil || p.memory.group.is == nil {
		return err == nil, err
	}
	i := asg.Member(p.memory.group.is, id)
	if i == nil {
		return true, nil
	}
	return !asg.Present(*i), nil
}

// enterStandby takes instances out of service and out of the group's count, and leaves its size as it is: the group launches others
// in their place while they run on. They are tagged first, so that a crash in between leaves nothing in standby that is
// not known to be ours.
func (p *pass) enterStandby(ctx context.Context, s pool.Step) error {
	if err := asg.NoMoreThan(s.Targets, "set aside"); err != nil {
		return err
	}
	if p.now.Sub(p.memory.group.at) > session.SameMoment {
		// Tagging from an old list would claim an instance that another client put into standby meanwhile.
		p.memory.group = groupRead{}
	}
	if err := p.known(ctx); err != nil {
		return err
	}
	ids, err := p.standbyCandidates(s.Targets)
	if err != nil || len(ids) == 0 {
		return err
	}
	_, err = p.c.EC2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: ids, Tags: []ec2types.Tag{{Key: new(tagSetAside), Value: &p.t.Owner.ID}}})
	if err = session.Refusal(err, p.now); err != nil {
		return session.ListChanged(err)
	}
	for _, id := range ids {
		read := p.memory.members[id]
		read.aside = true
		p.memory.remember(id, read)
	}
	p.memory.touchedMembers()
	p.memory.resized = p.now
	_, err = p.c.AutoScaling.EnterStandby(ctx, &autoscaling.EnterStandbyInput{
		AutoScalingGroupName: &p.t.group, InstanceIds: ids, ShouldDecrementDesiredCapacity: new(false),
	})
	if err = session.Refusal(err, p.now); cloud.KindOf(err) == cloud.Invalid {
		return p.confirmStandby(ctx, s, err)
	}
	for _, id := range ids {
		// An instance that is in service although it was asked for before shows that requests have no effect: reads are taken as they are.
		if read := p.memory.members[id]; err == nil && read.standby.IsZero() {
			read.standby = p.now
			p.memory.remember(id, read)
		}
	}
	return err
}

// standbyCandidates are those of the targets that are in service. What is in standby or on its way out already is none of them.
func (p *pass) standbyCandidates(targets []pool.InstanceRef) ([]string, error) {
	is := p.memory.group.is
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

// confirmStandby finds out whether the service refused only because the list was old: an instance was in standby, or on its
// way out, already. Where some are still in service they are asked for again, from a list that is new.
func (p *pass) confirmStandby(ctx context.Context, s pool.Step, refused error) error {
	if err := p.readGroup(ctx); err != nil {
		return err
	}
	if ids, err := p.standbyCandidates(s.Targets); err != nil || len(ids) == 0 {
		return err
	}
	return &cloud.Error{Kind: cloud.Conflict, Code: "NotInService", Message: "the group's instances have changed meanwhile: " + refused.Error()}
}
