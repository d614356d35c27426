package body

import "github.com/muster-project/muster/cloud/fields"

// reimages describes a change for which AKS keeps the machines of scale sets.
const reimages = "reimages the nodes: each keeps its name, its scale set instance and its provider ID. Virtual machines by themselves " +
	"are replaced"

var (
	// aksOwned are the labels and taints that AKS adds: those of spot nodes, and all others of its domain.
	aksOwned = fields.ServiceOwned{Domains: []string{"kubernetes.azure.com"}}
	// allMuster marks lists to which AKS adds nothing.
	allMuster = fields.ServiceOwned{None: true}
)

// Fields are the properties that AKS changes (reference: Agent Pools - Create Or Update, and "Manage node pools"), and those of an
// AzureManagedMachinePool. All others are fixed, and have the same name in specifications.
var Fields = fields.Table[Properties, Properties]{
	{Name: VMSize, Spec: "spec.sku", Effect: fields.Rolls, Compare: fields.Caseless, Codes: []string{"VMSizeNotSupported"}},
	{Name: OrchestratorVersion, Spec: fields.Version, Effect: fields.Rolls, Doc: reimages, Codes: []string{"K8sVersionNotSupported",
		"NodePoolMcVersionIncompatible", "AgentPoolK8sVersionNotSupported", "AgentPoolUpgradeVersionNotAllowed"}},
	{Name: NodeImage, Spec: "spec.nodeImageVersion", Effect: fields.Rolls, Doc: reimages},
	{Name: "osSKU", Effect: fields.Rolls},
	{Name: "securityProfile", Effect: fields.Rolls},

	{Name: Count, Spec: fields.Replicas, Doc: "adds nodes, or deletes nodes that Muster has drained"},
	{Name: Mode, Spec: "spec.mode"},
	{Name: EnableAutoScaling, Spec: "spec.scaling"},
	{Name: MinCount, Spec: "spec.scaling.minSize"},
	{Name: MaxCount, Spec: "spec.scaling.maxSize"},
	{Name: NodeLabels, Spec: "spec.nodeLabels", Compare: fields.Exact, Owned: aksOwned},
	{Name: NodeTaints, Spec: "spec.taints", Compare: fields.Unordered, Owned: aksOwned},
	{Name: Tags, Spec: "spec.additionalTags", Owned: fields.ServiceOwned{Recorded: ownTags + "tags"}},
	{Name: ScaleDownMode, Spec: "spec.scaleDownMode"},
	{Name: "upgradeSettings", Spec: "spec.upgradeSettings"},
	{Name: "upgradeSettingsBlueGreen"},
	{Name: "powerState"},
	{Name: "enableCustomCATrust"},
	{Name: "networkProfile"},
	{Name: "nodeInitializationTaints", Compare: fields.Unordered, Owned: allMuster},
	{Name: "gpuProfile"},

	{Name: "spotMaxPrice", Spec: "spec.spotMaxPrice", Effect: fields.Fixed, Doc: "never changes it: `GroupUnchangeable` names it"},
	{Name: "name", Spec: "spec.name", Effect: fields.Fixed},
	{Name: "osDiskSizeGB", Spec: "spec.osDiskSizeGB", Effect: fields.Fixed},
	{Name: "availabilityZones", Spec: "spec.availabilityZones", Effect: fields.Fixed, Compare: fields.Unordered, Owned: allMuster},
	{Name: "maxPods", Spec: "spec.maxPods", Effect: fields.Fixed},
	{Name: "osDiskType", Spec: "spec.osDiskType", Effect: fields.Fixed},
	{Name: "osType", Spec: "spec.osType", Effect: fields.Fixed},
	{Name: "enableUltraSSD", Spec: "spec.enableUltraSSD", Effect: fields.Fixed},
	{Name: "enableNodePublicIP", Spec: "spec.enableNodePublicIP", Effect: fields.Fixed},
	{Name: "nodePublicIPPrefixID", Spec: "spec.nodePublicIPPrefixID", Effect: fields.Fixed, Compare: fields.Caseless},
	{Name: "scaleSetPriority", Spec: "spec.scaleSetPriority", Effect: fields.Fixed},
	{Name: "kubeletConfig", Spec: "spec.kubeletConfig", Effect: fields.Fixed},
	{Name: "kubeletConfig.allowedUnsafeSysctls", Spec: "spec.kubeletConfig.allowedUnsafeSysctls", Effect: fields.Fixed,
		Compare: fields.Unordered, Owned: allMuster},
	{Name: "kubeletDiskType", Spec: "spec.kubeletDiskType", Effect: fields.Fixed},
	{Name: "linuxOSConfig", Spec: "spec.linuxOSConfig", Effect: fields.Fixed},
	{Name: "vnetSubnetID", Spec: "spec.subnetName", Effect: fields.Fixed, Compare: fields.Caseless},
	{Name: "enableFIPS", Spec: "spec.enableFIPS", Effect: fields.Fixed},
	{Name: "enableEncryptionAtHost", Spec: "spec.enableEncryptionAtHost", Effect: fields.Fixed},
	{Name: "podSubnetID", Effect: fields.Fixed, Compare: fields.Caseless},
	{Name: "proximityPlacementGroupID", Effect: fields.Fixed, Compare: fields.Caseless},
	{Name: "capacityReservationGroupID", Effect: fields.Fixed, Compare: fields.Caseless},
	{Name: "hostGroupID", Effect: fields.Fixed, Compare: fields.Caseless},
}
