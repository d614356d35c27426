package v1beta1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/api/common"
)

const (
	// AzureManagedMachinePoolKind is the kind's name.
	AzureManagedMachinePoolKind = "AzureManagedMachinePool"

	// ManagedMachinePoolFinalizer keeps the object until its agent pool is gone. It is the ecosystem's.
	ManagedMachinePoolFinalizer = "azurecluster.infrastructure.cluster.x-k8s.io"

	// ModeLabel is the label in which the ecosystem keeps the mode of the pool.
	ModeLabel = "azuremanagedmachinepool.infrastructure.cluster.x-k8s.io/agentpoolmode"

	// ModeSystem is the mode of an agent pool that runs AKS's own pods.
	ModeSystem = "System"
	// ModeUser is the mode of an agent pool for workloads alone.
	ModeUser = "User"
)

// AzureManagedMachinePoolSpec defines the desired state of an AzureManagedMachinePool, an agent pool of AKS.
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.name) || (has(self.name) && self.name == oldSelf.name)",fieldPath=".name",reason=FieldValueForbidden,message="can't be changed once it is set: AKS can't rename an agent pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.osDiskSizeGB) == has(oldSelf.osDiskSizeGB) && (!has(self.osDiskSizeGB) || self.osDiskSizeGB == oldSelf.osDiskSizeGB)",fieldPath=".osDiskSizeGB",reason=FieldValueForbidden,message="can't be changed once the pool exists: AKS can't change the size of the OS disk of an agent pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.availabilityZones) == has(oldSelf.availabilityZones) && (!has(self.availabilityZones) || (size(self.availabilityZones) == size(oldSelf.availabilityZones) && self.availabilityZones.all(z, z in oldSelf.availabilityZones)))",fieldPath=".availabilityZones",reason=FieldValueForbidden,message="can't be changed once the pool exists: AKS can't change the zones of an agent pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.maxPods) == has(oldSelf.maxPods) && (!has(self.maxPods) || self.maxPods == oldSelf.maxPods)",fieldPath=".maxPods",reason=FieldValueForbidden,message="can't be changed once the pool exists: AKS can't change the number of pods per node of an agent pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.osDiskType) == has(oldSelf.osDiskType) && (!has(self.osDiskType) || self.osDiskType == oldSelf.osDiskType)",fieldPath=".osDiskType",reason=FieldValueForbidden,message="can't be changed once the pool exists: AKS can't change the type of the OS disk of an agent pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.osType) == has(oldSelf.osType) && (!has(self.osType) || self.osType == oldSelf.osType)",fieldPath=".osType",reason=FieldValueForbidden,message="can't be changed once the pool exists: AKS can't change the operating system of an agent pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.enableUltraSSD) == has(oldSelf.enableUltraSSD) && (!has(self.enableUltraSSD) || self.enableUltraSSD == oldSelf.enableUltraSSD)",fieldPath=".enableUltraSSD",reason=FieldValueForbidden,message="can't be changed once the pool exists: AKS can't change ultra disks of an agent pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.enableNodePublicIP) == has(oldSelf.enableNodePublicIP) && (!has(self.enableNodePublicIP) || self.enableNodePublicIP == oldSelf.enableNodePublicIP)",fieldPath=".enableNodePublicIP",reason=FieldValueForbidden,message="can't be changed once the pool exists: AKS can't change public IP addresses of nodes of an agent pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.nodePublicIPPrefixID) == has(oldSelf.nodePublicIPPrefixID) && (!has(self.nodePublicIPPrefixID) || self.nodePublicIPPrefixID == oldSelf.nodePublicIPPrefixID)",fieldPath=".nodePublicIPPrefixID",reason=FieldValueForbidden,message="can't be changed once the pool exists: AKS can't change the public IP prefix of an agent pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.scaleSetPriority) == has(oldSelf.scaleSetPriority) && (!has(self.scaleSetPriority) || self.scaleSetPriority == oldSelf.scaleSetPriority)",fieldPath=".scaleSetPriority",reason=FieldValueForbidden,message="can't be changed once the pool exists: AKS can't change the priority of an agent pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.kubeletConfig) == has(oldSelf.kubeletConfig) && (!has(self.kubeletConfig) || self.kubeletConfig == oldSelf.kubeletConfig)",fieldPath=".kubeletConfig",reason=FieldValueForbidden,message="can't be changed once the pool exists: AKS can't change the kubelet's configuration of an agent pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.kubeletDiskType) == has(oldSelf.kubeletDiskType) && (!has(self.kubeletDiskType) || self.kubeletDiskType == oldSelf.kubeletDiskType)",fieldPath=".kubeletDiskType",reason=FieldValueForbidden,message="can't be changed once the pool exists: AKS can't change the kubelet's disk of an agent pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.linuxOSConfig) == has(oldSelf.linuxOSConfig) && (!has(self.linuxOSConfig) || self.linuxOSConfig == oldSelf.linuxOSConfig)",fieldPath=".linuxOSConfig",reason=FieldValueForbidden,message="can't be changed once the pool exists: AKS can't change the configuration of the operating system of an agent pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.enableFIPS) == has(oldSelf.enableFIPS) && (!has(self.enableFIPS) || self.enableFIPS == oldSelf.enableFIPS)",fieldPath=".enableFIPS",reason=FieldValueForbidden,message="can't be changed once the pool exists: AKS can't change FIPS of an agent pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.enableEncryptionAtHost) == has(oldSelf.enableEncryptionAtHost) && (!has(self.enableEncryptionAtHost) || self.enableEncryptionAtHost == oldSelf.enableEncryptionAtHost)",fieldPath=".enableEncryptionAtHost",reason=FieldValueForbidden,message="can't be changed once the pool exists: AKS can't change encryption at host of an agent pool; create another pool"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.subnetName) || (has(self.subnetName) && self.subnetName == oldSelf.subnetName)",fieldPath=".subnetName",reason=FieldValueForbidden,message="can't be changed once it is set: AKS can't move an agent pool to another subnet; create another pool"
// +kubebuilder:validation:XValidation:rule="self.mode != 'System' || !has(self.osType) || self.osType == 'Linux'",fieldPath=".osType",reason=FieldValueForbidden,message="must be Linux when mode is System: AKS runs its own pods on Linux nodes"
// +kubebuilder:validation:XValidation:rule="!has(self.name) || !has(self.osType) || self.osType != 'Windows' || size(self.name) <= 6",fieldPath=".name",reason=FieldValueInvalid,messageExpression="'found ' + self.name + ', must have at most 6 characters when osType is Windows'"
// +kubebuilder:validation:XValidation:rule="!has(self.nodePublicIPPrefixID) || (has(self.enableNodePublicIP) && self.enableNodePublicIP)",fieldPath=".enableNodePublicIP",reason=FieldValueInvalid,message="must be true when nodePublicIPPrefixID is set"
// +kubebuilder:validation:XValidation:rule="!has(self.linuxOSConfig) || !has(self.linuxOSConfig.swapFileSizeMB) || (has(self.kubeletConfig) && has(self.kubeletConfig.failSwapOn) && !self.kubeletConfig.failSwapOn)",fieldPath=".linuxOSConfig.swapFileSizeMB",reason=FieldValueInvalid,message="needs kubeletConfig.failSwapOn to be false: a kubelet that fails with swap on does not start"
// +kubebuilder:validation:XValidation:rule="!has(self.linuxOSConfig) || !has(self.osType) || self.osType == 'Linux'",fieldPath=".linuxOSConfig",reason=FieldValueForbidden,message="can't be set when osType is Windows"
// +kubebuilder:validation:XValidation:rule="!has(self.scaleSetPriority) || self.scaleSetPriority != 'Spot' || self.mode == 'User'",fieldPath=".scaleSetPriority",reason=FieldValueForbidden,message="can't be Spot when mode is System: AKS has spot nodes in User pools alone"
// +kubebuilder:validation:XValidation:rule="!has(self.spotMaxPrice) || (has(self.scaleSetPriority) && self.scaleSetPriority == 'Spot')",fieldPath=".spotMaxPrice",reason=FieldValueForbidden,message="can only be set when scaleSetPriority is Spot"
// +kubebuilder:validation:XValidation:rule="!has(self.scaleSetPriority) || self.scaleSetPriority != 'Spot' || !has(self.upgradeSettings) || (!has(self.upgradeSettings.maxSurge) && !has(self.upgradeSettings.maxUnavailable))",fieldPath=".upgradeSettings",reason=FieldValueForbidden,message="can't have maxSurge or maxUnavailable when scaleSetPriority is Spot: AKS adds no machines to a spot pool while it upgrades it"
// +kubebuilder:validation:XValidation:rule="self.mode != 'System' || !has(self.scaling) || !has(self.scaling.minSize) || self.scaling.minSize >= 1",fieldPath=".scaling.minSize",reason=FieldValueInvalid,message="must be at least 1 when mode is System: AKS keeps a node in every System pool"
type AzureManagedMachinePoolSpec struct {
	// AdditionalTags are set on the agent pool and its cloud objects, in addition to the tags of the controller. If the control plane's
	// additionalTags have the same key, the pool's value is used.
	// +optional
	AdditionalTags azurev1.Tags `json:"additionalTags,omitempty"`

	// Name of the agent pool in AKS: lower-case letters and digits, at most 12 characters, and 6 with Windows. Absent, it is the name of
	// the object. It can't be changed later.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=12
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]*$`
	Name *string `json:"name,omitempty"`

	// Mode of the agent pool: System, which runs AKS's own pods and needs Linux and at least one node, or User. A cluster keeps at least
	// one System pool.
	// +required
	// +kubebuilder:validation:Enum=System;User
	Mode string `json:"mode"`

	// SKU is the VM size of the nodes, for example Standard_D2s_v3. When it is changed AKS replaces the nodes in a surge, each drained first.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	SKU string `json:"sku"`

	// OSDiskSizeGB is the size of the OS disk in gigabytes; absent or 0, AKS takes the default of the VM size. It can't be changed later.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2048
	OSDiskSizeGB *int `json:"osDiskSizeGB,omitempty"`

	// AvailabilityZones are the zones that nodes are spread over. They can't be changed later.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.all(z, self.exists_one(o, o == z))",reason=FieldValueInvalid,message="no zone may be named twice"
	AvailabilityZones []string `json:"availabilityZones,omitempty"`

	// NodeLabels are the labels of the pool's nodes. Keys of kubernetes.azure.com belong to AKS; the one that it gives spot nodes,
	// kubernetes.azure.com/scalesetpriority, may be named.
	// +optional
	// +kubebuilder:validation:MaxProperties=100
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('kubernetes.azure.com') || k == 'kubernetes.azure.com/scalesetpriority')",reason=FieldValueInvalid,message="no key may begin with kubernetes.azure.com but kubernetes.azure.com/scalesetpriority: AKS sets these labels"
	NodeLabels map[string]string `json:"nodeLabels,omitempty"`

	// Taints of the pool's nodes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Taints []Taint `json:"taints,omitempty"`

	// ProviderID is the resource ID of the agent pool, after azure://. It is written by the controller.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	ProviderID string `json:"providerID,omitempty"`

	// ProviderIDList are the provider IDs of the pool's nodes. It is written by the controller.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	ProviderIDList []string `json:"providerIDList,omitempty"`

	// Scaling has AKS's own autoscaler size the pool. spec.replicas of the MachinePool then follows the pool's size.
	// +optional
	Scaling *ManagedMachinePoolScaling `json:"scaling,omitempty"`

	// MaxPods is the largest number of pods on a node; absent, AKS takes that of the cluster's network plugin. It can't be changed later.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=250
	MaxPods *int `json:"maxPods,omitempty"`

	// OsDiskType is Managed, or Ephemeral for a disk on the host. It can't be changed later.
	// +optional
	// +kubebuilder:validation:Enum=Ephemeral;Managed
	// +kubebuilder:default=Managed
	OsDiskType *string `json:"osDiskType,omitempty"`

	// EnableUltraSSD is true if nodes can use ultra disks. It can't be changed later.
	// +optional
	EnableUltraSSD *bool `json:"enableUltraSSD,omitempty"`

	// OSType is Linux or Windows. It can't be changed later.
	// +optional
	// +kubebuilder:validation:Enum=Linux;Windows
	// +kubebuilder:default=Linux
	OSType *string `json:"osType,omitempty"`

	// EnableNodePublicIP is true if each node has a public IP address. It can't be changed later.
	// +optional
	EnableNodePublicIP *bool `json:"enableNodePublicIP,omitempty"`

	// NodePublicIPPrefixID is the resource ID of the prefix that public IP addresses are taken from. It can't be changed later.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^(?i)/?subscriptions/[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}/resourcegroups/[^/]+/providers/microsoft[.]network/publicipprefixes/[^/]+$')",reason=FieldValueInvalid,message="must be the resource ID of a public IP prefix: /subscriptions/ID/resourceGroups/NAME/providers/Microsoft.Network/publicIPPrefixes/NAME"
	NodePublicIPPrefixID *string `json:"nodePublicIPPrefixID,omitempty"`

	// ScaleSetPriority is Regular, or Spot for capacity that Azure may take back. It can't be changed later.
	// +optional
	// +kubebuilder:validation:Enum=Regular;Spot
	ScaleSetPriority *string `json:"scaleSetPriority,omitempty"`

	// ScaleDownMode is Delete, or Deallocate, which keeps the disks of nodes that are scaled in.
	// +optional
	// +kubebuilder:validation:Enum=Deallocate;Delete
	// +kubebuilder:default=Delete
	ScaleDownMode *string `json:"scaleDownMode,omitempty"`

	// SpotMaxPrice is the most that is paid for an hour of a spot node in US dollars, greater than zero, or -1 for the price of a
	// regular node.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? (self == -1 || self > 0) : (isQuantity(self) && (quantity(self).compareTo(quantity('-1')) == 0 || quantity(self).compareTo(quantity('0')) > 0))",reason=FieldValueInvalid,message="must be more than 0, or -1 for whatever a regular virtual machine costs"
	SpotMaxPrice *resource.Quantity `json:"spotMaxPrice,omitempty"`

	// KubeletConfig are the kubelet's settings. They can't be changed later.
	// +optional
	KubeletConfig *KubeletConfig `json:"kubeletConfig,omitempty"`

	// KubeletDiskType is where the kubelet keeps its data: OS or Temporary. It can't be changed later.
	// +optional
	// +kubebuilder:validation:Enum=OS;Temporary
	KubeletDiskType *string `json:"kubeletDiskType,omitempty"`

	// LinuxOSConfig are settings of the operating system. They can't be changed later.
	// +optional
	LinuxOSConfig *LinuxOSConfig `json:"linuxOSConfig,omitempty"`

	// SubnetName is the subnet of the control plane's network that nodes are in; absent, it is the control plane's. It can be set once.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=80
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9]([-._a-zA-Z0-9]*[_a-zA-Z0-9])?$`
	SubnetName *string `json:"subnetName,omitempty"`

	// EnableFIPS is true if nodes run a FIPS image. It can't be changed later.
	// +optional
	EnableFIPS *bool `json:"enableFIPS,omitempty"`

	// EnableEncryptionAtHost is true if disks are encrypted on the host. It can't be changed later.
	// +optional
	EnableEncryptionAtHost *bool `json:"enableEncryptionAtHost,omitempty"`

	// ASOManagedClustersAgentPoolPatches are JSON merge patches to the agent pool in the form of Azure Service Operator's manifest. They are
	// applied in order to the request to AKS. A patch of a field that the controller sets (owner, count, orchestratorVersion, tags of the
	// owner) is rejected.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=65536
	ASOManagedClustersAgentPoolPatches []string `json:"asoManagedClustersAgentPoolPatches,omitempty"`

	// UpgradeSettings configure how AKS replaces nodes in upgrades. Absent fields have the defaults of AKS.
	// +optional
	UpgradeSettings *UpgradeSettings `json:"upgradeSettings,omitempty"`

	// NodeImageVersion is the oldest node image that nodes may have, by its release, for example 202610.01.0 or
	// AKSUbuntu-2204gen2containerd-202610.01.0. While nodes have an older one, AKS upgrades the node image of the pool to the newest, in a
	// surge, each node drained first. Absent, node images are left to AKS.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]+-)*[0-9]{6}[.][0-9]{1,2}[.][0-9]{1,3}$`
	NodeImageVersion *string `json:"nodeImageVersion,omitempty"`
}

// ManagedMachinePoolScaling has AKS's own autoscaler size the pool.
// +kubebuilder:validation:XValidation:rule="!has(self.minSize) || !has(self.maxSize) || self.minSize <= self.maxSize",fieldPath=".minSize",reason=FieldValueInvalid,message="must not be greater than maxSize"
type ManagedMachinePoolScaling struct {
	// MinSize is the least number of nodes.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	MinSize *int `json:"minSize,omitempty"`

	// MaxSize is the largest number of nodes.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxSize *int `json:"maxSize,omitempty"`
}

// Taint of the pool's nodes.
type Taint struct {
	// Effect of the taint.
	// +required
	// +kubebuilder:validation:Enum=NoSchedule;NoExecute;PreferNoSchedule
	Effect string `json:"effect"`

	// Key of the taint.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Key string `json:"key"`

	// Value of the taint.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Value string `json:"value"`
}

// AzureManagedMachinePoolStatus defines the observed state of an AzureManagedMachinePool.
type AzureManagedMachinePoolStatus struct {
	common.Status `json:",inline"`

	// ErrorReason belongs to the older contract. It is read and never set: nothing here is beyond repair.
	// +optional
	ErrorReason *string `json:"errorReason,omitempty"`

	// ErrorMessage belongs to the older contract. It is read and never set.
	// +optional
	ErrorMessage *string `json:"errorMessage,omitempty"`

	// NodeImageVersion is the node image that new nodes get, as AKS reports it.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	NodeImageVersion string `json:"nodeImageVersion,omitempty"`

	// LongRunningOperationStates are operations of the cloud that have not been seen to end. They are hints: what they do is observed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	LongRunningOperationStates []azurev1.Future `json:"longRunningOperationStates,omitempty"`
}

// AzureManagedMachinePool is an agent pool of an AKS cluster.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=azuremanagedmachinepools,scope=Namespaced,categories=cluster-api,shortName=ammp
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta1"
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",description="Cluster that the pool belongs to"
// +kubebuilder:printcolumn:name="Desired",type="integer",JSONPath=".status.desiredReplicas",description="Instances that the pool is brought to"
// +kubebuilder:printcolumn:name="Current",type="integer",JSONPath=".status.replicas",description="Instances that exist in the cloud"
// +kubebuilder:printcolumn:name="Ready",type="integer",JSONPath=".status.readyReplicas",description="Instances whose Node is Ready"
// +kubebuilder:printcolumn:name="Up-to-date",type="integer",JSONPath=".status.upToDateReplicas",description="Instances launched from the wanted template"
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.state",description="What the pool is doing"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the pool was created"
// +kubebuilder:printcolumn:name="Paused",type="string",priority=1,JSONPath=".status.conditions[?(@.type==\"Paused\")].status",description="Whether the pool is left alone"
// +kubebuilder:printcolumn:name="Template",type="string",priority=1,JSONPath=".status.template",description="Template that new instances are launched from"
// +kubebuilder:printcolumn:name="ProviderID",type="string",priority=1,JSONPath=".spec.providerID",description="The cloud's ID of the group"
// +kubebuilder:printcolumn:name="Version",type="string",priority=1,JSONPath=".status.version",description="Kubernetes version that new instances run"
type AzureManagedMachinePool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec defines the desired state of the pool.
	// +required
	Spec AzureManagedMachinePoolSpec `json:"spec"`

	// Status holds the observed state of the pool.
	// +optional
	Status AzureManagedMachinePoolStatus `json:"status,omitzero"`
}

// AzureManagedMachinePoolList is a list of AzureManagedMachinePool.
// +kubebuilder:object:root=true
type AzureManagedMachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []AzureManagedMachinePool `json:"items"`
}
