package desired

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/cloud/aws/lifecycle"
	"github.com/muster-project/muster/cloud/aws/session"
)

// Create returns the request that creates the group with a size and a launch template. Its bookkeeping names the processes that are
// suspended next.
func (g Group) Create(name string, size int, from *asgtypes.LaunchTemplateSpecification) *autoscaling.CreateAutoScalingGroupInput {
	input := &autoscaling.CreateAutoScalingGroupInput{
		AutoScalingGroupName:           &name,
		MinSize:                        &g.min,
		MaxSize:                        &g.max,
		DesiredCapacity:                new(int32(size)),
		DefaultCooldown:                &g.cooldown,
		DefaultInstanceWarmup:          &g.warmup,
		CapacityRebalance:              &g.rebalance,
		VPCZoneIdentifier:              new(strings.Join(g.Subnets, ",")),
		LifecycleHookSpecificationList: g.Hooks,
		Tags:                           session.GroupTags(name, g.tags, Bookkeeping),
	}
	input.LaunchTemplate, input.MixedInstancesPolicy = g.launch(from)
	return input
}

// launch returns the two fields of a request of which one holds the launch template.
func (g Group) launch(from *asgtypes.LaunchTemplateSpecification) (*asgtypes.LaunchTemplateSpecification, *asgtypes.MixedInstancesPolicy) {
	if g.mixed == nil {
		return from, nil
	}
	template := *g.mixed.LaunchTemplate
	template.LaunchTemplateSpecification = from
	return nil, &asgtypes.MixedInstancesPolicy{InstancesDistribution: g.mixed.InstancesDistribution, LaunchTemplate: &template}
}

// Update returns the request that repairs fields of the group itself, and no others; nil if there is nothing to send. from is the launch
// template that the group shall launch from, nil where neither that nor the policy around it changes.
func (g Group) Update(is *asgtypes.AutoScalingGroup, fields []string,
	from *asgtypes.LaunchTemplateSpecification) *autoscaling.UpdateAutoScalingGroupInput {
	input := &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: is.AutoScalingGroupName}
	if !g.holds(is) {
		fields = slices.DeleteFunc(slices.Clone(fields), func(field string) bool { return field == FieldMax })
	}
	repair := g.rows(lifecycle.Hooks{}).Repairing(fields)
	if len(repair) == 0 && from == nil {
		return nil
	}
	repair.Put(input, nil, is)
	if from != nil {
		input.LaunchTemplate, input.MixedInstancesPolicy = g.launch(from)
	}
	return input
}

// Marks are bookkeeping tags with the values that they shall have before what they name is changed.
type Marks map[string]string

// Changes returns the tags to put, and those to remove because nothing is left to name.
func (m Marks) Changes(is map[string]string) (put map[string]string, remove []string) {
	put = map[string]string{}
	for key, text := range m {
		switch {
		case is[key] == text:
		case text == "":
			remove = append(remove, key)
		default:
			put[key] = text
		}
	}
	return put, remove
}

// HookMarks returns the bookkeeping of every hook that is or will be Muster's, written before the hooks are changed, so that a crash in
// between forgets none. lately are hooks that were put a moment ago.
func (g Group) HookMarks(changes lifecycle.Changes, lately []string) Marks {
	return Marks{tagOurHooks: session.Marks(session.Unique(slices.Concat(lifecycle.Names(g.Hooks), changes.Remove, lately)))}
}

// ProcessMarks returns the bookkeeping of every process that is or will be suspended by Muster, written before processes are changed.
func (g Group) ProcessMarks(resume []string) Marks {
	return Marks{tagSuspended: strings.Join(session.Unique(slices.Concat(g.suspended, resume)), ",")}
}
