package nodegroup

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/fields"
)

// documents returns the node group as the specification wants it, and as EKS shows it.
func (s *state) documents() (want, has document) {
	return document{groupSpec: s.want.group, of: s.t}, document{is: s.is, size: s.size()}
}

// size is the number of machines that the node group is asked to keep: what the backing group says, but for an update that adds some for a
// while.
func (s *state) size() int32 {
	switch {
	case s.is == nil:
		return 0
	case s.backing == nil, s.m.updates.rolls():
		return ptr.Deref(scalingOf(s.is).DesiredSize, 0)
	}
	return ptr.Deref(s.backing.DesiredCapacity, 0)
}

func scalingOf(is *ekstypes.Nodegroup) ekstypes.NodegroupScalingConfig {
	if is.ScalingConfig == nil {
		return ekstypes.NodegroupScalingConfig{}
	}
	return *is.ScalingConfig
}

// repairOf reports whether EKS repairs nodes.
func repairOf(is *ekstypes.Nodegroup) bool {
	return is.NodeRepairConfig != nil && ptr.Deref(is.NodeRepairConfig.Enabled, false)
}

// labelChanges are the labels to put, and those that Muster once put and that are no longer wanted.
func (g groupSpec) labelChanges(is *ekstypes.Nodegroup) (put map[string]string, remove []string) {
	return fields.Changes(g.labels, is.Labels, func(key string) bool { return session.Marked(is.Tags[tagOurLabels], key) })
}

func (g groupSpec) labelsDrift(is *ekstypes.Nodegroup) bool {
	put, remove := g.labelChanges(is)
	return len(put)+len(remove) > 0 || is.Tags[tagOurLabels] != g.tags[tagOurLabels]
}

// taintChanges are the taints to put, and those that Muster once put and that are no longer wanted.
func (g groupSpec) taintChanges(is *ekstypes.Nodegroup) (put, remove []ekstypes.Taint) {
	differ, gone := fields.Changes(taintValues(g.taints), taintValues(is.Taints),
		func(name string) bool { return session.Marked(is.Tags[tagOurTaints], name) })
	for _, t := range g.taints {
		if _, ok := differ[taintName(t)]; ok {
			put = append(put, t)
		}
	}
	for _, t := range is.Taints {
		if slices.Contains(gone, taintName(t)) {
			remove = append(remove, t)
		}
	}
	slices.SortFunc(remove, func(a, b ekstypes.Taint) int { return strings.Compare(taintName(a), taintName(b)) })
	return put, remove
}

// taintValues returns the values of taints by their names.
func taintValues(taints []ekstypes.Taint) map[string]string {
	out := map[string]string{}
	for _, t := range taints {
		out[taintName(t)] = ptr.Deref(t.Value, "")
	}
	return out
}

func (g groupSpec) taintsDrift(is *ekstypes.Nodegroup) bool {
	put, remove := g.taintChanges(is)
	return len(put)+len(remove) > 0 || is.Tags[tagOurTaints] != g.tags[tagOurTaints]
}

// tagChanges are the tags to put on the node group, and those that Muster once put there and that are no longer wanted. The
// bookkeeping of labels and taints goes with those.
func (g groupSpec) tagChanges(is *ekstypes.Nodegroup) (put map[string]string, remove []string) {
	want := maps.Clone(g.tags)
	maps.DeleteFunc(want, func(key, _ string) bool { return key == tagOurLabels || key == tagOurTaints })
	return changes(want, is.Tags)
}

func (g groupSpec) tagsDrift(is *ekstypes.Nodegroup) bool {
	put, remove := g.tagChanges(is)
	return len(put)+len(remove) > 0
}

// changes compares tags. Those of EKS, of the cluster-autoscaler and of other clients stay.
func changes(want, is map[string]string) (put map[string]string, remove []string) {
	ours := is[tagOurTags]
	return fields.Changes(want, is, func(key string) bool { return session.Marked(ours, key) || key == tagOurTags && ours != "" })
}

// passedChanges are the tags to put on the backing group, whose instances get them, and those to take away.
func (g groupSpec) passedChanges(backing *asgtypes.AutoScalingGroup) (put map[string]string, remove []string) {
	is := map[string]string{}
	for _, t := range backing.Tags {
		if ptr.Deref(t.PropagateAtLaunch, false) == !bookkeeping(ptr.Deref(t.Key, "")) {
			is[ptr.Deref(t.Key, "")] = ptr.Deref(t.Value, "")
		}
	}
	return changes(g.passed, is)
}

// backingDrifted reports whether the backing group, or an instance in it, lacks a tag that it shall have.
func (g groupSpec) backingDrifted(backing *asgtypes.AutoScalingGroup, members instancesRead) bool {
	if backing == nil {
		return false
	}
	put, remove := g.passedChanges(backing)
	return len(put)+len(remove) > 0 || len(members.untagged(backing, g)) > 0
}

// otherSubnets reports whether the specification itself names other subnets: one that the cluster gets later is no reason to make a group
// again.
func (g groupSpec) otherSubnets(t target, is *ekstypes.Nodegroup) bool {
	return len(t.pool.SubnetIDs) > 0 && g.subnets != nil && !slices.Equal(g.subnets, session.Unique(is.Subnets))
}

func otherImages(t target, is *ekstypes.Nodegroup) bool {
	return t.pool.AMIType != nil && !t.pool.OwnImage() && is.AmiType != ekstypes.AMITypes(*t.pool.AMIType)
}

func (g groupSpec) otherTypes(is *ekstypes.Nodegroup) bool {
	return len(g.instanceTypes) > 0 && len(is.InstanceTypes) > 0 &&
		!slices.Equal(session.Unique(g.instanceTypes), session.Unique(is.InstanceTypes))
}

// sameRemote compares what the specification itself says of the remote access.
func sameRemote(t target, is *ekstypes.RemoteAccessConfig) bool {
	asked := t.pool.RemoteAccess
	if asked == nil || is == nil {
		return asked == nil && (is == nil || is.Ec2SshKey == nil && len(is.SourceSecurityGroups) == 0)
	}
	for _, id := range asked.SourceSecurityGroups {
		if !slices.Contains(is.SourceSecurityGroups, id) {
			return false
		}
	}
	return (asked.SSHKeyName == nil || *asked.SSHKeyName == ptr.Deref(is.Ec2SshKey, "")) && asked.Public == (len(is.SourceSecurityGroups) == 0)
}

// sameUpdate compares what is sent with what the group has; a strategy that is not shown is the default.
func sameUpdate(want ekstypes.NodegroupUpdateConfig, is *ekstypes.NodegroupUpdateConfig) bool {
	if is == nil {
		is = &ekstypes.NodegroupUpdateConfig{}
	}
	return ptr.Deref(want.MaxUnavailable, 0) == ptr.Deref(is.MaxUnavailable, 0) &&
		ptr.Deref(want.MaxUnavailablePercentage, 0) == ptr.Deref(is.MaxUnavailablePercentage, 0) &&
		want.UpdateStrategy == cmp.Or(is.UpdateStrategy, ekstypes.NodegroupUpdateStrategiesDefault)
}
