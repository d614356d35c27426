package container

import "github.com/muster-project/muster/sim/evidence"

// Beliefs returns the behaviour of GKE that drivers rely on.
func Beliefs() []evidence.Row {
	const pool, cluster, sdk = "gke/containernodepool-swap", "gke/containercluster-swap", "google.golang.org/api v0.284.0"
	return evidence.Of("GKE",
		evidence.Recorded("The instance template of a node pool is regional", pool).
			Switch(GlobalTemplates, "global, as in clusters before 1.29.8"),
		evidence.Recorded("An operation on a node pool starts PENDING", pool),
		evidence.Recorded("An operation on a node pool can start RUNNING instead, by chance", "gke/containernodepool-kubeletconfig"),
		evidence.Recorded("An operation on a cluster starts RUNNING", cluster),
		evidence.Recorded("A change of the node configuration is an operation UPGRADE_NODES", pool),
		evidence.Recorded("Creation and deletion of a node pool are operations CREATE_NODE_POOL and DELETE_NODE_POOL", pool),
		evidence.Recorded("selfLink and targetLink of an operation name the project by its number", pool),
		evidence.Recorded("A finished upgrade reports NODES_TOTAL, NODES_FAILED, NODES_COMPLETE and NODES_DONE as progress", pool),
		evidence.Recorded("A cluster that does not exist is refused with 404 NOT_FOUND, reason notFound", cluster),
		evidence.Recorded("A node pool that does not exist is refused with 404 and a text that names only the pool", pool),
		evidence.Recorded("A node pool has an etag, which is a UUID", pool),
		evidence.Recorded("Names of groups and templates hold those of cluster and node pool, cut to 32 characters together", pool),
		evidence.Recorded("The DNS endpoint of a cluster names its location, be it a zone or a region", pool),
		evidence.Recorded("maxSurge 1 and strategy SURGE are the defaults of upgradeSettings", pool),
		evidence.Recorded("autoRepair and autoUpgrade are true by default", pool),
		evidence.Recorded("A node pool without an autoscaler shows no member autoscaling", pool),
		evidence.Recorded("GKE adds the resource label goog-gke-node-pool-provisioning-model", pool),
		evidence.Recorded("GKE sets the metadata entry disable-legacy-endpoints", pool),
		evidence.Recorded("The boot disk is pd-balanced with 100 GB by default and shown in diskType and in bootDisk", pool),
		evidence.Recorded("instanceGroupUrls lists instance group managers of compute/v1, one per zone",
			"gke/containercluster-containerdconfigupdateignored"),
		evidence.Recorded("The update policy of the managed instance group is OPPORTUNISTIC", pool),
		evidence.Recorded("A repair applies the current template: forceUpdateOnRepair is YES", pool),
		evidence.Recorded("An upgrade gives the managed instance group another template and keeps the group", pool),
		evidence.Recorded("Nodes join without user data in the request", pool).Declared("sim.GroupBehavior.Bootstraps"),
		evidence.Documented("A request with another etag than the current one is refused with ABORTED", "UpdateNodePoolRequest.Etag", sdk),
		evidence.Documented("AUTO_UPGRADE_NODES is unused: automatic upgrades are UPGRADE_NODES", "Operation.OperationType", sdk),
		evidence.Assumed("Members that the API calls deprecated are shown: statusMessage, nodepoolConditions and the code of a condition").
			Switch(OmitsDeprecated, "they are absent"),
		evidence.Documented("UPGRADE_NODES can be cancelled", "Operation.OperationType", sdk),
		evidence.Documented("SET_NODE_POOL_MANAGEMENT runs beside other operations", "Operation.OperationType", sdk),
		evidence.Assumed("fetchNodePoolUpgradeInfo lists the upgrades that clients started").
			Switch(HidesUpgrades, "no upgrades"),
		evidence.Observed("A second operation on a cluster is refused with 400 FAILED_PRECONDITION, reason CLUSTER_ALREADY_HAS_OPERATION",
			"cloudpilot-ai/karpenter-provider-gcp: pkg/providers/nodepooltemplate").
			Switch(BusyAborted, "409 ABORTED").Declared("sim.GroupBehavior.BusyAfterChange"),
		evidence.Observed("setSize changes initialNodeCount of the node pool",
			"terraform-provider-google: container_node_pool, initial_node_count, which can change by a resize").
			Switch(KeepsInitialSize, "initialNodeCount stays"),
		evidence.Assumed("An operation stays readable for 24 hours after its end").Switch(ForgetsOperations, "for a minute"),
		evidence.Assumed("A cancelled upgrade with surge removes the surge nodes before it ends").
			Switch(KeepsSurge, "the surge nodes stay, beside the size"),
	)
}
