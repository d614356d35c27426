package asg

import (
	"context"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/kinds/aws"
	"github.com/muster-project/muster/test/explore/world"
)

// What is done to Auto Scaling groups alone: HandRefresh begins the group's own refresh, HandCancel cancels the one that runs.
const (
	HandRefresh world.What = "hand begins a refresh"
	HandCancel  world.What = "hand cancels the refresh"
)

// change changes something in the cloud behind the engine's back. What is not ours is left to its owner.
func (p *pool) change(e world.Event) error {
	name := p.World.Objects.Owner().ResourceName()
	if g := p.Find(name); g != nil && g.Tags[aws.TagOwner] == p.World.Objects.Owner().ID {
		return p.toGroup(g, e)
	}
	return nil
}

// toGroup changes something of our group.
func (p *pool) toGroup(g *simaws.Group, e world.Event) error {
	if e.What == world.HandResize || e.What == world.HandBounds {
		p.World.Notes.Moved()
	}
	switch e.What {
	case world.HandTerminate, world.HandFail, world.HandInterrupt, world.HandUnhealthy:
		return p.StrikeDown(g, e)
	case world.HandResize:
		return p.sized(g, e.N)
	case world.Autoscaler:
		if !p.World.Objects.External() {
			return nil
		}
		p.World.Notes.Autoscaled(g.Desired)
		return p.sized(g, e.N)
	case world.HandDropTemplate:
		return p.Server.DropTemplate(p.TemplateName())
	case world.HandDropVersion, world.HandDefault:
		p.World.Notes.Rewritten()
		return p.ToVersion(e)
	default:
		return p.World.Hand(func(ctx context.Context) error { return p.meddle(ctx, g.Name, e) })
	}
}

// sized sets the group's size within its bounds, as the autoscaler and people do.
func (p *pool) sized(g *simaws.Group, n int) error {
	size := int32(min(max(n, g.Min), g.Max))
	return p.World.Hand(func(ctx context.Context) error {
		_, err := p.Groups.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: &g.Name, DesiredCapacity: &size})
		return err
	})
}

// meddle is a change by hand that takes a call.
func (p *pool) meddle(ctx context.Context, name string, e world.Event) error {
	c := p.Groups
	tag := func(key, value string) error {
		_, err := c.CreateOrUpdateTags(ctx, &autoscaling.CreateOrUpdateTagsInput{Tags: []asgtypes.Tag{{
			ResourceId: &name, ResourceType: awssdk.String("auto-scaling-group"), Key: &key, Value: &value, PropagateAtLaunch: awssdk.Bool(true),
		}}})
		return err
	}
	var err error
	switch e.What {
	case world.HandTags:
		key := []string{"team", "stage", "muster.dev/cluster"}[e.N%3]
		if g := p.Find(name); g == nil || g.Tags[key] == "" {
			key = "theirs" // what others put there stays there, whatever its name
		}
		err = tag(key, "changed by hand")
	case world.HandDisown:
		p.World.Notes.Disowned()
		err = tag(aws.TagOwner, world.Thief)
	case world.HandOwn:
		err = tag(aws.TagOwner, p.World.Objects.Owner().ID)
	case world.HandDropGroup:
		_, err = c.DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: &name,
			ForceDelete: awssdk.Bool(true)})
	case HandRefresh:
		_, err = c.StartInstanceRefresh(ctx, &autoscaling.StartInstanceRefreshInput{AutoScalingGroupName: &name,
			Preferences: &asgtypes.RefreshPreferences{
				MinHealthyPercentage: awssdk.Int32(50), InstanceWarmup: awssdk.Int32(10), StandbyInstances: asgtypes.StandbyInstancesIgnore,
			}})
	case HandCancel:
		_, err = c.CancelInstanceRefresh(ctx, &autoscaling.CancelInstanceRefreshInput{AutoScalingGroupName: &name})
	case world.HandBounds:
		least := int32(e.N % 3)
		most := least + 1 + int32(e.M)
		_, err = c.UpdateAutoScalingGroup(ctx, &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: &name, MinSize: &least,
			MaxSize: &most})
	}
	return err
}

// own gives the group back that was taken from us.
func (p *pool) own() {
	name := p.World.Objects.Owner().ResourceName()
	if g := p.Find(name); g != nil && g.Tags[aws.TagOwner] == world.Thief {
		_ = p.World.Hand(func(ctx context.Context) error { return p.meddle(ctx, name, world.Event{What: world.HandOwn}) })
		p.World.Notes.Owned()
	}
}

// theirTemplate is the name of a template that other people have in the account.
const theirTemplate = "by-hand"

// foreign makes a template and a group of another owner: beside the pool's, under the pool's name before it has one, or both.
func (p *pool) foreign(n int) {
	ours := p.World.Objects.Owner().ResourceName()
	names := [][]string{{world.TheirGroup}, {ours}, {world.TheirGroup, ours}}[n]
	err := p.World.Hand(func(ctx context.Context) error {
		_, err := p.EC2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
			LaunchTemplateName: awssdk.String(theirTemplate),
			LaunchTemplateData: &ec2types.RequestLaunchTemplateData{InstanceType: simaws.InstanceType, ImageId: awssdk.String(p.Image())},
		})
		return err
	})
	for _, name := range names {
		if err == nil {
			err = p.World.Hand(func(ctx context.Context) error { return p.theirs(ctx, name) })
		}
	}
	if err != nil {
		p.World.Trace("hand", "failed: %v", err)
	}
}

func (p *pool) theirs(ctx context.Context, name string) error {
	_, err := p.Groups.CreateAutoScalingGroup(ctx, &autoscaling.CreateAutoScalingGroupInput{
		AutoScalingGroupName: &name, MinSize: awssdk.Int32(0), MaxSize: awssdk.Int32(1), DesiredCapacity: awssdk.Int32(1),
		VPCZoneIdentifier: awssdk.String(simaws.SubnetID),
		LaunchTemplate: &asgtypes.LaunchTemplateSpecification{LaunchTemplateName: awssdk.String(theirTemplate),
			Version: awssdk.String("$Latest")},
	})
	return err
}

// dropForeign deletes the group of another owner that has the pool's name.
func (p *pool) dropForeign() {
	name := p.World.Objects.Owner().ResourceName()
	if p.World.Scenario.Named {
		name = world.TheirGroup
	}
	if g := p.Find(name); g == nil || g.Tags[aws.TagOwner] == p.World.Objects.Owner().ID {
		return
	}
	_ = p.World.Hand(func(ctx context.Context) error {
		_, err := p.Groups.DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: &name,
			ForceDelete: awssdk.Bool(true)})
		return err
	})
}
