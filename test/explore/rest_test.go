package explore

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/oracle"
)

const (
	// restLeast is how long everything is left alone at least: longer than what nobody but us changes is taken as read.
	restLeast = 11 * time.Minute
	// restMost is how long it may take until all is quiet.
	restMost = 2 * time.Hour
	// quietPasses are the passes that must find nothing to do, and say the same.
	quietPasses = 3
)

// peace ends all faults and brings the object into a shape that can be followed.
func (r *run) peace() {
	r.account.calm()
	r.account.crashAt = 0
	r.own()
	r.dropForeign()
	if r.object.bootstrap == "" {
		r.rotate()
	}
	r.object.within()
	r.trace.add("event", "peace: %d replicas, %d..%d", r.object.replicas, r.object.spec.MinSize, r.object.spec.MaxSize)
	r.poked = true
}

// rest waits until several passes in a row have found nothing to do.
func (r *run) rest() {
	r.until(time.Now().Add(restLeast))
	quiet := 0
	for end := time.Now().Add(restMost); time.Now().Before(end) && !r.gone && quiet < quietPasses; {
		r.account.since()
		r.sleep(max(0, time.Until(r.next)))
		r.pass()
		if quiet++; !r.settled || len(r.account.since()) > 0 || r.unjoined() {
			quiet = 0
		}
	}
}

// unjoined says that a machine is still to join.
func (r *run) unjoined() bool {
	g := r.account.find(r.object.owner.ResourceName())
	joined, _ := r.workload.counts()
	return g != nil && joined < len(g.Members) && time.Since(r.trace.began) < r.scenario.ends+restMost/2
}

// settledDown looks at what is there once all is quiet, and at more passes.
func (r *run) settledDown() {
	want, is := r.want(), r.is()
	if size, err := strconv.Atoi(is["size"]); err == nil && r.object.external && size > int(r.object.spec.MaxSize) && strings.Contains(r.said, "MaximumWaits") {
		delete(want, "max") // whoever sizes the group has to lower it first, and is told so
	}
	for _, text := range oracle.AsDesired(want, is) {
		r.account.blame("as desired: " + text)
	}
	var passes []oracle.Pass
	r.account.since()
	r.workload.begun()
	for range quietPasses {
		r.sleep(max(0, time.Until(r.next)))
		r.pass()
		passes = append(passes, oracle.Pass{Writes: append(r.account.since(), r.workload.begun()...), Said: r.said})
	}
	for _, text := range oracle.Quiet(passes) {
		r.account.blame("quiet: " + text)
	}
}

// want is what the object asks for, in words that nothing of the driver was used for.
func (r *run) want() map[string]string {
	o := r.object
	sum := sha256.Sum256([]byte(o.bootstrap))
	want := map[string]string{
		"group": "1", "min": strconv.Itoa(int(o.spec.MinSize)), "max": strconv.Itoa(int(o.spec.MaxSize)), "cooldown": "300", "warmup": "300",
		"rebalance": strconv.FormatBool(o.spec.CapacityRebalance), "type": o.spec.AWSLaunchTemplate.InstanceType, "data": hex.EncodeToString(sum[:]),
		"owner": o.owner.ID, "team": o.spec.AdditionalTags["team"], "stage": o.spec.AdditionalTags["stage"], "cluster": o.owner.Cluster,
		"suspended": strings.Join(o.spec.SuspendProcesses.Suspended(), ","), "cordoned": "0", "templates": "1",
		"root": "0", "mixed": strconv.FormatBool(o.spec.MixedInstancesPolicy != nil),
	}
	if !o.external {
		want["size"], want["in service"], want["joined"] = strconv.Itoa(o.replicas), strconv.Itoa(o.replicas), strconv.Itoa(o.replicas)
	}
	if o.spec.DefaultCoolDown != nil {
		want["cooldown"] = strconv.Itoa(int(o.spec.DefaultCoolDown.Seconds()))
	}
	if o.spec.DefaultInstanceWarmup != nil {
		want["warmup"] = strconv.Itoa(int(o.spec.DefaultInstanceWarmup.Seconds()))
	}
	if v := o.spec.AWSLaunchTemplate.RootVolume; v != nil {
		want["root"] = strconv.Itoa(int(v.Size))
	}
	zones := o.spec.AvailabilityZones
	if zones == nil {
		zones = []string{"eu-west-1a", "eu-west-1b", "eu-west-1c"}
	}
	want["zones"] = strings.Join(zones, ",")
	var hooks []string
	for _, h := range o.spec.AWSLifecycleHooks {
		hooks = append(hooks, h.Name+"="+strconv.Itoa(int(h.HeartbeatTimeout.Seconds())))
	}
	want["hooks"] = strings.Join(slices.Sorted(slices.Values(hooks)), ",")
	return want
}

// is says what there is, asked for as anybody would.
func (r *run) is() map[string]string {
	ctx, name := context.Background(), r.object.owner.ResourceName()
	is := map[string]string{"group": "0"}
	found, err := r.account.byHand.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{name}})
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
	joined, cordoned := r.workload.counts()
	is["in service"], is["joined"], is["cordoned"] = strconv.Itoa(inService), strconv.Itoa(joined), strconv.Itoa(cordoned)
	r.isTemplate(ctx, g, is)
	r.isHooks(ctx, name, is)
	return is
}

func itoa(n *int32) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(int(*n))
}

// isTemplate says what new machines are launched from.
func (r *run) isTemplate(ctx context.Context, g asgtypes.AutoScalingGroup, is map[string]string) {
	from := g.LaunchTemplate
	is["mixed"] = strconv.FormatBool(g.MixedInstancesPolicy != nil)
	if g.MixedInstancesPolicy != nil {
		from = g.MixedInstancesPolicy.LaunchTemplate.LaunchTemplateSpecification
	}
	templates := 0
	for _, t := range r.account.server.State(simaws.AccountID, simaws.Region).Templates {
		if t.Tags[tagOwner] == r.object.owner.ID {
			templates++
		}
	}
	is["templates"], is["root"] = strconv.Itoa(templates), "0"
	found, err := r.account.byHandEC2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{
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
		sum := sha256.Sum256(text)
		is["data"] = hex.EncodeToString(sum[:])
	}
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func (r *run) isHooks(ctx context.Context, name string, is map[string]string) {
	found, err := r.account.byHand.DescribeLifecycleHooks(ctx, &autoscaling.DescribeLifecycleHooksInput{AutoScalingGroupName: &name})
	if err != nil {
		return
	}
	var hooks []string
	for _, h := range found.LifecycleHooks {
		hooks = append(hooks, *h.LifecycleHookName+"="+itoa(h.HeartbeatTimeout))
	}
	is["hooks"] = strings.Join(slices.Sorted(slices.Values(hooks)), ",")
}
