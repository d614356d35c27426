package aws

import (
	"slices"
	"strings"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
)

// The fields of a group that can drift, by the paths that the specification has for them.
const (
	driftMin       = fieldMin
	driftMax       = fieldMax
	driftSubnets   = fieldSubnets
	driftCooldown  = "spec.defaultCoolDown"
	driftWarmup    = "spec.defaultInstanceWarmup"
	driftRebalance = "spec.capacityRebalance"
	driftMixed     = fieldMixed
	driftTags      = "spec.additionalTags"
	driftHooks     = fieldHooks
	driftProcesses = "spec.suspendProcesses"
	// driftKept are protections that Muster set and that outlived their refresh.
	driftKept = "spec.refreshPreferences.scaleInProtectedInstances"
)

// defaultPause is what cooldown and warm-up are when the pool says nothing, in seconds: the ecosystem's default.
const defaultPause = 300

// groupSpec is what the specification asks for of the group, its size and its template aside.
type groupSpec struct {
	min, max         int32
	cooldown, warmup int32
	rebalance        bool
	// subnets is nil while they can't be resolved.
	subnets []string
	// mixed is nil unless the pool has a policy; the template is filled in when it is sent.
	mixed *asgtypes.MixedInstancesPolicy
	// tags are all tags that the group shall have, bookkeeping included.
	tags map[string]string
	// hooks and suspended processes.
	hooks     []asgtypes.LifecycleHookSpecification
	suspended []string
}

func groupSpecOf(t target) groupSpec {
	g := groupSpec{
		min:       t.pool.MinSize,
		max:       t.pool.MaxSize,
		cooldown:  defaultPause,
		warmup:    defaultPause,
		rebalance: t.pool.CapacityRebalance,
		mixed:     mixedPolicy(t.pool.MixedInstancesPolicy),
		tags:      t.tags(),
		hooks:     append(hooks(t.pool.AWSLifecycleHooks), ourHook()),
		suspended: t.pool.SuspendProcesses.Suspended(),
	}
	if d := t.pool.DefaultCoolDown; d != nil {
		g.cooldown = int32(d.Seconds())
	}
	if d := t.pool.DefaultInstanceWarmup; d != nil {
		g.warmup = int32(d.Seconds())
	}
	for key, text := range map[string]string{
		tagOurTags:   session.Marks(t.additionalTags()),
		tagOurHooks:  session.Marks(hookNames(g.hooks)),
		tagSuspended: strings.Join(g.suspended, ","),
	} {
		if text != "" {
			g.tags[key] = text
		}
	}
	return g
}

// drift names what differs between the group and what is asked for, as far as that is known.
func (g groupSpec) drift(is *asgtypes.AutoScalingGroup, existing hooksRead) []string {
	size := session.Deref(is.DesiredCapacity)
	var fields []string
	for _, f := range []struct {
		name   string
		differ bool
	}{
		{driftMin, session.Deref(is.MinSize) != g.min},
		// A maximum below the size would let the cloud choose and kill machines at once: it waits until the surplus has
		// been drained and removed.
		{driftMax, session.Deref(is.MaxSize) != g.max && size <= g.max},
		{driftSubnets, g.subnets != nil && !slices.Equal(g.subnets, subnetsOf(is))},
		{driftCooldown, session.Deref(is.DefaultCooldown) != g.cooldown},
		{driftWarmup, is.DefaultInstanceWarmup == nil || *is.DefaultInstanceWarmup != g.warmup},
		{driftRebalance, session.Deref(is.CapacityRebalance) != g.rebalance},
		{driftMixed, !sameMixed(g.mixed, is.MixedInstancesPolicy)},
		{driftTags, g.tagsDrift(is)},
		{driftHooks, existing.refused == nil && g.hooksDrift(is, existing.list)},
		{driftProcesses, g.processesDrift(is)},
	} {
		if f.differ {
			fields = append(fields, f.name)
		}
	}
	return fields
}

func subnetsOf(is *asgtypes.AutoScalingGroup) []string {
	return session.Unique(strings.FieldsFunc(session.Deref(is.VPCZoneIdentifier), func(r rune) bool { return r == ',' || r == ' ' }))
}

// tagOf is the value of one of the group's tags, empty when it has none.
func tagOf(is *asgtypes.AutoScalingGroup, key string) string {
	for _, t := range is.Tags {
		if session.Deref(t.Key) == key {
			return session.Deref(t.Value)
		}
	}
	return ""
}

// missingTags are wanted tags that the group has not, or not so. The bookkeeping of hooks and processes goes with those.
func (g groupSpec) missingTags(is *asgtypes.AutoScalingGroup) map[string]string {
	missing := map[string]string{}
	for key, want := range g.tags {
		if key == tagOurHooks || key == tagSuspended {
			continue
		}
		found := slices.ContainsFunc(is.Tags, func(t asgtypes.TagDescription) bool {
			return session.Deref(t.Key) == key && session.Deref(t.Value) == want && session.Deref(t.PropagateAtLaunch) == !bookkeeping(key)
		})
		if !found {
			missing[key] = want
		}
	}
	return missing
}

// surplusTags returns the tags that Muster once put on the group and that are no longer wanted.
func (g groupSpec) surplusTags(is *asgtypes.AutoScalingGroup) []string {
	ours := tagOf(is, tagOurTags)
	var surplus []string
	for _, t := range is.Tags {
		key := session.Deref(t.Key)
		if _, wanted := g.tags[key]; !wanted && session.Marked(ours, key) {
			surplus = append(surplus, key)
		}
	}
	if _, wanted := g.tags[tagOurTags]; !wanted && ours != "" {
		surplus = append(surplus, tagOurTags)
	}
	slices.Sort(surplus)
	return surplus
}

func (g groupSpec) tagsDrift(is *asgtypes.AutoScalingGroup) bool {
	return len(g.missingTags(is)) > 0 || len(g.surplusTags(is)) > 0
}

// processes says what is to be suspended, and what we once suspended and is to be resumed. What others suspended stays so.
func (g groupSpec) processes(is *asgtypes.AutoScalingGroup) (suspend, resume []string) {
	actual := asg.Suspended(is)
	for _, name := range g.suspended {
		if !slices.Contains(actual, name) {
			suspend = append(suspend, name)
		}
	}
	for _, name := range splitList(tagOf(is, tagSuspended)) {
		if slices.Contains(actual, name) && !slices.Contains(g.suspended, name) {
			resume = append(resume, name)
		}
	}
	return suspend, resume
}

func (g groupSpec) processesDrift(is *asgtypes.AutoScalingGroup) bool {
	suspend, resume := g.processes(is)
	return len(suspend) > 0 || len(resume) > 0 || tagOf(is, tagSuspended) != g.tags[tagSuspended]
}

func splitList(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

// The defaults of a mixed instances policy, as the service documents them. They are always sent, so that taking a field
// out of the specification takes effect.
const (
	defaultOnDemandStrategy = string(awsv1.OnDemandAllocationStrategyPrioritized)
	defaultSpotStrategy     = string(awsv1.SpotAllocationStrategyLowestPrice)
	defaultOnDemandBase     = 0
	defaultOnDemandPercent  = 100
)

// mixedPolicy translates the policy without its launch template.
func mixedPolicy(p *awsv1.MixedInstancesPolicy) *asgtypes.MixedInstancesPolicy {
	if p == nil {
		return nil
	}
	d := &asgtypes.InstancesDistribution{
		OnDemandAllocationStrategy:          new(defaultOnDemandStrategy),
		SpotAllocationStrategy:              new(defaultSpotStrategy),
		OnDemandBaseCapacity:                new(int32(defaultOnDemandBase)),
		OnDemandPercentageAboveBaseCapacity: new(int32(defaultOnDemandPercent)),
	}
	if want := p.InstancesDistribution; want != nil {
		if want.OnDemandAllocationStrategy != "" {
			d.OnDemandAllocationStrategy = new(string(want.OnDemandAllocationStrategy))
		}
		if want.SpotAllocationStrategy != "" {
			d.SpotAllocationStrategy = new(string(want.SpotAllocationStrategy))
		}
		if want.OnDemandBaseCapacity != nil {
			d.OnDemandBaseCapacity = new(int32(*want.OnDemandBaseCapacity))
		}
		if want.OnDemandPercentageAboveBaseCapacity != nil {
			d.OnDemandPercentageAboveBaseCapacity = new(int32(*want.OnDemandPercentageAboveBaseCapacity))
		}
	}
	template := &asgtypes.LaunchTemplate{}
	for _, o := range p.Overrides {
		template.Overrides = append(template.Overrides, asgtypes.LaunchTemplateOverrides{InstanceType: new(o.InstanceType)})
	}
	return &asgtypes.MixedInstancesPolicy{InstancesDistribution: d, LaunchTemplate: template}
}

// sameMixed compares what we send with what the group has: the four figures and the instance types in their order.
func sameMixed(want, is *asgtypes.MixedInstancesPolicy) bool {
	if want == nil || is == nil {
		return want == nil && is == nil
	}
	return distributionText(want.InstancesDistribution) == distributionText(is.InstancesDistribution) &&
		slices.Equal(overrideTypes(want), overrideTypes(is))
}

type distribution struct {
	onDemand, spot string
	base, percent  int32
}

func distributionText(d *asgtypes.InstancesDistribution) distribution {
	out := distribution{onDemand: defaultOnDemandStrategy, spot: defaultSpotStrategy, base: defaultOnDemandBase, percent: defaultOnDemandPercent}
	if d == nil {
		return out
	}
	if d.OnDemandAllocationStrategy != nil {
		out.onDemand = *d.OnDemandAllocationStrategy
	}
	if d.SpotAllocationStrategy != nil {
		out.spot = *d.SpotAllocationStrategy
	}
	if d.OnDemandBaseCapacity != nil {
		out.base = *d.OnDemandBaseCapacity
	}
	if d.OnDemandPercentageAboveBaseCapacity != nil {
		out.percent = *d.OnDemandPercentageAboveBaseCapacity
	}
	return out
}

func overrideTypes(p *asgtypes.MixedInstancesPolicy) []string {
	var types []string
	if p.LaunchTemplate != nil {
		for _, o := range p.LaunchTemplate.Overrides {
			types = append(types, session.Deref(o.InstanceType))
		}
	}
	return types
}
