package aws

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
)

// ToVersion changes or deletes a version of the pool's template that is not the default.
func (a *Account) ToVersion(e script.Event) error {
	for _, t := range a.World.Snapshot().Templates {
		others := slices.DeleteFunc(t.Versions, func(v oracle.Version) bool { return v.Default })
		if t.Owner != a.World.Objects.Owner().ID || len(others) == 0 {
			continue
		}
		number := strconv.FormatInt(others[e.N%len(others)].Number, 10)
		return a.World.RetryAsUser(func(ctx context.Context) error {
			if e.What == script.HandDefault {
				_, err := a.EC2.ModifyLaunchTemplate(ctx, &ec2.ModifyLaunchTemplateInput{LaunchTemplateId: &t.ID, DefaultVersion: &number})
				return err
			}
			_, err := a.EC2.DeleteLaunchTemplateVersions(ctx, &ec2.DeleteLaunchTemplateVersionsInput{LaunchTemplateId: &t.ID,
				Versions: []string{number}})
			return err
		})
	}
	return nil
}

// StrikeDown terminates one of the group's instances, or lets it fail.
func (a *Account) StrikeDown(members []sim.Member, e script.Event) error {
	if len(members) == 0 {
		return nil
	}
	ids := make([]string, 0, len(members))
	for _, m := range members {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	id := ids[e.N%len(ids)]
	switch e.What {
	case script.HandFail:
		return a.Server.Fail(id)
	case script.HandInterrupt:
		return a.Server.Interrupt(id)
	case script.HandUnhealthy:
		return a.World.RetryAsUser(func(ctx context.Context) error {
			_, err := a.Groups.SetInstanceHealth(ctx, &autoscaling.SetInstanceHealthInput{
				InstanceId: &id, HealthStatus: awssdk.String("Unhealthy"), ShouldRespectGracePeriod: awssdk.Bool(false),
			})
			return err
		})
	}
	return a.Server.Terminate(id)
}

// Image returns the ID of an existing image.
func (a *Account) Image() string {
	var id string
	_ = a.World.RetryAsUser(func(ctx context.Context) error {
		found, err := a.EC2.DescribeImages(ctx, &ec2.DescribeImagesInput{Filters: []ec2types.Filter{
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
