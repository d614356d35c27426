package world

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/oracle"
)

// is says what there is, asked for as anybody would.
func (w *World) is() map[string]string {
	if w.scenario.Managed {
		return w.isManaged()
	}
	if w.scenario.InAzure() {
		return w.isAzure()
	}
	ctx, name := context.Background(), w.owner().ResourceName()
	is := map[string]string{"group": "0"}
	found, err := w.account.byHand.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{name}})
	if err != nil || len(found.AutoScalingGroups) != 1 {
		return is
	}
	g := found.AutoScalingGroups[0]
	is["group"], is["size"], is["min"], is["max"] = "1", itoa(g.DesiredCapacity), itoa(g.MinSize), itoa(g.MaxSize)
	is["cooldown"], is["warmup"], is["rebalance"] = itoa(g.DefaultCooldown), itoa(g.DefaultInstanceWarmup), strconv.FormatBool(g.CapacityRebalance != nil && *g.CapacityRebalance)
	is["zones"] = strings.Join(slices.Sorted(slices.Values(g.AvailabilityZones)), ",")
	for _, t := range g.Tags {
		is[map[string]string{tagOwner: "owner", "muster.dev/cluster": "cluster"}[*t.Key]] = *t.Value
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
	stale, old := w.left()
	is["stale"], is["old"], is["aside"] = strconv.Itoa(stale), strconv.Itoa(old), strconv.Itoa(standing(g))
	joined, cordoned := w.workload.counts()
	is["in service"], is["joined"], is["cordoned"] = strconv.Itoa(inService), strconv.Itoa(joined), strconv.Itoa(cordoned)
	w.isTemplate(ctx, g, is)
	w.isHooks(ctx, name, is)
	w.told(is)
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

func itoa(n *int32) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(int(*n))
}

// isTemplate says what new machines are launched from.
func (w *World) isTemplate(ctx context.Context, g asgtypes.AutoScalingGroup, is map[string]string) {
	from := g.LaunchTemplate
	is["mixed"] = strconv.FormatBool(g.MixedInstancesPolicy != nil)
	if g.MixedInstancesPolicy != nil {
		from = g.MixedInstancesPolicy.LaunchTemplate.LaunchTemplateSpecification
	}
	templates := 0
	for _, t := range w.account.aws.State(simaws.AccountID, simaws.Region).Templates {
		if t.Tags[tagOwner] == w.owner().ID {
			templates++
		}
	}
	is["templates"], is["root"] = strconv.Itoa(templates), "0"
	w.isHistory(is)
	found, err := w.account.byHandEC2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{
		LaunchTemplateId: from.LaunchTemplateId, Versions: []string{*from.Version},
	})
	if err != nil || len(found.LaunchTemplateVersions) != 1 {
		return
	}
	data := found.LaunchTemplateVersions[0].LaunchTemplateData
	is["type"] = string(data.InstanceType)
	for _, v := range data.BlockDeviceMappings {
		is["root"] = itoa(v.Ebs.VolumeSize)
	}
	if text, err := base64.StdEncoding.DecodeString(deref(data.UserData)); err == nil {
		is["data"] = w.dataPrint(text)
	}
}

// dataPrint tells bootstrap data apart by all of it but its token, of which it tells whether a machine joins with it.
func (w *World) dataPrint(text []byte) string {
	state := "bad"
	if token := tokenIn.FindSubmatch(text); token != nil && w.workload.good(string(token[1])) {
		state = "good"
	}
	sum := sha256.Sum256(tokenIn.ReplaceAll(text, nil))
	return state + " " + hex.EncodeToString(sum[:])
}

// isHistory says which versions of our template are too many, and whether its default is what machines are launched from.
func (w *World) isHistory(is map[string]string) {
	_, o := w.objects(w.user)
	if o == nil {
		return
	}
	c := w.account.snapshot()
	for _, t := range c.Templates {
		if t.Owner != w.owner().ID {
			continue
		}
		is["spare versions"] = strconv.Itoa(len(t.Spare(c.Groups, o.keep())))
		for _, v := range t.Versions {
			if v.Default {
				is["default"] = fmt.Sprintf("version %d", v.Number)
			}
			if v.Default && slices.ContainsFunc(c.Groups, func(g oracle.Group) bool { return g.Template == t.ID && g.Version == v.Number }) {
				is["default"] = "in use"
			}
		}
	}
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func (w *World) isHooks(ctx context.Context, name string, is map[string]string) {
	found, err := w.account.byHand.DescribeLifecycleHooks(ctx, &autoscaling.DescribeLifecycleHooksInput{AutoScalingGroupName: &name})
	if err != nil {
		return
	}
	var hooks []string
	for _, h := range found.LifecycleHooks {
		hooks = append(hooks, *h.LifecycleHookName+"="+itoa(h.HeartbeatTimeout))
	}
	is["hooks"] = strings.Join(slices.Sorted(slices.Values(hooks)), ",")
}
