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
	const sdk = "aws-sdk-go-v2/service/eks v1.105.3"
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
		evidence.Assumed("The Auto Scaling group exists only after EKS has created it").
			Switch(GroupAtOnce, "from the request on").Declared("sim.GroupBehavior.CompletedLater"),
		evidence.Assumed("A failed update returns the node group to its earlier version").
			Switch(FailedStays, "the node group stays at the new version, with nodes of both"),
	)
}
