package containerengine

import (
	"slices"

	"github.com/muster-project/muster/sim/evidence"
)

// Beliefs returns the behaviour of OKE that drivers rely on.
func Beliefs() []evidence.Row {
	return evidence.Of("OKE", slices.Concat(documented(), observed(), assumed())...)
}

func documented() []evidence.Row {
	const (
		swagger, version = "Swagger of Container Engine", "20180222"
		page, published  = "Oracle, Deleting Worker Nodes", "2026"
	)
	return []evidence.Row{
		evidence.Documented("Changes answer 202 with opc-work-request-id, and have no body", swagger+", responses", version),
		evidence.Documented("Lists of node pools have no nodes", swagger+", NodePoolSummary", version),
		evidence.Documented("A page has 100 items, and 1,000 at most", swagger+", limit", version),
		evidence.Documented("DeleteNode lowers the size of its pool by one unless isDecrementSize is false", swagger+", DeleteNode", version),
		evidence.Documented("Pods have PT60M to leave a node, at most; with PT0M a node is deleted without a drain",
			swagger+", NodeEvictionNodePoolSettings", version),
		evidence.Documented("A node that is not drained in time is kept, unless isForceDeleteAfterGraceDuration",
			swagger+", NodeEvictionNodePoolSettings", version),
		evidence.Documented("A node that was marked for deletion can't be recovered: the next update of its pool goes on with it",
			page, published),
		evidence.Documented("A change of placement deletes the nodes outside of it", page, published),
		evidence.Documented("maximumSurge is 1 and maximumUnavailable 0 by default", swagger+", NodePoolCyclingDetails", version),
		evidence.Documented("Only enhanced clusters cycle nodes", "Oracle, Terminating and Replacing Worker Nodes", published),
		evidence.Documented("A work request is canceled before it has started, and later refused with 409 IncorrectState",
			swagger+", DeleteWorkRequest", version),
		evidence.Documented("Labels of a pool are given to nodes that are created later", swagger+", initialNodeLabels", version),
		evidence.Documented("User data of a node pool takes the place of OKE's script, and nodes join only if it calls that",
			"Oracle, Using Custom Cloud-init Initialization Scripts to Set Up Managed Nodes", published),
		evidence.Documented("Nodes show the tags that their pool had for new nodes when they were created: changes of the properties of nodes "+
			"apply to new nodes alone", "Oracle, Modifying Node Pool and Worker Node Properties; "+swagger+", Node", published),
		evidence.Documented("A node pool is UPDATING for a while after each change", swagger+", lifecycleState", version).
			Declared("sim.GroupBehavior.BusyAfterChange"),
		evidence.Documented("Nodes do not show when they were created", swagger+", Node", version).
			Declared("sim.GroupBehavior.HidesCreationTimes"),
		evidence.Documented("Nodes join without user data", "Oracle, Creating a Managed Node Pool", published).
			Declared("sim.GroupBehavior.Bootstraps"),
	}
}

func observed() []evidence.Row {
	const autoscaler = "cluster-autoscaler, cloudprovider/oci/nodepools"
	return []evidence.Row{
		evidence.Observed("A size alone is a complete UpdateNodePool: other members of nodeConfigDetails stay", autoscaler),
		evidence.Observed("A node for which there is no machine has no ID, and nodeError says why", autoscaler),
		evidence.Observed("A node without capacity has the error InternalError with Out of host capacity, one beyond a limit LimitExceeded",
			autoscaler),
		evidence.Observed("DeleteNode of a node that is being deleted is refused with 409", autoscaler),
		evidence.Observed("Instances are named oke-CLUSTER-POOL-, with the last 11 characters of both OCIDs", autoscaler),
		evidence.Observed("Further nodes can be deleted while a pool is UPDATING", autoscaler),
		evidence.Observed("Cycling and another placement in one update are refused with 409 Conflict", "terraform-oci-oke#879"),
		evidence.Observed("A work request fails when nodes do not register in time", "terraform-oci-oke#745"),
		evidence.Observed("The provider ID of a node is the OCID of its instance", "cluster-api-provider-oci f917d3c5"),
	}
}

func assumed() []evidence.Row {
	return []evidence.Row{
		evidence.Assumed("A node pool can be changed while it is UPDATING, but not while it is created, cycled or deleted").
			Switch(BusyPools, "refused with 409 IncorrectState while any work request runs"),
		evidence.Assumed("A node pool is CREATING until its nodes are ACTIVE").
			Switch(ActiveEarly, "ACTIVE while they are created"),
		evidence.Assumed("A node pool whose nodes do not come is NEEDS_ATTENTION").
			Switch(FailsPools, "FAILED after its creation"),
		evidence.Assumed("A node pool that was deleted does not exist").
			Switch(ShowsDeleted, "it is DELETED for a day"),
		evidence.Assumed("Cycling replaces the nodes that are out of date").
			Switch(CyclesAll, "all nodes, at each update that asks for it"),
		evidence.Assumed("Cycling stays in force for later updates").
			Switch(CyclesOnRequest, "only an update that enables it cycles"),
		evidence.Assumed("The work request of an update that cycles is NODEPOOL_CYCLING").
			Switch(CyclesInUpdates, "NODEPOOL_UPDATE"),
		evidence.Assumed("A work request that a later one takes over is CANCELED").
			Switch(SupersededSucceed, "SUCCEEDED"),
		evidence.Assumed("Nodes that do not come are FAILING with nodeError").
			Switch(HidesNodeErrors, "CREATING without an error"),
		evidence.Assumed("A node pool without an image is refused").
			Switch(ChoosesImage, "it gets the newest for its version and shape"),
		evidence.Assumed("Several node pools of a cluster can have the same name").
			Switch(UniqueNames, "refused with 409 Conflict"),
		evidence.Assumed("Documented defaults are shown").
			Switch(OmitsDefaults, "left out where the request left them out"),
		evidence.Assumed("A node whose boot volume is replaced keeps its tags").
			Switch(RetagsNodes, "it gets those that its node pool has for new nodes"),
		evidence.Assumed("A smaller size takes the newest nodes").
			Switch(TakesOldest, "the oldest"),
	}
}
