package aws_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud/cloudtest"
	simaws "github.com/muster-project/muster/sim/aws"
)

// person uses the account with AWS's own tools.
type person struct {
	groups *autoscaling.Client
	ec2    *ec2.Client
}

// hands are what a person can do, in the words of the contract.
func hands(wire http.RoundTripper) cloudtest.Hands {
	settings := config(simaws.Region)
	settings.HTTPClient = &http.Client{Transport: wire}
	p := person{autoscaling.NewFromConfig(settings), ec2.NewFromConfig(settings)}
	return cloudtest.Hands{
		cloudtest.MakeGroup: p.makeGroup, cloudtest.MakeTemplate: p.makeTemplate,
		cloudtest.DeleteGroup: p.deleteGroup, cloudtest.DeleteTemplate: p.deleteTemplate,
		cloudtest.DeleteVersion: p.deleteVersion, cloudtest.MakeVersion: p.makeVersion, cloudtest.LaunchFrom: p.launchFrom,
		cloudtest.SetSize: p.setSize, cloudtest.SetBounds: p.setBounds,
		cloudtest.Untag: p.untag, cloudtest.Retag: p.retag, cloudtest.Resume: p.resume, cloudtest.Unhook: p.unhook,
		cloudtest.Terminate: p.terminate,
	}
}

type thing = cloudtest.Thing

// makeTemplate makes a launch template as another tool would.
func (p person) makeTemplate(ctx context.Context, on thing) error {
	found, err := p.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{Filters: nodeImage})
	if err != nil || len(found.Images) == 0 {
		return fmt.Errorf("find an image: %d found, %w", len(found.Images), err)
	}
	_, err = p.ec2.CreateLaunchTemplate(ctx, foreignTemplate(on.Name, *found.Images[0].ImageId))
	return err
}

// makeGroup makes a group as another tool would, with its template beside it.
func (p person) makeGroup(ctx context.Context, on thing) error {
	if err := p.makeTemplate(ctx, thing{Name: "by-hand"}); err != nil {
		return err
	}
	_, err := p.groups.CreateAutoScalingGroup(ctx, foreignGroup(on.Name))
	return err
}

func (p person) deleteGroup(ctx context.Context, on thing) error {
	_, err := p.groups.DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: &on.Name, ForceDelete: ptr(true)})
	return err
}

func (p person) deleteTemplate(ctx context.Context, on thing) error {
	_, err := p.ec2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: &on.Name})
	return err
}

func (p person) deleteVersion(ctx context.Context, on thing) error {
	id, number, _ := strings.Cut(on.Ref, ":")
	done, err := p.ec2.DeleteLaunchTemplateVersions(ctx, &ec2.DeleteLaunchTemplateVersionsInput{LaunchTemplateId: &id, Versions: []string{number}})
	if err == nil && len(done.SuccessfullyDeletedLaunchTemplateVersions) != 1 {
		return errors.New("the version was not deleted")
	}
	return err
}

func (p person) makeVersion(ctx context.Context, on thing) error {
	_, err := p.ec2.CreateLaunchTemplateVersion(ctx, &ec2.CreateLaunchTemplateVersionInput{
		LaunchTemplateName: &on.Name, SourceVersion: ptr("$Latest"), VersionDescription: ptr("a bigger one"),
		LaunchTemplateData: &ec2types.RequestLaunchTemplateData{InstanceType: "m5.large"},
	})
	return err
}

func (p person) launchFrom(ctx context.Context, on thing) error {
	id, number, _ := strings.Cut(on.Ref, ":")
	_, err := p.groups.UpdateAutoScalingGroup(ctx, &autoscaling.UpdateAutoScalingGroupInput{
		AutoScalingGroupName: &on.Name, LaunchTemplate: &asgtypes.LaunchTemplateSpecification{LaunchTemplateId: &id, Version: &number},
	})
	return err
}

func (p person) setSize(ctx context.Context, on thing) error {
	_, err := p.groups.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: &on.Name, DesiredCapacity: ptr(int32(on.Size))})
	return err
}

func (p person) setBounds(ctx context.Context, on thing) error {
	_, err := p.groups.UpdateAutoScalingGroup(ctx, &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: &on.Name, MaxSize: ptr(int32(on.Size))})
	return err
}

// tagged is one tag of a group.
func tagged(group, key, value string) []asgtypes.Tag {
	return []asgtypes.Tag{{ResourceId: &group, ResourceType: ptr("auto-scaling-group"), Key: &key, Value: &value, PropagateAtLaunch: ptr(true)}}
}

func (p person) untag(ctx context.Context, on thing) error {
	_, err := p.groups.DeleteTags(ctx, &autoscaling.DeleteTagsInput{Tags: tagged(on.Name, "stage", "")})
	return err
}

func (p person) retag(ctx context.Context, on thing) error {
	_, err := p.groups.CreateOrUpdateTags(ctx, &autoscaling.CreateOrUpdateTagsInput{Tags: tagged(on.Name, "muster.dev/cluster", "theirs")})
	return err
}

func (p person) resume(ctx context.Context, on thing) error {
	_, err := p.groups.ResumeProcesses(ctx, &autoscaling.ResumeProcessesInput{AutoScalingGroupName: &on.Name})
	return err
}

func (p person) unhook(ctx context.Context, on thing) error {
	found, err := p.groups.DescribeLifecycleHooks(ctx, &autoscaling.DescribeLifecycleHooksInput{AutoScalingGroupName: &on.Name})
	if err != nil || len(found.LifecycleHooks) == 0 {
		return fmt.Errorf("find hooks: %d found, %w", len(found.LifecycleHooks), err)
	}
	for _, h := range found.LifecycleHooks {
		_, err = p.groups.DeleteLifecycleHook(ctx, &autoscaling.DeleteLifecycleHookInput{AutoScalingGroupName: &on.Name, LifecycleHookName: h.LifecycleHookName})
	}
	return err
}

func (p person) terminate(ctx context.Context, on thing) error {
	_, err := p.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{on.Instance}})
	return err
}
