package asg

import (
	"context"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/test/explore/kinds/aws"
	"github.com/muster-project/muster/test/explore/world"
)

// want is what the objects ask for, in words that nothing of the driver was used for.
func (p *pool) want(mp *clusterv1.MachinePool, o client.Object) map[string]string {
	s := &object(o).Spec
	want := map[string]string{
		"group": "1", "min": world.Itoa(&s.MinSize), "max": world.Itoa(&s.MaxSize), "cooldown": "300", "warmup": "300",
		"rebalance": strconv.FormatBool(s.CapacityRebalance), "type": s.AWSLaunchTemplate.InstanceType,
		"data":  p.World.Workload.Tokens.DataPrint(p.World.Objects.Bootstrap()),
		"owner": p.World.Objects.Owner().ID, "team": s.AdditionalTags["team"], "stage": s.AdditionalTags["stage"], "cluster": world.ClusterName,
		"suspended": strings.Join(s.SuspendProcesses.Suspended(), ","), "cordoned": "0", "templates": "1",
		"stale": "0", "old": "0", "aside": "0", "root": "0", "spare versions": "0", "default": "in use",
		"mixed": strconv.FormatBool(s.MixedInstancesPolicy != nil), "ready": "True", "pool": "Running",
	}
	p.wantVersions(o, want)
	size := world.Itoa(ptr.To(ptr.Deref(mp.Spec.Replicas, 1)))
	for _, name := range []string{"size", "in service", "joined", "ready nodes", "pool ready nodes", "pool replicas"} {
		want[name] = size // a size that an autoscaler owns is in spec.replicas by now
	}
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

// wantVersions says what is wanted of the launch template's versions.
func (p *pool) wantVersions(o client.Object, want map[string]string) {
	if e := object(o).Spec.AWSLaunchTemplate.Existing; e != nil {
		// The user who made the template decides what is in it.
		want["type"], want["templates"] = aws.BroughtTypes[e.Version-1], "0"
		for _, ours := range []string{"data", "spare versions", "default"} {
			delete(want, ours)
		}
	}
	if !rolls(o) || p.World.Scenario.SkipModel {
		delete(want, "default") // what machines run from that are never replaced may stay the default
	}
}

// is says what there is, asked for as any client would.
func (p *pool) is() map[string]string {
	ctx, name := context.Background(), p.World.Objects.Owner().ResourceName()
	is := map[string]string{"group": "0"}
	found, err := p.Groups.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{name}})
	if err != nil || len(found.AutoScalingGroups) != 1 {
		return is
	}
	g := found.AutoScalingGroups[0]
	is["group"], is["size"], is["min"], is["max"] = "1", world.Itoa(g.DesiredCapacity), world.Itoa(g.MinSize), world.Itoa(g.MaxSize)
	is["cooldown"], is["warmup"], is["rebalance"] = world.Itoa(g.DefaultCooldown), world.Itoa(g.DefaultInstanceWarmup),
		strconv.FormatBool(g.CapacityRebalance != nil && *g.CapacityRebalance)
	is["zones"] = strings.Join(slices.Sorted(slices.Values(g.AvailabilityZones)), ",")
	for _, t := range g.Tags {
		is[map[string]string{aws.TagOwner: "owner", "muster.dev/cluster": "cluster"}[*t.Key]] = *t.Value
		if *t.Key == "team" || *t.Key == "stage" {
			is[*t.Key] = *t.Value
		}
	}
	var suspended []string
	for _, p := range g.SuspendedProcesses {
		suspended = append(suspended, *p.ProcessName)
	}
	is["suspended"] = strings.Join(suspended, ",")
	inService := 0
	for _, i := range g.Instances {
		if i.LifecycleState == asgtypes.LifecycleStateInService {
			inService++
		}
	}
	stale, old := p.World.Rollout.Left()
	is["stale"], is["old"], is["aside"] = strconv.Itoa(stale), strconv.Itoa(old), strconv.Itoa(standing(g))
	joined, cordoned := p.World.Workload.Counts()
	is["in service"], is["joined"], is["cordoned"] = strconv.Itoa(inService), strconv.Itoa(joined), strconv.Itoa(cordoned)
	p.isTemplate(ctx, g, is)
	p.isHooks(ctx, name, is)
	p.World.Objects.Told(is)
	return is
}

// standing are how many instances are in standby.
func standing(g asgtypes.AutoScalingGroup) int {
	n := 0
	for _, i := range g.Instances {
		if i.LifecycleState == asgtypes.LifecycleStateStandby {
			n++
		}
	}
	return n
}

// isTemplate says what new machines are launched from.
func (p *pool) isTemplate(ctx context.Context, g asgtypes.AutoScalingGroup, is map[string]string) {
	from := g.LaunchTemplate
	is["mixed"] = strconv.FormatBool(g.MixedInstancesPolicy != nil)
	if g.MixedInstancesPolicy != nil {
		from = g.MixedInstancesPolicy.LaunchTemplate.LaunchTemplateSpecification
	}
	templates := 0
	for _, t := range p.State().Templates {
		if t.Tags[aws.TagOwner] == p.World.Objects.Owner().ID {
			templates++
		}
	}
	is["templates"], is["root"] = strconv.Itoa(templates), "0"
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

// unjoined reports whether a machine is still to join.
func (p *pool) unjoined() bool {
	members := 0
	if g := p.Find(p.World.Objects.Owner().ResourceName()); g != nil {
		members = len(g.Members)
	}
	joined, _ := p.World.Workload.Counts()
	return joined < members
}
