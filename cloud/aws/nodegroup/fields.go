package nodegroup

import (
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/nodegroup/noderole"
	"github.com/muster-project/muster/cloud/fields"
)

// The fields of a node group, by the paths that the specification has for them.
const (
	fieldName     = "spec.eksNodegroupName"
	fieldSubnets  = "spec.subnetIDs"
	fieldZones    = "spec.availabilityZones"
	fieldImages   = "spec.amiType"
	fieldRelease  = "spec.amiVersion"
	fieldType     = "spec.instanceType"
	fieldTypes    = "spec.instanceTypes"
	fieldDisk     = "spec.diskSize"
	fieldCapacity = "spec.capacityType"
	fieldRemote   = "spec.remoteAccess"
	fieldTemplate = "spec.awsLaunchTemplate"
	fieldMin      = "spec.scaling.minSize"
	fieldMax      = "spec.scaling.maxSize"
	driftLabels   = "spec.labels"
	driftTaints   = "spec.taints"
	driftUpdate   = "spec.updateConfig"
	driftRepair   = "spec.nodeRepairConfig.enabled"
	driftTags     = "spec.additionalTags"
	driftPassed   = "the tags of the Auto Scaling group behind it"
	fieldCluster  = "spec.eksClusterName of the control plane"
)

// document holds a node group as a target wants it, or as EKS shows it with the size of its backing group.
type document struct {
	groupSpec
	of   target
	is   *ekstypes.Nodegroup
	size int32
}

func (d document) templated() bool { return d.is.LaunchTemplate != nil }

// configUpdate is the request that changes fields. Its ScalingConfig is not nil when rows write to it.
type configUpdate = eks.UpdateNodegroupConfigInput

// allMuster marks lists to which EKS adds nothing.
var allMuster = fields.ServiceOwned{None: true}

// groupFields are the fields of a node group. EKS replaces the nodes by updates of the version; see version.go.
var groupFields = fields.Table[document, *configUpdate]{
	{Name: "launchTemplate", Spec: fieldTemplate, Effect: fields.Fixed, Owned: allMuster,
		Doc:     "replaces the nodes when one of its fields changes. It can be neither added nor removed: refused at admission",
		Differs: func(want, has document) bool { return (want.of.pool.AWSLaunchTemplate != nil) != has.templated() }},
	{Name: "version", Spec: fields.Version, Effect: fields.Rolls},
	{Name: "releaseVersion", Spec: fieldRelease, Effect: fields.Rolls},

	{Name: "scalingConfig.minSize", Spec: fieldMin,
		Differs: func(want, has document) bool {
			return ptr.Deref(scalingOf(has.is).MinSize, 0) != want.min && has.size >= want.min
		},
		Put: func(r *configUpdate, want, _ document) { r.ScalingConfig.MinSize = &want.min }},
	// A maximum below the size would let EKS choose machines and delete them: it waits until the surplus has been drained and removed.
	{Name: "scalingConfig.maxSize", Spec: fieldMax,
		Differs: func(want, has document) bool {
			return want.max != nil && ptr.Deref(scalingOf(has.is).MaxSize, 0) != *want.max && has.size <= *want.max
		},
		Put: func(r *configUpdate, want, _ document) { r.ScalingConfig.MaxSize = want.max }},
	{Name: "labels", Spec: driftLabels, Owned: fields.ServiceOwned{Recorded: tagOurLabels},
		Differs: func(want, has document) bool { return want.labelsDrift(has.is) },
		Put: func(r *configUpdate, want, has document) {
			if put, remove := want.labelChanges(has.is); len(put)+len(remove) > 0 {
				r.Labels = &ekstypes.UpdateLabelsPayload{AddOrUpdateLabels: put, RemoveLabels: remove}
			}
		}},
	{Name: "taints", Spec: driftTaints, Owned: fields.ServiceOwned{Recorded: tagOurTaints},
		Differs: func(want, has document) bool { return want.taintsDrift(has.is) },
		Put: func(r *configUpdate, want, has document) {
			if put, remove := want.taintChanges(has.is); len(put)+len(remove) > 0 {
				r.Taints = &ekstypes.UpdateTaintsPayload{AddOrUpdateTaints: put, RemoveTaints: remove}
			}
		}},
	{Name: "updateConfig", Spec: driftUpdate, Doc: "applies to the next update of the nodes",
		Differs: func(want, has document) bool { return !sameUpdate(want.update, has.is.UpdateConfig) },
		Put:     func(r *configUpdate, want, _ document) { r.UpdateConfig = &want.update }},
	{Name: "nodeRepairConfig.enabled", Spec: driftRepair,
		Differs: func(want, has document) bool { return want.repair != repairOf(has.is) },
		Put: func(r *configUpdate, want, has document) {
			r.NodeRepairConfig = withRepair(has.is.NodeRepairConfig, want.repair)
		}},
	{Name: "tags", Spec: driftTags, Owned: fields.ServiceOwned{Recorded: tagOurTags},
		Doc:     "changes the tags of the node group, of the Auto Scaling group behind it, and of the nodes, in place",
		Differs: func(want, has document) bool { return want.tagsDrift(has.is) }},
	{Name: "role.policies", Spec: noderole.FieldPolicies, Owned: fields.ServiceOwned{Recorded: noderole.PoliciesKey},
		Doc: "attaches policies to a role that Muster created, and detaches those that are named no more"},
	{Name: "role.permissionsBoundary", Spec: noderole.FieldBoundary, Effect: fields.Fixed,
		Doc: "applies to a role that Muster creates later"},
	{Name: "role.path", Spec: "spec.rolePath", Effect: fields.Fixed},

	{Name: "nodegroupName", Spec: fieldName, Effect: fields.Fixed},
	{Name: "subnets", Spec: fieldSubnets, Effect: fields.Fixed, Owned: allMuster,
		Differs: func(want, has document) bool { return want.otherSubnets(want.of, has.is) }},
	{Name: "availabilityZones", Spec: fieldZones, Effect: fields.Fixed, Owned: allMuster},
	{Name: "availabilityZoneSubnetType", Spec: "spec.availabilityZoneSubnetType", Effect: fields.Fixed},
	{Name: "nodeRole", Spec: noderole.FieldName, Effect: fields.Fixed, Differs: func(want, has document) bool {
		return want.of.pool.RoleName != "" && noderole.NameOf(ptr.Deref(has.is.NodeRole, "")) != want.of.pool.RoleName
	}},
	{Name: "amiType", Spec: fieldImages, Effect: fields.Fixed,
		Differs: func(want, has document) bool { return otherImages(want.of, has.is) }},
	{Name: "instanceTypes", Spec: fieldTypes, Alias: fieldType, Effect: fields.Fixed, Owned: allMuster,
		Differs: func(want, has document) bool { return want.otherTypes(has.is) }},
	{Name: "diskSize", Spec: fieldDisk, Effect: fields.Fixed, Differs: func(want, has document) bool {
		return want.diskSize != nil && has.is.DiskSize != nil && *want.diskSize != *has.is.DiskSize
	}},
	{Name: "capacityType", Spec: fieldCapacity, Effect: fields.Fixed, Differs: func(want, has document) bool {
		return want.of.pool.CapacityType != nil && has.is.CapacityType != "" && has.is.CapacityType != want.capacity
	}},
	{Name: "remoteAccess", Spec: fieldRemote, Effect: fields.Fixed, Owned: allMuster,
		Differs: func(want, has document) bool { return !has.templated() && !sameRemote(want.of, has.is.RemoteAccess) }},
}
