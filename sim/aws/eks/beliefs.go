package eks

import (
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/evidence"
)

// The switches of EKS node groups.
const (
	// GroupAtOnce creates the Auto Scaling group with the request that creates the node group.
	GroupAtOnce sim.Switch = "eks.GroupAtOnce"
	// FailedStays leaves a node group whose update failed at the new version: what is launched from then on has it, and nodes of the
	// earlier version stay.
	FailedStays sim.Switch = "eks.FailedStays"
)

// Beliefs returns the behaviour of managed node groups that drivers rely on.
func Beliefs() []evidence.Row {
	const (
		sdk    = "aws-sdk-go-v2/service/eks v1.105.3"
		phases = "Understand each phase of node updates"
		guide  = "EKS User Guide of 2026"
		// curl are answers of EKS that another client has taken its words from.
		curl = "getmoto/moto: moto/eks/models.py (obtained through cURL responses from the actual APIs), "
	)
	return evidence.Of("EKS node groups",
		evidence.Documented("Every Pod of a node that an update terminates is drained first, and the update fails if that fails",
			"UpdateNodegroupVersion", sdk),
		evidence.Documented("A forced update terminates nodes whose Pods can't be drained", "UpdateNodegroupVersionInput.Force", sdk),
		evidence.Documented("A node group does not return to an earlier version",
			"UpdateNodegroupVersion (the EKS User Guide of 2026, Rollback cluster, has node groups go back by one minor version)", sdk),
		evidence.Documented("Exactly one of maxUnavailable and maxUnavailablePercentage is set, and maxUnavailable is at most 100",
			"NodegroupUpdateConfig", sdk),
		evidence.Documented("A node group without a launch template gets none, and one with it keeps its ID or name: only versions change",
			"CreateNodegroup", sdk),
		evidence.Documented("A request with the same clientRequestToken creates no second node group", "CreateNodegroupInput.ClientRequestToken",
			sdk),
		evidence.Documented("A change of the configuration is an update with an ID, and the group continues to work",
			"UpdateNodegroupConfig", sdk),
		evidence.Documented("An update that can't empty a node in 15 minutes fails with PodEvictionFailure", phases, guide),
		evidence.Documented("An update fails with NodeCreationFailure where no new node becomes ready", phases, guide),
		evidence.Documented("An update first raises the size of the group by twice its zones, or by maxUnavailable if that is more", phases,
			guide),
		evidence.Documented("An update begins with a new version of the launch template of the Auto Scaling group", phases, guide),
		evidence.Documented("An update lowers the size of the group again when it ends", phases, guide),
		evidence.Documented("A node group that is deleted is answered with ResourceNotFoundException, one that can't be with DELETE_FAILED",
			"waiter NodegroupDeleted", "service model in botocore of August 2026"),
		evidence.Documented("A node group that can't be created shows CREATE_FAILED", "waiter NodegroupActive",
			"service model in botocore of August 2026"),
		evidence.Observed("A node group that does not exist is refused with ResourceNotFoundException, No node group found for name",
			curl+"NODEGROUP_NOT_FOUND_MSG"),
		evidence.Observed("A name in use is refused with ResourceInUseException, NodeGroup already exists with name",
			curl+"NODEGROUP_EXISTS_MSG"),
		evidence.Observed("A cluster that is not active is refused with InvalidRequestException, Cluster is not in ACTIVE status",
			curl+"CLUSTER_NOT_READY_MSG"),
		evidence.Observed("Disk size and remote access beside a launch template are refused with InvalidParameterException",
			curl+"LAUNCH_TEMPLATE_WITH_DISK_SIZE_MSG and LAUNCH_TEMPLATE_WITH_REMOTE_ACCESS_MSG"),
		evidence.Assumed("The Auto Scaling group exists only after EKS has created it").
			Switch(GroupAtOnce, "from the request on").Declared("sim.GroupBehavior.CompletedLater"),
		evidence.Assumed("A failed update returns the node group to its earlier version").
			Switch(FailedStays, "the node group stays at the new version, with nodes of both"),
	)
}
