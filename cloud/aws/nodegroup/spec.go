package nodegroup

import (
	"cmp"
	"slices"
	"strings"
	"time"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/aws/session"
)

// groupSpec is what the specification asks for of the node group, its size, its version and its template aside.
type groupSpec struct {
	// min is the smallest size; max is nil where the size decides.
	min int32
	max *int32
	// The fields that EKS can't change on a group that exists. subnets is nil while they can't be resolved.
	subnets       []string
	images        ekstypes.AMITypes
	instanceTypes []string
	diskSize      *int32
	capacity      ekstypes.CapacityTypes
	remote        *ekstypes.RemoteAccessConfig
	// The fields that it can.
	labels map[string]string
	taints []ekstypes.Taint
	update ekstypes.NodegroupUpdateConfig
	repair bool
	// tags are all tags that the node group shall have, bookkeeping included; passed those that the backing group passes on to
	// instances.
	tags, passed map[string]string
	// ourLabels and ourTaints are those that the bookkeeping names.
	ourLabels, ourTaints []string
}

// capacities and effects are EKS's words for the API's.
var (
	capacities = map[awsv1.ManagedMachinePoolCapacityType]ekstypes.CapacityTypes{
		"": ekstypes.CapacityTypesOnDemand,
		awsv1.ManagedMachinePoolCapacityTypeOnDemand:      ekstypes.CapacityTypesOnDemand,
		awsv1.ManagedMachinePoolCapacityTypeSpot:          ekstypes.CapacityTypesSpot,
		awsv1.ManagedMachinePoolCapacityTypeCapacityBlock: ekstypes.CapacityTypesCapacityBlock,
	}
	effects = map[awsv1.TaintEffect]ekstypes.TaintEffect{
		awsv1.TaintEffectNoSchedule:       ekstypes.TaintEffectNoSchedule,
		awsv1.TaintEffectNoExecute:        ekstypes.TaintEffectNoExecute,
		awsv1.TaintEffectPreferNoSchedule: ekstypes.TaintEffectPreferNoSchedule,
	}
)

// groupSpecOf translates what needs no look-up. The bookkeeping holds what the specification names, and what was put a moment ago.
func groupSpecOf(t target, lately written, now time.Time) groupSpec {
	g := groupSpec{
		instanceTypes: t.pool.InstanceTypes,
		diskSize:      t.pool.DiskSize,
		capacity:      capacities[ptr.Deref(t.pool.CapacityType, "")],
		remote:        remoteAccess(t),
		labels:        map[string]string{},
		taints:        taintsOf(t.pool.Taints),
		update:        updateConfig(t.pool.UpdateConfig),
		repair:        t.pool.NodeRepairConfig != nil && ptr.Deref(t.pool.NodeRepairConfig.Enabled, false),
		tags:          t.tags(),
		passed:        t.tags(),
	}
	if t.pool.InstanceType != nil {
		g.instanceTypes = []string{*t.pool.InstanceType}
	}
	if s := t.pool.Scaling; s != nil {
		g.min, g.max = ptr.Deref(s.MinSize, 0), s.MaxSize
	}
	for key, text := range t.pool.Labels {
		g.labels[key] = string(text)
	}
	tags := session.Unique(append(t.additionalTags(), lately.tags.Names(now)...))
	g.ourLabels = session.Unique(append(session.SortedKeys(g.labels), lately.labels.Names(now)...))
	g.ourTaints = session.Unique(append(taintNames(g.taints), lately.taints.Names(now)...))
	book(g.passed, tagOurTags, tags)
	book(g.tags, tagOurTags, tags)
	book(g.tags, tagOurLabels, g.ourLabels)
	book(g.tags, tagOurTaints, g.ourTaints)
	return g
}

// tagsByEKS counts the tags that EKS puts on the backing group of a node group: those of the cluster, of the node group and of the
// cluster-autoscaler.
const tagsByEKS = 5

// checkTags returns an error if the node group, or its backing group, would have more tags than it takes.
func (g groupSpec) checkTags() error {
	return cmp.Or(session.CheckTags(g.tags, 0, driftTags), session.CheckTags(g.passed, tagsByEKS, driftTags))
}

// book puts a bookkeeping tag, unless there is nothing to book.
func book(tags map[string]string, key string, names []string) {
	if text := session.Marks(names); text != "" {
		tags[key] = text
	}
}

// taintsOf are the taints in EKS's words, in one order: the order of a list that means a set is nothing to change.
func taintsOf(asked awsv1.Taints) []ekstypes.Taint {
	list := make([]ekstypes.Taint, 0, len(asked))
	for _, t := range asked {
		list = append(list, ekstypes.Taint{Key: &t.Key, Value: &t.Value, Effect: effects[t.Effect]})
	}
	slices.SortFunc(list, func(a, b ekstypes.Taint) int { return strings.Compare(taintName(a), taintName(b)) })
	return list
}

// taintName tells taints apart: a key may have one value for each effect.
func taintName(t ekstypes.Taint) string { return ptr.Deref(t.Key, "") + ":" + string(t.Effect) }

func taintNames(taints []ekstypes.Taint) []string {
	names := make([]string, 0, len(taints))
	for _, t := range taints {
		names = append(names, taintName(t))
	}
	return names
}

// defaultUnavailable is how many machines EKS replaces at once when nothing is said.
const defaultUnavailable = 1

// updateConfig says how EKS replaces machines. What is not said is sent as EKS's default, so that taking a field out of the
// specification takes effect.
func updateConfig(c *awsv1.UpdateConfig) ekstypes.NodegroupUpdateConfig {
	out := ekstypes.NodegroupUpdateConfig{UpdateStrategy: ekstypes.NodegroupUpdateStrategiesDefault}
	switch {
	case c != nil && c.MaxUnavailablePercentage != nil:
		out.MaxUnavailablePercentage = new(int32(*c.MaxUnavailablePercentage))
	case c != nil && c.MaxUnavailable != nil:
		out.MaxUnavailable = new(int32(*c.MaxUnavailable))
	default:
		out.MaxUnavailable = new(int32(defaultUnavailable))
	}
	if c != nil && c.UpdateStrategy != nil {
		out.UpdateStrategy = ekstypes.NodegroupUpdateStrategies(*c.UpdateStrategy)
	}
	return out
}

// remoteAccess opens SSH for the named groups and those of the cluster's nodes, or, where it is public, for all addresses, which EKS is
// told by naming no group.
func remoteAccess(t target) *ekstypes.RemoteAccessConfig {
	asked := t.pool.RemoteAccess
	if asked == nil {
		return nil
	}
	out := &ekstypes.RemoteAccessConfig{Ec2SshKey: asked.SSHKeyName}
	if out.Ec2SshKey == nil {
		out.Ec2SshKey = t.cluster.SSHKeyName
	}
	if ptr.Deref(out.Ec2SshKey, "") == "" {
		out.Ec2SshKey = nil
	}
	if !asked.Public {
		out.SourceSecurityGroups = session.Unique(slices.Concat(asked.SourceSecurityGroups, t.cluster.NodeSecurityGroups))
	}
	return out
}
