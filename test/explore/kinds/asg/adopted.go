package asg

import (
	"context"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/test/explore/kinds/aws"
)

// forAnother makes a group that launches from $Latest and whose tags are not passed on to instances.
func (p *pool) forAnother() string {
	name, template, s := adoptedGroup, p.MakeTemplateForAnother(true), p.World.Scenario
	var tags []asgtypes.Tag
	for _, t := range aws.TagsOfEC2(aws.TheirTags(name)) {
		tags = append(tags, asgtypes.Tag{Key: t.Key, Value: t.Value, PropagateAtLaunch: awssdk.Bool(false), ResourceId: &name,
			ResourceType: awssdk.String("auto-scaling-group")})
	}
	arn := ""
	p.World.Must(p.World.RetryAsUser(func(ctx context.Context) error {
		_, err := p.Groups.CreateAutoScalingGroup(ctx, &autoscaling.CreateAutoScalingGroupInput{
			AutoScalingGroupName: &name, MinSize: awssdk.Int32(int32(s.Least)), MaxSize: awssdk.Int32(int32(s.Most)),
			DesiredCapacity:   awssdk.Int32(int32(s.Replicas)),
			VPCZoneIdentifier: awssdk.String(strings.Join(aws.PrivateSubnets(), ",")), Tags: tags,
			LaunchTemplate: &asgtypes.LaunchTemplateSpecification{LaunchTemplateId: &template, Version: awssdk.String("$Latest")},
		})
		return err
	}), "make a group for another provider")
	p.World.Must(p.World.RetryAsUser(func(ctx context.Context) error {
		found, err := p.Groups.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{name}})
		if err == nil {
			arn = *found.AutoScalingGroups[0].AutoScalingGroupARN
		}
		return err
	}), "read the group of another provider")
	return arn
}

// adoptedGroup is the name of what another provider has made for a pool that is to be adopted.
const adoptedGroup = "workers"
