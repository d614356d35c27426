package desired

import (
	"slices"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
)

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

// sameMixed compares what is sent with what the group has: the four figures and the instance types in their order.
func sameMixed(want, is *asgtypes.MixedInstancesPolicy) bool {
	if want == nil || is == nil {
		return want == nil && is == nil
	}
	return distributionText(want.InstancesDistribution) == distributionText(is.InstancesDistribution) &&
		slices.Equal(overrideTypes(want), overrideTypes(is))
}

// LaunchedTypes returns the instance types of which the group launches any, whatever its template says: those of its policy, where that is
// the wanted one and names any. It is nil otherwise.
func (g Group) LaunchedTypes(is *asgtypes.AutoScalingGroup) []string {
	if g.mixed == nil || !sameMixed(g.mixed, is.MixedInstancesPolicy) {
		return nil
	}
	return overrideTypes(g.mixed)
}

type distribution struct {
	onDemand, spot string
	base, percent  int32
}

func distributionText(d *asgtypes.InstancesDistribution) distribution {
	out := distribution{onDemand: defaultOnDemandStrategy, spot: defaultSpotStrategy, base: defaultOnDemandBase,
		percent: defaultOnDemandPercent}
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
			types = append(types, ptr.Deref(o.InstanceType, ""))
		}
	}
	return types
}

// Refresh returns the configuration of an instance refresh to a launch template.
func Refresh(policy *awsv1.MixedInstancesPolicy, from *asgtypes.LaunchTemplateSpecification) *asgtypes.DesiredConfiguration {
	mixed := mixedPolicy(policy)
	if mixed == nil {
		return &asgtypes.DesiredConfiguration{LaunchTemplate: from}
	}
	mixed.LaunchTemplate.LaunchTemplateSpecification = from
	return &asgtypes.DesiredConfiguration{MixedInstancesPolicy: mixed}
}
