package world

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/oracle"
)

// external reports whether an autoscaler owns the group's size.
func (w *World) external() bool {
	mp, _ := w.objects(w.user)
	return mp != nil && sizedElsewhere(mp)
}

// byHand changes something in the cloud behind the engine's back. What is not ours is left to its owner.
func (w *World) byHand(e Event) error {
	switch e.What {
	case HandOwn:
		w.own()
		return nil
	case HandForeign:
		w.foreign(e.N)
		return nil
	case HandDropForeign:
		w.own()
		w.dropForeign()
		return nil
	}
	if w.scenario.Managed {
		return w.toManaged(e)
	}
	if w.scenario.onAKS() {
		return w.toAgents(e)
	}
	if w.scenario.onAzure() {
		return w.toScaleSet(e)
	}
	name := w.owner().ResourceName()
	if g := w.account.find(name); g != nil && g.Tags[tagOwner] == w.owner().ID {
		return w.toGroup(g, e)
	}
	return nil
}

// toGroup changes something of our group.
func (w *World) toGroup(g *simaws.Group, e Event) error {
	if e.What == HandResize || e.What == HandBounds {
		w.account.moved = time.Now()
	}
	switch e.What {
	case HandTerminate, HandFail, HandInterrupt, HandUnhealthy:
		return w.strikeDown(g, e)
	case HandResize:
		return w.sized(g, e.N)
	case Autoscaler:
		if !w.external() {
			return nil
		}
		w.account.autoscaled = append(w.account.autoscaled, autoscaled{until: time.Now(), size: g.Desired})
		return w.sized(g, e.N)
	case HandDropTemplate:
		return w.account.aws.DropTemplate(w.templateName())
	case HandDropVersion, HandDefault:
		w.account.rewritten = time.Now()
		return w.toVersion(e)
	default:
		return w.account.hand(func(ctx context.Context) error { return w.meddle(ctx, g.Name, e) })
	}
}

// toVersion does something to a version of our template that is not the default.
func (w *World) toVersion(e Event) error {
	for _, t := range w.account.snapshot().Templates {
		others := slices.DeleteFunc(t.Versions, func(v oracle.Version) bool { return v.Default })
		if t.Owner != w.owner().ID || len(others) == 0 {
			continue
		}
		number := strconv.FormatInt(others[e.N%len(others)].Number, 10)
		return w.account.hand(func(ctx context.Context) error {
			if e.What == HandDefault {
				_, err := w.account.byHandEC2.ModifyLaunchTemplate(ctx, &ec2.ModifyLaunchTemplateInput{LaunchTemplateId: &t.ID, DefaultVersion: &number})
				return err
			}
			_, err := w.account.byHandEC2.DeleteLaunchTemplateVersions(ctx, &ec2.DeleteLaunchTemplateVersionsInput{LaunchTemplateId: &t.ID, Versions: []string{number}})
			return err
		})
	}
	return nil
}

// strikeDown terminates one of the group's instances, or lets it fail.
func (w *World) strikeDown(g *simaws.Group, e Event) error {
	var living []string
	for _, m := range g.Members {
		living = append(living, m.Instance)
	}
	if len(living) == 0 {
		return nil
	}
	slices.Sort(living)
	id := living[e.N%len(living)]
	switch e.What {
	case HandFail:
		return w.account.aws.Fail(id)
	case HandInterrupt:
		return w.account.aws.Interrupt(id)
	case HandUnhealthy:
		return w.account.hand(func(ctx context.Context) error {
			_, err := w.account.byHand.SetInstanceHealth(ctx, &autoscaling.SetInstanceHealthInput{
				InstanceId: &id, HealthStatus: awssdk.String("Unhealthy"), ShouldRespectGracePeriod: awssdk.Bool(false),
			})
			return err
		})
	}
	return w.account.aws.Terminate(id)
}

// sized sets the group's size within its bounds, as the autoscaler and people do.
func (w *World) sized(g *simaws.Group, n int) error {
	size := int32(min(max(n, g.Min), g.Max))
	return w.account.hand(func(ctx context.Context) error {
		_, err := w.account.byHand.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: &g.Name, DesiredCapacity: &size})
		return err
	})
}

// meddle is a change by hand that takes a call.
func (w *World) meddle(ctx context.Context, name string, e Event) error {
	c := w.account.byHand
	tag := func(key, value string) error {
		_, err := c.CreateOrUpdateTags(ctx, &autoscaling.CreateOrUpdateTagsInput{Tags: []asgtypes.Tag{{
			ResourceId: &name, ResourceType: awssdk.String("auto-scaling-group"), Key: &key, Value: &value, PropagateAtLaunch: awssdk.Bool(true),
		}}})
		return err
	}
	var err error
	switch e.What {
	case HandTags:
		key := []string{"team", "stage", "muster.dev/cluster"}[e.N%3]
		if g := w.account.find(name); g == nil || g.Tags[key] == "" {
			key = "theirs" // what others put there stays there, whatever its name
		}
		err = tag(key, "changed by hand")
	case HandDisown:
		w.account.disowned = time.Now()
		err = tag(tagOwner, thief)
	case HandOwn:
		err = tag(tagOwner, w.owner().ID)
	case HandDropGroup:
		_, err = c.DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: &name, ForceDelete: awssdk.Bool(true)})
	case HandRefresh:
		_, err = c.StartInstanceRefresh(ctx, &autoscaling.StartInstanceRefreshInput{AutoScalingGroupName: &name, Preferences: &asgtypes.RefreshPreferences{
			MinHealthyPercentage: awssdk.Int32(50), InstanceWarmup: awssdk.Int32(10), StandbyInstances: asgtypes.StandbyInstancesIgnore,
		}})
	case HandCancel:
		_, err = c.CancelInstanceRefresh(ctx, &autoscaling.CancelInstanceRefreshInput{AutoScalingGroupName: &name})
	case HandBounds:
		least := int32(e.N % 3)
		most := least + 1 + int32(e.M)
		_, err = c.UpdateAutoScalingGroup(ctx, &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: &name, MinSize: &least, MaxSize: &most})
	}
	return err
}

// thief is the owner ID of groups whose owner tag a user has changed.
const thief = "another-owner"

// own gives the group back that was taken from us. When the object is gone it stays with whom it was given: we let go of it.
func (w *World) own() {
	name := w.owner().ResourceName()
	if _, o := w.objects(w.user); o == nil {
		return
	}
	if w.scenario.Managed {
		w.ownManaged()
		return
	}
	if w.scenario.onAKS() {
		w.ownAgents()
		return
	}
	if w.scenario.onAzure() {
		w.ownScaleSet()
		return
	}
	if g := w.account.find(name); g != nil && g.Tags[tagOwner] == thief {
		_ = w.account.hand(func(ctx context.Context) error { return w.meddle(ctx, name, Event{What: HandOwn}) })
		w.account.owned = time.Now()
	}
}

// The names of what other people have in the account.
const theirTemplate, theirGroup = "by-hand", "by-hand"

// foreign makes a template and a group of another owner: beside the pool's, under the pool's name before it has one, or both.
func (w *World) foreign(n int) {
	if w.scenario.onAKS() {
		return // it is there before the control plane is ready
	}
	if w.scenario.onAzure() {
		w.foreignScaleSets(n)
		return
	}
	if w.scenario.Managed {
		w.foreignNodegroup()
		return
	}
	names := [][]string{{theirGroup}, {w.owner().ResourceName()}, {theirGroup, w.owner().ResourceName()}}[n]
	err := w.account.hand(func(ctx context.Context) error {
		_, err := w.account.byHandEC2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
			LaunchTemplateName: awssdk.String(theirTemplate),
			LaunchTemplateData: &ec2types.RequestLaunchTemplateData{InstanceType: simaws.InstanceType, ImageId: awssdk.String(w.image())},
		})
		return err
	})
	for _, name := range names {
		if err == nil {
			err = w.account.hand(func(ctx context.Context) error { return w.theirs(ctx, name) })
		}
	}
	if err != nil {
		w.trace.add("hand", "failed: %v", err)
	}
}

func (w *World) theirs(ctx context.Context, name string) error {
	_, err := w.account.byHand.CreateAutoScalingGroup(ctx, &autoscaling.CreateAutoScalingGroupInput{
		AutoScalingGroupName: &name, MinSize: awssdk.Int32(0), MaxSize: awssdk.Int32(1), DesiredCapacity: awssdk.Int32(1),
		VPCZoneIdentifier: awssdk.String(simaws.SubnetID),
		LaunchTemplate:    &asgtypes.LaunchTemplateSpecification{LaunchTemplateName: awssdk.String(theirTemplate), Version: awssdk.String("$Latest")},
	})
	return err
}

// image is one that exists.
func (w *World) image() string {
	var id string
	_ = w.account.hand(func(ctx context.Context) error {
		found, err := w.account.byHandEC2.DescribeImages(ctx, &ec2.DescribeImagesInput{Filters: []ec2types.Filter{
			{Name: awssdk.String("name"), Values: []string{"capa-ami-ubuntu-24.04-v1.25.0-*"}},
			{Name: awssdk.String("architecture"), Values: []string{"x86_64"}},
		}})
		if err == nil && len(found.Images) == 0 {
			err = fmt.Errorf("there is no image")
		}
		if err == nil {
			id = *found.Images[0].ImageId
		}
		return err
	})
	return id
}

// dropForeign deletes the group of another owner that has the pool's name.
func (w *World) dropForeign() {
	if w.scenario.Adopted {
		return // what is not the pool's yet is the group that it adopts
	}
	if w.scenario.onAKS() {
		w.dropForeignAgents()
		return
	}
	if w.scenario.onAzure() {
		w.dropForeignScaleSet()
		return
	}
	if w.scenario.Managed {
		w.dropForeignNodegroup()
		return
	}
	name := w.owner().ResourceName()
	if w.scenario.Named {
		name = theirGroup
	}
	if g := w.account.find(name); g == nil || g.Tags[tagOwner] == w.owner().ID {
		return
	}
	_ = w.account.hand(func(ctx context.Context) error {
		_, err := w.account.byHand.DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: &name, ForceDelete: awssdk.Bool(true)})
		return err
	})
}
