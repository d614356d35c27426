package asg

import (
	"context"
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/kinds/aws"
	"github.com/muster-project/muster/test/explore/world"
)

// want returns the state that the objects ask for. It shares no code with the driver.
func (p *pool) want(mp *clusterv1.MachinePool, o client.Object) map[string]string {
	s := &object(o).Spec
	want := p.World.Group.Want(mp, s.AdditionalTags)
	maps.Copy(want, map[string]string{
		"min": world.Itoa(&s.MinSize), "max": world.Itoa(&s.MaxSize), "cooldown": "300", "warmup": "300",
		"rebalance": strconv.FormatBool(s.CapacityRebalance), "type": s.AWSLaunchTemplate.InstanceType,
		"data":      p.World.Workload.Tokens.DataPrint(p.World.Objects.Bootstrap()),
		"suspended": strings.Join(s.SuspendProcesses.Suspended(), ","), "templates": "1", "aside": "0", "root": "0", "spare versions": "0",
		"default": "in use", "mixed": strconv.FormatBool(s.MixedInstancesPolicy != nil),
	})
	p.wantVersions(o, want)
	if s.DefaultCoolDown != nil {
		want["cooldown"] = strconv.Itoa(int(s.DefaultCoolDown.Seconds()))
	}
	if s.DefaultInstanceWarmup != nil {
		want["warmup"] = strconv.Itoa(int(s.DefaultInstanceWarmup.Seconds()))
	}
	if v := s.AWSLaunchTemplate.RootVolume; v != nil {
		want["root"] = strconv.Itoa(int(v.Size))
	}
	zones := s.AvailabilityZones
	if zones == nil {
		zones = []string{"eu-west-1a", "eu-west-1b", "eu-west-1c"}
	}
	want["zones"] = strings.Join(zones, ",")
	hooks := []string{"muster-drain=1800"} // the hook by which nodes are drained, which every group has
	for _, h := range s.AWSLifecycleHooks {
		hooks = append(hooks, h.Name+"="+strconv.Itoa(int(h.HeartbeatTimeout.Seconds())))
	}
	want["hooks"] = strings.Join(slices.Sorted(slices.Values(hooks)), ",")
	return want
}

// wantVersions adds the wanted versions of the launch template.
func (p *pool) wantVersions(o client.Object, want map[string]string) {
	if e := object(o).Spec.AWSLaunchTemplate.Existing; e != nil {
		// The user who created the template decides its content.
		want["type"], want["templates"] = aws.BroughtTypes[e.Version-1], "0"
		for _, ours := range []string{"data", "spare versions", "default"} {
			delete(want, ours)
		}
	}
	if !rolls(o) || p.World.Scenario.SkipModel {
		delete(want, "default") // what machines run from that are never replaced may stay the default
	}
}

// is returns the state of the group.
func (p *pool) is() map[string]string {
	return p.World.Group.Is(func(m sim.Member) bool { return m.State == string(asgtypes.LifecycleStateInService) }, p.shown())
}

// shown returns the facts that only an Auto Scaling group has in the cloud.
func (p *pool) shown() map[string]string {
	ctx, name := context.Background(), p.World.Group.Name()
	is := map[string]string{}
	found, err := p.Groups.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{name}})
	if err != nil || len(found.AutoScalingGroups) != 1 {
		return is
	}
	g := found.AutoScalingGroups[0]
	is["cooldown"], is["warmup"], is["rebalance"] = world.Itoa(g.DefaultCooldown), world.Itoa(g.DefaultInstanceWarmup),
		strconv.FormatBool(g.CapacityRebalance != nil && *g.CapacityRebalance)
	is["zones"] = strings.Join(slices.Sorted(slices.Values(g.AvailabilityZones)), ",")
	var suspended []string
	for _, p := range g.SuspendedProcesses {
		suspended = append(suspended, *p.ProcessName)
	}
	is["suspended"] = strings.Join(suspended, ",")
	aside := 0
	for _, i := range g.Instances {
		if i.LifecycleState == asgtypes.LifecycleStateStandby {
			aside++
		}
	}
	is["aside"] = strconv.Itoa(aside)
	p.isTemplate(ctx, g, is)
	p.isHooks(ctx, name, is)
	return is
}

// isTemplate adds the template of new machines.
func (p *pool) isTemplate(ctx context.Context, g asgtypes.AutoScalingGroup, is map[string]string) {
	from := g.LaunchTemplate
	is["mixed"] = strconv.FormatBool(g.MixedInstancesPolicy != nil)
	if g.MixedInstancesPolicy != nil {
		from = g.MixedInstancesPolicy.LaunchTemplate.LaunchTemplateSpecification
	}
	is["root"] = "0"
	if _, o := p.World.Objects.Both(); o != nil {
		p.History(object(o).Spec.AWSLaunchTemplate.Keep(), is)
	}
	found, err := p.EC2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{
		LaunchTemplateId: from.LaunchTemplateId, Versions: []string{*from.Version},
	})
	if err != nil || len(found.LaunchTemplateVersions) != 1 {
		return
	}
	data := found.LaunchTemplateVersions[0].LaunchTemplateData
	is["type"] = string(data.InstanceType)
	for _, v := range data.BlockDeviceMappings {
		is["root"] = world.Itoa(v.Ebs.VolumeSize)
	}
	if text, err := base64.StdEncoding.DecodeString(deref(data.UserData)); err == nil {
		is["data"] = p.World.Workload.Tokens.DataPrint(text)
	}
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func (p *pool) isHooks(ctx context.Context, name string, is map[string]string) {
	found, err := p.Groups.DescribeLifecycleHooks(ctx, &autoscaling.DescribeLifecycleHooksInput{AutoScalingGroupName: &name})
	if err != nil {
		return
	}
	var hooks []string
	for _, h := range found.LifecycleHooks {
		hooks = append(hooks, *h.LifecycleHookName+"="+world.Itoa(h.HeartbeatTimeout))
	}
	is["hooks"] = strings.Join(slices.Sorted(slices.Values(hooks)), ",")
}
