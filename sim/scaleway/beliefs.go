package scaleway

import (
	"slices"

	"github.com/muster-project/muster/sim/evidence"
)

// Beliefs returns the behaviour of Scaleway's Kubernetes API that drivers rely on.
func Beliefs() []evidence.Row {
	return evidence.Of("Scaleway", slices.Concat(recorded(), documented(), assumed())...)
}

func recorded() []evidence.Row {
	const (
		wait, taints     = "kapsule/pool-wait", "kapsule/pool-taints-and-labels"
		upgrade, version = "kapsule/cluster-upgrade-pools-with-cluster", "kapsule/pool-version-explicit"
	)
	return []evidence.Row{
		evidence.Recorded("A pool is ready again while the node that a smaller size took is still deleting, with Ready=True", wait),
		evidence.Recorded("A smaller size takes the newest node", wait),
		evidence.Recorded("total_count and lists of nodes include those that are being deleted", wait),
		evidence.Recorded("A deleted pool is refused with 404 not_found, resource and resource_id; it is never shown as deleted", wait),
		evidence.Recorded("A cluster is created within a second and stays pool_required until its first pool", wait),
		evidence.Recorded("The first pool of a cluster puts it into the state creating again", taints),
		evidence.Recorded("A node in creation has an empty provider_id", taints),
		evidence.Recorded("Labels, taints and startup taints can be set while the pool scales", taints),
		evidence.Recorded("Taints are shown in no fixed order", taints),
		evidence.Recorded("node_type is shown in small letters", taints),
		evidence.Recorded("default_volume_type is shown as sbs_5k with root_volume_size 20000000000", taints),
		evidence.Recorded("security_group_id and upgrade_policy {max_unavailable 1, max_surge 0} are filled in", taints),
		evidence.Recorded("labels, taints and startup_taints that a request leaves out are shown as {} and []", wait),
		evidence.Recorded("The cluster type \"\" is shown as kapsule", wait),
		evidence.Recorded("A cluster upgrade shows its version at once and puts pools into upgrading, then scaling, then ready", upgrade),
		evidence.Recorded("An upgrade replaces nodes: each has another ID and provider ID", upgrade),
		evidence.Recorded("With max_surge 0 the node of a pool of one is deleting within a second of the upgrade", version),
		evidence.Recorded("The new node of an upgrade without surge is created before the old one is gone", upgrade),
		evidence.Recorded("A pool stays behind the version of its control plane until it is upgraded", version),
		evidence.Recorded("A pool can be deleted while it is upgraded", version),
		evidence.Recorded("UpdatePool without another size leaves the pool ready and replaces nothing", "kapsule/pool-kubelet-args"),
		evidence.Recorded("max_unavailable and max_surge that are null change nothing", wait),
		evidence.Recorded("A cluster is pool_required again when its last pool is gone", "kapsule/pool-public-ip-disabled"),
		evidence.Recorded("UpdateCluster puts a cluster into updating, also without a change", "kapsule/cluster-auto-upgrade"),
		evidence.Recorded("The provider ID of a node is scaleway://instance/ZONE/SERVER, whose server has another ID", wait),
		evidence.Recorded("Nodes join without user data", wait).Declared("sim.GroupBehavior.Bootstraps"),
		evidence.Recorded("The types of Instances are listed by name, 50 in a page, with the number of all in the header X-Total-Count", wait),
	}
}

func documented() []evidence.Row {
	const (
		openapi, sdk   = "scaleway-sdk-go/api/k8s/v1", "v1.39.0"
		api, published = "OpenAPI of Kubernetes", "v1"
	)
	return []evidence.Row{
		evidence.Documented("UpgradePool takes the version of the cluster alone", api+", UpgradePool", published),
		evidence.Documented("DeleteNode drains the node and lowers the size of its pool by one", openapi+", DeleteNode", sdk),
		evidence.Documented("RebootNode drains the node first", openapi+", RebootNode", sdk),
		evidence.Documented("A cluster has 150 to 500 nodes, by its type", api+", ClusterType.max_nodes", published),
		evidence.Documented("A pool that is being upgraded can't be resized", "Scaleway, How to upgrade the Kubernetes version", "2025-01"),
		evidence.Documented("Autohealing reboots a node that is not ready for 15 minutes and replaces it after 30",
			"Scaleway, Kubernetes Kapsule concepts", "2025"),
		evidence.Documented("The node types DEV1-S, PLAY2-PICO and STARDUST1-S are refused", api+", Pool.node_type", published),
		evidence.Documented("A page has page_size items, and total_count is the number of all", api+", ListNodes", published),
		evidence.Observed("The name of a pool is unique in its cluster: invalid_arguments, name, constraint",
			"terraform-provider-scaleway#1037"),
	}
}

func assumed() []evidence.Row {
	return []evidence.Row{
		evidence.Assumed("A resize that is refused during an upgrade is answered with transient_state and current_state").
			Switch(RefusesOtherwise, "precondition_failed"),
		evidence.Assumed("Machines that can't be created put the pool into warning with error_message").
			Switch(ShowsFailedNodes, "nodes with the status creation_error and error_message"),
		evidence.Assumed("Pools can be changed while their cluster is created or updated").
			Switch(BusyClusters, "refused with transient_state"),
		evidence.Assumed("A pool that scales can be given another size").
			Switch(BusyPools, "refused with transient_state"),
		evidence.Assumed("A size within the bounds is taken also with autoscaling").
			Switch(IgnoresSize, "ignored"),
		evidence.Assumed("A node that can't be drained is deleted after 10 minutes").
			Switch(WaitsForDrains, "kept until it is drained"),
		evidence.Assumed("UpgradePool is refused with transient_state while the pool scales").
			Switch(UpgradesScaling, "accepted"),
		evidence.Assumed("A pool whose nodes do not become Ready within 15 minutes is in warning").
			Switch(ScalesOn, "it is scaling until they do"),
		evidence.Assumed("A size beyond that of the cluster type is refused with quotas_exceeded").
			Switch(InvalidSize, "invalid_arguments"),
		evidence.Assumed("max_unavailable 0 with max_surge 0 is refused").
			Switch(TakesZeroPolicy, "accepted: an upgrade adds one node at a time"),
		evidence.Assumed("A size outside of the bounds of the autoscaler is moved into them").
			Switch(LeavesSize, "left as it is"),
		evidence.Assumed("A page has 50 items by default and 100 at most").
			Switch(SmallPages, "20 by default and at most"),
		evidence.Assumed("Members that the service does not know are ignored").
			Switch(RefusesUnknown, "refused with invalid_arguments"),
		evidence.Assumed("Refusals have the status 400, 401, 403, 404, 409, 412, 423 or 503, by their type; too many requests have 429").
			Switch(PlainStatuses, "400, except for 404 and 429"),
		evidence.Assumed("The size of a pool of external nodes is the number of those that have registered").
			Switch(ExternalSizeStays, "0"),
	}
}
