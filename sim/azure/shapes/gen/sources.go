package main

// sources are the modules that are read. The drivers use the first three; the others are of what is only looked at beside them.
var sources = []source{
	{
		module: "compute/armcompute/v8", out: "compute.json", service: "compute", types: true,
		roots: []string{
			"VirtualMachineScaleSet", "VirtualMachineScaleSetUpdate", "VirtualMachineScaleSetVM", "VirtualMachineUpdate",
			"VirtualMachineScaleSetVMInstanceRequiredIDs",
		},
		operations: []string{
			"VirtualMachineScaleSets_CreateOrUpdate", "VirtualMachineScaleSets_Update", "VirtualMachineScaleSets_Get",
			"VirtualMachineScaleSets_Delete", "VirtualMachineScaleSets_List", "VirtualMachineScaleSets_ListAll",
			"VirtualMachineScaleSets_GetInstanceView", "VirtualMachineScaleSets_ListSkus", "VirtualMachineScaleSets_DeleteInstances",
			"VirtualMachineScaleSets_UpdateInstances",
			"VirtualMachineScaleSetVMs_List", "VirtualMachineScaleSetVMs_Get", "VirtualMachineScaleSetVMs_GetInstanceView",
			"VirtualMachineScaleSetVMs_Update", "VirtualMachineScaleSetVMs_Delete",
			"VirtualMachines_List", "VirtualMachines_ListAll", "VirtualMachines_Get", "VirtualMachines_InstanceView", "VirtualMachines_Update",
			"VirtualMachines_Delete",
			"VirtualMachineScaleSetVMs_PowerOff", "VirtualMachineScaleSetVMs_Deallocate", "VirtualMachineScaleSetVMs_Start",
			"VirtualMachineScaleSetVMs_Restart", "VirtualMachineScaleSetVMs_SimulateEviction",
			"VirtualMachines_PowerOff", "VirtualMachines_Deallocate", "VirtualMachines_Start", "VirtualMachines_Restart",
			"VirtualMachines_SimulateEviction",
			"ResourceSkus_List", "Usage_List",
		},
	},
	{
		module: "containerservice/armcontainerservice/v6", out: "containerservice.json", service: "containerservice", types: true,
		roots: []string{"ManagedCluster", "AgentPool", "TagsObject", "AgentPoolDeleteMachinesParameter"},
		operations: []string{
			"ManagedClusters_List", "ManagedClusters_ListByResourceGroup", "ManagedClusters_Get", "ManagedClusters_CreateOrUpdate",
			"ManagedClusters_UpdateTags", "ManagedClusters_Delete", "ManagedClusters_Start", "ManagedClusters_Stop",
			"ManagedClusters_AbortLatestOperation", "ManagedClusters_ListClusterUserCredentials", "ManagedClusters_ListClusterAdminCredentials",
			"ManagedClusters_GetUpgradeProfile", "ManagedClusters_ListKubernetesVersions",
			"AgentPools_List", "AgentPools_Get", "AgentPools_CreateOrUpdate", "AgentPools_Delete", "AgentPools_GetUpgradeProfile",
			"AgentPools_GetAvailableAgentPoolVersions", "AgentPools_UpgradeNodeImageVersion", "AgentPools_DeleteMachines",
			"AgentPools_AbortLatestOperation",
			"Machines_List", "Machines_Get",
		},
	},
	{
		module: "authorization/armauthorization/v2", service: "authorization", types: true,
		operations: []string{
			"RoleAssignments_Create", "RoleAssignments_Get", "RoleAssignments_Delete", "RoleAssignments_ListForScope", "RoleDefinitions_Get",
			"RoleDefinitions_List",
		},
	},
	{
		module: "resources/armresources", version: "v1.2.0", service: "resources",
		operations: []string{"Tags_GetAtScope", "Tags_CreateOrUpdateAtScope", "Tags_UpdateAtScope", "ResourceGroups_Get"},
	},
	{module: "msi/armmsi", version: "v1.2.0", service: "msi", operations: []string{"UserAssignedIdentities_Get"}},
	{
		module: "network/armnetwork/v7", version: "v7.0.0", service: "network",
		operations: []string{"VirtualNetworks_Get", "Subnets_Get", "LoadBalancers_Get", "LoadBalancerBackendAddressPools_Get",
			"NetworkSecurityGroups_Get"},
	},
}
