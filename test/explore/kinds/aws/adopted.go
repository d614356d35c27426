package aws

import (
	"context"
	"encoding/base64"
	"maps"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/world"
)

// TemplateName returns the name of the pool's launch template.
func (a *Account) TemplateName() string {
	for _, t := range a.World.Snapshot().Templates {
		if t.Owner == a.World.Objects.Owner().ID {
			return t.Name
		}
	}
	return a.World.Objects.Owner().ResourceName()
}

// theirData returns the bootstrap data with which another provider has made machines, in base64.
func (a *Account) theirData() string {
	return base64.StdEncoding.EncodeToString([]byte(a.World.Scenario.Boots(a.World.Workload.Tokens.Last())))
}

// TheirTags returns the tags of the AWS provider of the ecosystem.
func TheirTags(name string) map[string]string {
	return map[string]string{
		"Name": name, "sigs.k8s.io/cluster-api-provider-aws/cluster/" + world.ClusterName: "owned",
		"sigs.k8s.io/cluster-api-provider-aws/role":  "node",
		"kubernetes.io/cluster/" + world.ClusterName: "owned", "team": "a",
	}
}

// PrivateSubnets returns the subnets that the ecosystem's provider puts machines into.
func PrivateSubnets() []string {
	var ids []string
	for _, s := range simaws.DefaultAccount().Network.Subnets {
		if !s.Public {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// TagsOfEC2 are tags as EC2 is sent them, in order.
func TagsOfEC2(tags map[string]string) []ec2types.Tag {
	var list []ec2types.Tag
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, ec2types.Tag{Key: awssdk.String(key), Value: awssdk.String(tags[key])})
	}
	return list
}

// theirTemplateData returns the data of a launch template of the ecosystem's provider, equal to the specification that the pool begins
// with. The templates of node groups leave image and security groups to EKS.
func (a *Account) theirTemplateData(kind, name string, own bool) *ec2types.RequestLaunchTemplateData {
	data := &ec2types.RequestLaunchTemplateData{
		InstanceType: ec2types.InstanceType(kind), KeyName: awssdk.String(simaws.KeyName), UserData: awssdk.String(a.theirData()),
		TagSpecifications: []ec2types.LaunchTemplateTagSpecificationRequest{
			{ResourceType: ec2types.ResourceTypeInstance, Tags: TagsOfEC2(TheirTags(name))},
			{ResourceType: ec2types.ResourceTypeVolume, Tags: TagsOfEC2(TheirTags(name))},
		},
	}
	if own {
		data.ImageId = awssdk.String(a.Image())
		data.SecurityGroupIds = []string{simaws.DefaultAccount().Network.NodeSecurityGroupID}
	}
	return data
}

// MakeTemplateForAnother makes a launch template of two versions, of which the second is in use and the first, as the ecosystem's provider
// leaves it, is the default. It returns the template's ID.
func (a *Account) MakeTemplateForAnother(own bool) string {
	id, name := "", theirTemplate
	a.World.Must(a.World.RetryAsUser(func(ctx context.Context) error {
		made, err := a.EC2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
			LaunchTemplateName: &name, LaunchTemplateData: a.theirTemplateData("m5.xlarge", name, own),
			TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeLaunchTemplate, Tags: TagsOfEC2(TheirTags(name))}},
		})
		if err == nil {
			id = *made.LaunchTemplate.LaunchTemplateId
		}
		return err
	}), "make a launch template for another provider")
	a.World.Must(a.World.RetryAsUser(func(ctx context.Context) error {
		_, err := a.EC2.CreateLaunchTemplateVersion(ctx, &ec2.CreateLaunchTemplateVersionInput{
			LaunchTemplateId: &id, LaunchTemplateData: a.theirTemplateData(simaws.InstanceType, name, own),
		})
		return err
	}), "make a version of it")
	return id
}

// theirTemplate is the name of the launch template that another provider has made.
const theirTemplate = "workers-template"
