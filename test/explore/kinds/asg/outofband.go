package asg

import (
	"context"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// The out-of-band actions that exist only for Auto Scaling groups: HandRefresh begins the group's own refresh, HandCancel cancels a running
// one.
const (
	HandRefresh script.What = "hand begins a refresh"
	HandCancel  script.What = "hand cancels the refresh"
)

// change changes the group.
func (p *pool) change(e script.Event) error {
	g := p.World.Group.Owned()
	if g == nil {
		return nil
	}
	switch e.What {
	case script.HandTerminate, script.HandFail, script.HandInterrupt, script.HandUnhealthy:
		return p.StrikeDown(g.Members, e)
	case script.Autoscaler:
		if !p.World.Objects.External() {
			return nil
		}
		p.World.Notes.Autoscaled(g.Size)
		return p.World.RetryAsUser(func(ctx context.Context) error { return p.resize(ctx, g, e.N) })
	case script.HandDropTemplate:
		return p.Server.DropTemplate(p.TemplateName())
	case script.HandDropVersion, script.HandDefault:
		p.World.Notes.Rewritten()
		return p.ToVersion(e)
	case script.HandBounds, HandRefresh, HandCancel:
		if e.What == script.HandBounds {
			p.World.Notes.Moved()
		}
		return p.World.RetryAsUser(func(ctx context.Context) error { return p.meddle(ctx, g.Name, e) })
	}
	return p.World.Group.Change(g, e)
}

// resize sets the group's size within its bounds, as the autoscaler and people do.
func (p *pool) resize(ctx context.Context, g *sim.Group, n int) error {
	size := int32(min(max(n, g.Min), g.Max))
	_, err := p.Groups.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: &g.Name, DesiredCapacity: &size})
	return err
}

func (p *pool) tag(ctx context.Context, g *sim.Group, key, value string) error {
	_, err := p.Groups.CreateOrUpdateTags(ctx, &autoscaling.CreateOrUpdateTagsInput{Tags: []asgtypes.Tag{{
		ResourceId: &g.Name, ResourceType: awssdk.String("auto-scaling-group"), Key: &key, Value: &value, PropagateAtLaunch: awssdk.Bool(true),
	}}})
	return err
}

func (p *pool) drop(ctx context.Context, g *sim.Group) error {
	_, err := p.Groups.DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: &g.Name,
		ForceDelete: awssdk.Bool(true)})
	return err
}

// meddle changes the group in ways that other kinds lack.
func (p *pool) meddle(ctx context.Context, name string, e script.Event) error {
	c := p.Groups
	var err error
	switch e.What {
	case HandRefresh:
		_, err = c.StartInstanceRefresh(ctx, &autoscaling.StartInstanceRefreshInput{AutoScalingGroupName: &name,
			Preferences: &asgtypes.RefreshPreferences{
				MinHealthyPercentage: awssdk.Int32(50), InstanceWarmup: awssdk.Int32(10), StandbyInstances: asgtypes.StandbyInstancesIgnore,
			}})
	case HandCancel:
		_, err = c.CancelInstanceRefresh(ctx, &autoscaling.CancelInstanceRefreshInput{AutoScalingGroupName: &name})
	default:
		least := int32(e.N % 3)
		most := least + 1 + int32(e.M)
		_, err = c.UpdateAutoScalingGroup(ctx, &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: &name, MinSize: &least,
			MaxSize: &most})
	}
	return err
}

// theirTemplate is the name of a template that other people have in the account.
const theirTemplate = "by-hand"

// foreign creates a template and a group of another owner: under another name, under the pool's name before the pool has a group, or both.
func (p *pool) foreign(n int) {
	ours := p.World.Objects.Owner().ResourceName()
	names := [][]string{{world.TheirGroup}, {ours}, {world.TheirGroup, ours}}[n]
	err := p.World.RetryAsUser(func(ctx context.Context) error {
		_, err := p.EC2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
			LaunchTemplateName: awssdk.String(theirTemplate),
			LaunchTemplateData: &ec2types.RequestLaunchTemplateData{InstanceType: simaws.InstanceType, ImageId: awssdk.String(p.Image())},
		})
		return err
	})
	for _, name := range names {
		if err == nil {
			err = p.World.RetryAsUser(func(ctx context.Context) error { return p.theirs(ctx, name) })
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
