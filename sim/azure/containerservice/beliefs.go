package containerservice

import "github.com/muster-project/muster/sim/evidence"

// cli is the source of agent pools that clients of Azure have recorded.
const cli = "Azure/azure-cli: "

// Beliefs returns the behaviour of AKS that drivers rely on.
func Beliefs() []evidence.Row {
	const (
		sdk   = "armcontainerservice v6.6.0"
		aso   = "Azure/azure-service-operator: Test_AKS_ManagedCluster_20250801_CRUD"
		later = "Azure/azure-service-operator: Test_AKS_ManagedCluster_20260501_CRUD"
	)
	return append(recordedPools(), evidence.Of("AKS",
		evidence.Recorded("Managed clusters and agent pools show no eTag, also in versions where it is documented", aso).
			Switch(ETags, "an eTag and conditions, as armcontainerservice documents"),
		evidence.Recorded("IDs are written with resourcegroups in small letters", aso),
		evidence.Recorded("The type of a managed cluster is written Microsoft.ContainerService/ManagedClusters", aso),
		evidence.Recorded("A PUT of a managed cluster puts the cluster and the agent pools that it changes into the state Updating", aso),
		evidence.Recorded("The PUT that creates an agent pool is answered with 201, state Creating and an Azure-AsyncOperation header", aso),
		evidence.Recorded("An operation that runs or has succeeded can show an error (NotLatestOperation), and mostly shows none", aso).
			Switch(OperationErrors, "each shows one"),
		evidence.Recorded("Settings that a PUT leaves out keep their values", aso),
		evidence.Recorded("maxSurge 10% and maxUnavailable 0 are shown where no upgrade settings are given", aso),
		evidence.Recorded("maxPods 250, osDiskSizeGB 128, osDiskType Managed and kubeletDiskType OS are defaults", aso),
		evidence.Recorded("osSKU Ubuntu is the default of Linux", aso),
		evidence.Recorded("type VirtualMachineScaleSets is the default", aso),
		evidence.Recorded("securityProfile shows sshAccess LocalUser, enableVTPM false and enableSecureBoot false by default", aso),
		evidence.Recorded("scaleDownMode Delete is the default", aso),
		evidence.Recorded("orchestratorVersion is shown where the request names none", aso),
		evidence.Recorded("maxAgentPools of a managed cluster is 100", aso),
		evidence.Recorded("The PUT that creates a managed cluster is answered with 201, state Creating and Azure-AsyncOperation", later),
		evidence.Recorded("Addresses of operations are signed and name version 2025-03-01, whatever version the request names", later),
		evidence.Recorded("Neither an accepted request nor the status of its operation has a header Retry-After", later),
		evidence.Recorded("An agent pool that AKS does not size shows no member enableAutoScaling", later),
		evidence.Recorded("Empty labels and tags of a request are shown as empty objects", later),
		evidence.Recorded("An agent pool shows nodeImageVersion and currentOrchestratorVersion while it is created", later),
		evidence.Documented("A node has 30 minutes to drain by default; the upgrade fails after them",
			"AgentPoolUpgradeSettings.DrainTimeoutInMinutes", sdk),
		evidence.Documented("The percentage of maxSurge is rounded up", "AgentPoolUpgradeSettings.MaxSurge", sdk),
		evidence.Documented("An upgrade reimages a node after its drain and a soak time, 0 minutes by default",
			"AgentPoolUpgradeSettings.NodeSoakDurationInMinutes", sdk),
		evidence.Documented("A User pool has 0 to 1000 nodes, a System pool 1 to 1000; the default is 1",
			"ManagedClusterAgentPoolProfileProperties.Count", sdk),
		evidence.Assumed("The count stays after the deletion of a machine out of band; the next operation replaces the machine").
			Switch(LowersCount, "lowered to the number of machines"),
		evidence.Recorded("The label and the taint of spot nodes are shown among those of the user, also while the pool is created",
			cli+"test_aks_create_spot_node_pool").Switch(HidesOwn, "hidden"),
		evidence.Assumed("The label of spot nodes stays where a request replaces the labels without it").
			Switch(LosesOwn, "it is removed, as kubernetes-sigs/cluster-api-provider-azure#2603 reports"),
		evidence.Assumed("A request with another eTag than the current one is refused with 412, where there are eTags").
			Switch(ETagConflict, "409 Conflict"),
		evidence.Observed("A change during an operation on the pool or its cluster is refused with 409 OperationNotAllowed",
			"cilium/cilium#25944, Azure/terraform-azurerm-avm-ptn-aks-production#25").Declared("sim.GroupBehavior.BusyAfterChange"),
		evidence.Assumed("The deletion of an agent pool that does not exist is answered with 204").Switch(AbsentNotFound, "404 NotFound"),
		evidence.Assumed("A machine keeps its ID and its name when an upgrade reimages it").
			Switch(RenewsMachines, "it is deleted, and another one is created"),
		evidence.Assumed("A PUT without changes resumes an upgrade that failed").Switch(ResumesNot, "it ends, and the nodes stay as they are"),
		evidence.Recorded("Labels of a request replace all those of the agent pool; without labels it shows no member nodeLabels",
			cli+"test_aks_nodepool_update_label_msi"),
		evidence.Observed("Tags of a request replace all those of the agent pool",
			"kubernetes-sigs/cluster-api-provider-azure: test/e2e/aks_tags.go"),
	)...)
}

// recordedPools returns how agent pools are changed.
func recordedPools() []evidence.Row {
	const (
		scale = cli + "test_aks_nodepool_create_scale_delete_msi"
		stop  = cli + "test_aks_nodepool_stop_and_start"
		// machines is a scenario of 2024 in version 2024-07-01; the others are of 2022 and 2023.
		machines = cli + "test_aks_nodepool_delete_machines"
	)
	return evidence.Of("AKS",
		evidence.Recorded("Taints of a request replace all those of the agent pool; without taints it shows no member nodeTaints",
			cli+"test_aks_nodepool_update_taints_msi"),
		evidence.Recorded("A PUT with another count is answered with 200, the new count, state Scaling and Azure-AsyncOperation", scale),
		evidence.Recorded("A PUT with other tags, labels or taints puts the agent pool into the state Updating for some seconds", scale),
		evidence.Recorded("The deletion of an agent pool is answered with 202, no body, Azure-AsyncOperation and Location", scale),
		evidence.Recorded("deleteMachines is answered with 202, no body, Azure-AsyncOperation and Location, and lowers the count", machines),
		evidence.Recorded("The address in Location is answered with 204 after an operation that deletes machines or is aborted", machines),
		evidence.Recorded("upgradeNodeImageVersion is answered with 202, the agent pool in state UpgradingNodeImageVersion, and Location",
			cli+"test_aks_upgrade_node_image_only_nodepool"),
		evidence.Recorded("A stopped agent pool shows count 0 and powerState Stopped, from the answer to the request on", stop),
		evidence.Recorded("A start brings back the count from before the stop, although the request has count 0", stop),
		evidence.Recorded("An abort is answered with 202, the agent pool as it is, Azure-AsyncOperation and Location",
			cli+"test_aks_nodepool_abort"),
		evidence.Recorded("A stop that is aborted leaves the state Canceled, powerState Running and the count from before",
			cli+"test_aks_nodepool_abort"),
	)
}
