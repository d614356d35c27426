package nodegroup

import (
	"slices"
	"strings"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/nodegroup/noderole"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
)

// The fields of a node group, by the paths that the specification has for them.
const (
	fieldName      = "spec.eksNodegroupName"
	fieldSubnets   = "spec.subnetIDs"
	fieldZones     = "spec.availabilityZones"
	fieldImages    = "spec.amiType"
	fieldRelease   = "spec.amiVersion"
	fieldType      = "spec.instanceType"
	fieldTypes     = "spec.instanceTypes"
	fieldDisk      = "spec.diskSize"
	fieldCapacity  = "spec.capacityType"
	fieldRemote    = "spec.remoteAccess"
	fieldTemplate  = "spec.awsLaunchTemplate"
	fieldScaling   = "spec.scaling"
	fieldMin       = "spec.scaling.minSize"
	fieldMax       = "spec.scaling.maxSize"
	driftLabels    = "spec.labels"
	driftTaints    = "spec.taints"
	driftUpdate    = "spec.updateConfig"
	driftRepair    = "spec.nodeRepairConfig.enabled"
	driftTags      = "spec.additionalTags"
	driftPassed    = "the tags of the Auto Scaling group behind it"
	fieldCluster   = "spec.eksClusterName of the control plane"
	fieldBootstrap = "MachinePool spec.template.spec.bootstrap"
)

// drift names what differs between the node group and what is asked for, as far as EKS can change it.
func (g groupSpec) drift(is *ekstypes.Nodegroup, size int32) []string {
	scaling := scalingOf(is)
	return driverkit.Differing(
		driverkit.Field{Name: fieldMin, Differs: ptr.Deref(scaling.MinSize, 0) != g.min && size >= g.min},
		// A maximum below the size would let EKS choose and take machines: it waits until the surplus has been drained and removed.
		driverkit.Field{Name: fieldMax, Differs: g.max != nil && ptr.Deref(scaling.MaxSize, 0) != *g.max && size <= *g.max},
		driverkit.Field{Name: driftLabels, Differs: g.labelsDrift(is)},
		driverkit.Field{Name: driftTaints, Differs: g.taintsDrift(is)},
		driverkit.Field{Name: driftUpdate, Differs: !sameUpdate(g.update, is.UpdateConfig)},
		driverkit.Field{Name: driftRepair, Differs: g.repair != repairOf(is)},
		driverkit.Field{Name: driftTags, Differs: g.tagsDrift(is)},
	)
}

func scalingOf(is *ekstypes.Nodegroup) ekstypes.NodegroupScalingConfig {
	if is.ScalingConfig == nil {
		return ekstypes.NodegroupScalingConfig{}
	}
	return *is.ScalingConfig
}

// repairOf reports whether EKS repairs nodes. Thresholds that the user set are kept.
func repairOf(is *ekstypes.Nodegroup) bool {
	return is.NodeRepairConfig != nil && ptr.Deref(is.NodeRepairConfig.Enabled, false)
}

// labelChanges are the labels to put, and those that Muster once put and that are no longer wanted.
func (g groupSpec) labelChanges(is *ekstypes.Nodegroup) (put map[string]string, remove []string) {
	put = map[string]string{}
	for key, text := range g.labels {
		if found, ok := is.Labels[key]; !ok || found != text {
			put[key] = text
		}
	}
	for key := range is.Labels {
		if _, wanted := g.labels[key]; !wanted && session.Marked(is.Tags[tagOurLabels], key) {
			remove = append(remove, key)
		}
	}
	slices.Sort(remove)
	return put, remove
}

func (g groupSpec) labelsDrift(is *ekstypes.Nodegroup) bool {
	put, remove := g.labelChanges(is)
	return len(put)+len(remove) > 0 || is.Tags[tagOurLabels] != g.tags[tagOurLabels]
}

// taintChanges are the taints to put, and those that Muster once put and that are no longer wanted.
func (g groupSpec) taintChanges(is *ekstypes.Nodegroup) (put, remove []ekstypes.Taint) {
	has := map[string]string{}
	for _, t := range is.Taints {
		has[taintName(t)] = ptr.Deref(t.Value, "")
	}
	wanted := map[string]bool{}
	for _, t := range g.taints {
		wanted[taintName(t)] = true
		if found, ok := has[taintName(t)]; !ok || found != ptr.Deref(t.Value, "") {
			put = append(put, t)
		}
	}
	for _, t := range is.Taints {
		if name := taintName(t); !wanted[name] && session.Marked(is.Tags[tagOurTaints], name) {
			remove = append(remove, t)
		}
	}
	slices.SortFunc(remove, func(a, b ekstypes.Taint) int { return strings.Compare(taintName(a), taintName(b)) })
	return put, remove
}

func (g groupSpec) taintsDrift(is *ekstypes.Nodegroup) bool {
	put, remove := g.taintChanges(is)
	return len(put)+len(remove) > 0 || is.Tags[tagOurTaints] != g.tags[tagOurTaints]
}

// tagChanges are the tags to put on the node group, and those that Muster once put there and that are no longer wanted. The
// bookkeeping of labels and taints goes with those.
func (g groupSpec) tagChanges(is *ekstypes.Nodegroup) (put map[string]string, remove []string) {
	return changes(g.tags, is.Tags, is.Tags[tagOurTags], func(key string) bool { return key == tagOurLabels || key == tagOurTaints })
}

func (g groupSpec) tagsDrift(is *ekstypes.Nodegroup) bool {
	put, remove := g.tagChanges(is)
	return len(put)+len(remove) > 0
}

// changes compares tags. Those that we did not put there stay: EKS's own, the cluster-autoscaler's, anybody's.
func changes(want, is map[string]string, ours string, apart func(key string) bool) (put map[string]string, remove []string) {
	put = map[string]string{}
	for key, text := range want {
		if found, ok := is[key]; !apart(key) && (!ok || found != text) {
			put[key] = text
		}
	}
	for key := range is {
		if _, wanted := want[key]; !wanted && (session.Marked(ours, key) || key == tagOurTags && ours != "") {
			remove = append(remove, key)
		}
	}
	slices.Sort(remove)
	return put, remove
}

// passedChanges are the tags to put on the group behind, whose instances get them, and those to take away.
func (g groupSpec) passedChanges(behind *asgtypes.AutoScalingGroup) (put map[string]string, remove []string) {
	is := map[string]string{}
	for _, t := range behind.Tags {
		if ptr.Deref(t.PropagateAtLaunch, false) == !bookkeeping(ptr.Deref(t.Key, "")) {
			is[ptr.Deref(t.Key, "")] = ptr.Deref(t.Value, "")
		}
	}
	return changes(g.passed, is, is[tagOurTags], func(string) bool { return false })
}

// unchangeable names what differs and what EKS can't change on a group that exists.
func (g groupSpec) unchangeable(t target, is *ekstypes.Nodegroup) []string {
	templated := is.LaunchTemplate != nil
	return driverkit.Differing(
		driverkit.Field{Name: fieldTemplate, Differs: t.pool.AWSLaunchTemplate != nil != templated},
		driverkit.Field{Name: fieldSubnets, Differs: g.otherSubnets(t, is)},
		driverkit.Field{Name: noderole.FieldName, Differs: t.pool.RoleName != "" &&
			noderole.NameOf(ptr.Deref(is.NodeRole, "")) != t.pool.RoleName},
		driverkit.Field{Name: fieldImages, Differs: otherImages(t, is)},
		driverkit.Field{Name: fieldTypes, Differs: g.otherTypes(is)},
		driverkit.Field{Name: fieldDisk, Differs: g.diskSize != nil && is.DiskSize != nil && *g.diskSize != *is.DiskSize},
		driverkit.Field{Name: fieldCapacity, Differs: t.pool.CapacityType != nil && is.CapacityType != "" && is.CapacityType != g.capacity},
		driverkit.Field{Name: fieldRemote, Differs: !templated && !sameRemote(t, is.RemoteAccess)},
	)
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
