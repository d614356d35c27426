package desired

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/lifecycle"
	"github.com/muster-project/muster/cloud/fields"
)

// rows are the fields of the group. Those that nothing puts into a request have calls of their own, and the policy around the template goes
// with that.
func (g Group) rows(hooks lifecycle.Hooks) fields.Table[*asgtypes.AutoScalingGroup, *autoscaling.UpdateAutoScalingGroupInput] {
	type (
		group  = asgtypes.AutoScalingGroup
		update = autoscaling.UpdateAutoScalingGroupInput
	)
	return fields.Table[*group, *update]{
		{Spec: FieldMin, Differs: func(_, is *group) bool { return ptr.Deref(is.MinSize, 0) != g.min },
			Put: func(r *update, _, _ *group) { r.MinSize = &g.min }},
		// A maximum below the size would let the cloud choose and terminate instances at once: it waits until the surplus has been drained and
		// removed.
		{Spec: FieldMax, Differs: func(_, is *group) bool { return ptr.Deref(is.MaxSize, 0) != g.max && g.holds(is) },
			Put: func(r *update, _, _ *group) { r.MaxSize = &g.max }},
		{Spec: FieldSubnets, Differs: func(_, is *group) bool { return g.Subnets != nil && !slices.Equal(g.Subnets, subnetsOf(is)) },
			Put: func(r *update, _, _ *group) { r.VPCZoneIdentifier = new(strings.Join(g.Subnets, ",")) }},
		{Spec: fieldCooldown, Differs: func(_, is *group) bool { return ptr.Deref(is.DefaultCooldown, 0) != g.cooldown },
			Put: func(r *update, _, _ *group) { r.DefaultCooldown = &g.cooldown }},
		{Spec: fieldWarmup,
			Differs: func(_, is *group) bool {
				return is.DefaultInstanceWarmup == nil || *is.DefaultInstanceWarmup != g.warmup
			},
			Put: func(r *update, _, _ *group) { r.DefaultInstanceWarmup = &g.warmup }},
		{Spec: fieldRebalance, Differs: func(_, is *group) bool { return ptr.Deref(is.CapacityRebalance, false) != g.rebalance },
			Put: func(r *update, _, _ *group) { r.CapacityRebalance = &g.rebalance }},
		{Spec: FieldMixed, Differs: func(_, is *group) bool { return !sameMixed(g.mixed, is.MixedInstancesPolicy) }},
		{Spec: FieldTags, Differs: func(_, is *group) bool { return g.tagsDrift(is) }},
		{Spec: FieldHooks, Differs: func(_, is *group) bool { return hooks.Refused.Err == nil && g.hooksDrift(is, hooks) }},
		{Spec: FieldProcesses, Differs: func(_, is *group) bool { return g.processesDrift(is) }},
	}
}

// holds reports whether the wanted maximum is not below the size of the group.
func (g Group) holds(is *asgtypes.AutoScalingGroup) bool {
	return ptr.Deref(is.DesiredCapacity, 0) <= g.max
}
