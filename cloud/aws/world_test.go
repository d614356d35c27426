package aws_test

import (
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	simaws "github.com/muster-project/muster/sim/aws"
)

// nodeImage finds an image for nodes.
var nodeImage = []ec2types.Filter{
	{Name: awssdk.String("name"), Values: []string{"capa-ami-ubuntu-24.04-v1.25.0-*"}},
	{Name: awssdk.String("architecture"), Values: []string{"x86_64"}},
}

// foreignTemplate is a launch template as another tool would make it.
func foreignTemplate(name, image string) *ec2.CreateLaunchTemplateInput {
	return &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: &name,
		LaunchTemplateData: &ec2types.RequestLaunchTemplateData{InstanceType: ec2types.InstanceType(simaws.InstanceType), ImageId: &image},
	}
}

// foreignGroup is a group as another tool would make it, without machines.
func foreignGroup(name string) *autoscaling.CreateAutoScalingGroupInput {
	return &autoscaling.CreateAutoScalingGroupInput{
		AutoScalingGroupName: &name, MinSize: awssdk.Int32(0), MaxSize: awssdk.Int32(1), DesiredCapacity: awssdk.Int32(0),
		VPCZoneIdentifier: awssdk.String(simaws.SubnetID),
		LaunchTemplate:    &asgtypes.LaunchTemplateSpecification{LaunchTemplateName: awssdk.String("by-hand"), Version: awssdk.String("$Latest")},
	}
}
