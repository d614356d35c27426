package world

import (
	"context"
	"maps"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	simaws "github.com/muster-project/muster/sim/aws"
)

// ec2Tags are tags as EC2 is sent them, in order.
func ec2Tags(tags map[string]string) []ec2types.Tag {
	var list []ec2types.Tag
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, ec2types.Tag{Key: awssdk.String(key), Value: awssdk.String(tags[key])})
	}
	return list
}

// theirTemplateData is what the ecosystem's provider makes machines of: what the pool asks for at first. The templates of node groups leave
// image and security groups to EKS.
func (w *World) theirTemplateData(kind, name string) *ec2types.RequestLaunchTemplateData {
	data := &ec2types.RequestLaunchTemplateData{
		InstanceType: ec2types.InstanceType(kind), KeyName: awssdk.String(simaws.KeyName), UserData: awssdk.String(w.theirData()),
		TagSpecifications: []ec2types.LaunchTemplateTagSpecificationRequest{
			{ResourceType: ec2types.ResourceTypeInstance, Tags: ec2Tags(theirTags(name))}, {ResourceType: ec2types.ResourceTypeVolume, Tags: ec2Tags(theirTags(name))},
		},
	}
	if !w.scenario.Managed {
		data.ImageId = awssdk.String(w.image())
		data.SecurityGroupIds = []string{simaws.DefaultAccount().Network.NodeSecurityGroupID}
	}
	return data
}

// makeTemplateForAnother makes a launch template of two versions, of which the second is in use and the first, as the ecosystem's provider
// leaves it, is the default. It returns the template's ID.
func (w *World) makeTemplateForAnother() string {
	id, name := "", adoptedTemplate
	w.must(w.account.hand(func(ctx context.Context) error {
		made, err := w.account.byHandEC2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
			LaunchTemplateName: &name, LaunchTemplateData: w.theirTemplateData("m5.xlarge", name),
			TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeLaunchTemplate, Tags: ec2Tags(theirTags(name))}},
		})
		if err == nil {
			id = *made.LaunchTemplate.LaunchTemplateId
		}
		return err
	}), "make a launch template for another provider")
	w.must(w.account.hand(func(ctx context.Context) error {
		_, err := w.account.byHandEC2.CreateLaunchTemplateVersion(ctx, &ec2.CreateLaunchTemplateVersionInput{
			LaunchTemplateId: &id, LaunchTemplateData: w.theirTemplateData(simaws.InstanceType, name),
		})
		return err
	}), "make a version of it")
	return id
}

// makeAutoScalingGroupForAnother makes a group that launches from $Latest and whose tags are not passed on to instances.
func (w *World) makeAutoScalingGroupForAnother() string {
	name, template, s := adoptedGroup, w.makeTemplateForAnother(), w.scenario
	var tags []asgtypes.Tag
	for _, t := range ec2Tags(theirTags(name)) {
		tags = append(tags, asgtypes.Tag{Key: t.Key, Value: t.Value, PropagateAtLaunch: awssdk.Bool(false), ResourceId: &name, ResourceType: awssdk.String("auto-scaling-group")})
	}
	arn := ""
	w.must(w.account.hand(func(ctx context.Context) error {
		_, err := w.account.byHand.CreateAutoScalingGroup(ctx, &autoscaling.CreateAutoScalingGroupInput{
			AutoScalingGroupName: &name, MinSize: awssdk.Int32(int32(s.Least)), MaxSize: awssdk.Int32(int32(s.Most)), DesiredCapacity: awssdk.Int32(int32(s.Replicas)),
			VPCZoneIdentifier: awssdk.String(strings.Join(privateSubnets(), ",")), Tags: tags,
			LaunchTemplate: &asgtypes.LaunchTemplateSpecification{LaunchTemplateId: &template, Version: awssdk.String("$Latest")},
		})
		return err
	}), "make a group for another provider")
	w.must(w.account.hand(func(ctx context.Context) error {
		found, err := w.account.byHand.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{name}})
		if err == nil {
			arn = *found.AutoScalingGroups[0].AutoScalingGroupARN
		}
		return err
	}), "read the group of another provider")
	return arn
}

// makeNodegroupForAnother makes a node group, with a launch template where the pool has one.
func (w *World) makeNodegroupForAnother() string {
	s := w.scenario
	tags := theirTags(adoptedNodegroup)
	input := &eks.CreateNodegroupInput{
		ClusterName: awssdk.String(eksCluster), NodegroupName: awssdk.String(adoptedNodegroup), Subnets: privateSubnets(), Tags: tags,
		NodeRole: awssdk.String("arn:aws:iam::" + simaws.AccountID + ":role/" + simaws.NodegroupRole), Labels: map[string]string{"tier": "a"},
		ScalingConfig: &ekstypes.NodegroupScalingConfig{
			MinSize: awssdk.Int32(int32(s.Least)), MaxSize: awssdk.Int32(int32(s.Most)), DesiredSize: awssdk.Int32(int32(s.Replicas)),
		},
	}
	if s.Bare {
		input.InstanceTypes = []string{simaws.InstanceType}
	} else {
		input.LaunchTemplate = &ekstypes.LaunchTemplateSpecification{Id: awssdk.String(w.makeTemplateForAnother()), Version: awssdk.String("2")}
	}
	arn := ""
	w.must(w.account.hand(func(ctx context.Context) error {
		made, err := w.account.byHandEKS.CreateNodegroup(ctx, input)
		if err == nil {
			arn = *made.Nodegroup.NodegroupArn
		}
		return err
	}), "make a node group for another provider")
	return arn
}
