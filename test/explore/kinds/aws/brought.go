package aws

import (
	"context"
	"encoding/base64"
	"fmt"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	simaws "github.com/muster-project/muster/sim/aws"
)

// broughtTemplate is the name of a launch template that a user keeps for the pool.
const broughtTemplate = "brought"

// BroughtTypes lists the instance types of its versions.
var BroughtTypes = []string{simaws.InstanceType, "c5.large", "m5.large"}

// Bring creates the launch template of a user, with all its versions.
func (a *Account) Bring() {
	script := fmt.Sprintf("#!/bin/sh\nkubeadm join --token %s\n", a.World.Workload.Tokens.Last())
	image := a.Image()
	a.World.Must(a.World.RetryAsUser(func(ctx context.Context) error {
		_, err := a.EC2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
			LaunchTemplateName: awssdk.String(broughtTemplate), LaunchTemplateData: broughtData(0, image, script),
		})
		return err
	}), "make the template that is brought")
	for k := range BroughtTypes[1:] {
		a.World.Must(a.World.RetryAsUser(func(ctx context.Context) error {
			_, err := a.EC2.CreateLaunchTemplateVersion(ctx, &ec2.CreateLaunchTemplateVersionInput{
				LaunchTemplateName: awssdk.String(broughtTemplate), LaunchTemplateData: broughtData(k+1, image, script),
			})
			return err
		}), "make a version of the template that is brought")
	}
}

func broughtData(k int, image, script string) *ec2types.RequestLaunchTemplateData {
	return &ec2types.RequestLaunchTemplateData{
		InstanceType: ec2types.InstanceType(BroughtTypes[k]), ImageId: &image,
		UserData: awssdk.String(base64.StdEncoding.EncodeToString([]byte(script))),
	}
}
