package v1beta2

// CNIType is a CNI plugin.
// +kubebuilder:validation:Enum=OCI_VCN_IP_NATIVE;FLANNEL_OVERLAY;""
type CNIType string

// The plugins.
const (
	// CNINative gives pods addresses of the cluster's network.
	CNINative CNIType = "OCI_VCN_IP_NATIVE"
	// CNIFlannel gives pods addresses of an overlay.
	CNIFlannel CNIType = "FLANNEL_OVERLAY"
)

// NodePoolNodeConfig configures the placement and the network of nodes.
type NodePoolNodeConfig struct {
	// IsPvEncryptionInTransitEnabled is true if the paravirtualized attachments of volumes are encrypted in transit. The default is false.
	// +optional
	IsPvEncryptionInTransitEnabled *bool `json:"isPvEncryptionInTransitEnabled,omitempty"`

	// KMSKeyID is the OCID of the key that encrypts boot volumes. By default Oracle manages the key.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	KMSKeyID *string `json:"kmsKeyId,omitempty"`

	// PlacementConfigs are the availability domains of nodes, with their subnets. The default is all availability domains of the cluster,
	// with its first subnet with role worker.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	PlacementConfigs []PlacementConfig `json:"placementConfigs,omitempty"`

	// NSGNames are the names of the nodes' network security groups in the OCIManagedCluster. The default is the groups with role worker.
	// +optional
	NSGNames SecurityGroupNames `json:"nsgNames,omitempty"`

	// NodePoolPodNetworkOptionDetails configures the network of pods. The default is OCI_VCN_IP_NATIVE with the subnet and the network
	// security group of the name pod, or FLANNEL_OVERLAY if the cluster has only that.
	// +optional
	NodePoolPodNetworkOptionDetails *NodePoolPodNetworkOptionDetails `json:"nodePoolPodNetworkOptionDetails,omitempty"`
}

// NodePoolPodNetworkOptionDetails configures the network of pods.
type NodePoolPodNetworkOptionDetails struct {
	// CNIType is the CNI plugin: OCI_VCN_IP_NATIVE or FLANNEL_OVERLAY. The cluster must have it.
	// +optional
	CNIType CNIType `json:"cniType,omitempty"`

	// VCNIPNativePodNetworkOptions are settings of OCI_VCN_IP_NATIVE. They have no effect with FLANNEL_OVERLAY.
	// +optional
	VCNIPNativePodNetworkOptions VCNIPNativePodNetworkOptions `json:"vcnIpNativePodNetworkOptions,omitzero"`
}

// VCNIPNativePodNetworkOptions are settings of OCI_VCN_IP_NATIVE.
type VCNIPNativePodNetworkOptions struct {
	// MaxPodsPerNode is the maximum number of pods of a node, from 1 to 110. The number of network interfaces of the shape limits it
	// further. The default is 31.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=110
	MaxPodsPerNode *int `json:"maxPodsPerNode,omitempty"`

	// NSGNames are the names of the pods' network security groups in the OCIManagedCluster.
	// +optional
	NSGNames SecurityGroupNames `json:"nsgNames,omitempty"`

	// SubnetNames are the names of the pods' subnets in the OCIManagedCluster.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=255
	SubnetNames []string `json:"subnetNames,omitempty"`
}

// PlacementConfig is one availability domain of a node pool.
type PlacementConfig struct {
	// AvailabilityDomain is the name of the availability domain, for example Uocm:PHX-AD-1.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	AvailabilityDomain string `json:"availabilityDomain,omitempty"`

	// CapacityReservationID is the OCID of the capacity reservation of nodes.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	CapacityReservationID *string `json:"capacityReservationId,omitempty"`

	// FaultDomains are the fault domains of nodes. The default is all fault domains.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:MaxLength=255
	FaultDomains []string `json:"faultDomains,omitempty"`

	// SubnetName is the name of the subnet of nodes in the OCIManagedCluster. The default is the first subnet with role worker.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	SubnetName *string `json:"subnetName,omitempty"`
}

// NodeEvictionNodePoolSettings configures how OKE evicts pods from a node before it deletes the node.
type NodeEvictionNodePoolSettings struct {
	// EvictionGraceDuration is the time limit of the eviction, from PT0M to PT60M. The default is PT60M. With PT0M, OKE deletes nodes
	// without cordoning and draining them. The controller always drains the nodes that it removes.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self == '' || (self.matches('^PT([0-9]{1,2}H)?([0-9]{1,4}M)?([0-9]{1,5}S)?$') && self != 'PT' && duration(self.substring(2).lowerAscii()) <= duration('60m'))",reason=FieldValueInvalid,messageExpression="'found ' + self + ', must be a duration from PT0M to PT60M, for example PT30M'"
	EvictionGraceDuration *string `json:"evictionGraceDuration,omitempty"`

	// IsForceDeleteAfterGraceDuration is true if OKE deletes a node whose pods were not all evicted within that time.
	// +optional
	IsForceDeleteAfterGraceDuration *bool `json:"isForceDeleteAfterGraceDuration,omitempty"`
}

// NodeShapeConfig is the size of nodes of a flexible shape.
type NodeShapeConfig struct {
	// MemoryInGBs is the memory in gigabytes, for example "16". The default depends on the number of OCPUs.
	// +optional
	MemoryInGBs *Decimal `json:"memoryInGBs,omitempty"`

	// OCPUs is the number of OCPUs, for example "2".
	// +optional
	OCPUs *Decimal `json:"ocpus,omitempty"`
}

// NodeSourceViaImage is the image and the boot volume of nodes.
type NodeSourceViaImage struct {
	// BootVolumeSizeInGBs is the size of the boot volume in gigabytes, from 50 to 32,768. The default is the size of the image.
	// +optional
	// +kubebuilder:validation:Minimum=50
	// +kubebuilder:validation:Maximum=32768
	BootVolumeSizeInGBs *int64 `json:"bootVolumeSizeInGBs,omitempty"`

	// ImageID is the OCID of the image. The default is the newest image of OKE for the Kubernetes version and the architecture of the shape.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	ImageID *string `json:"imageId,omitempty"`
}

// NodeLabels are labels that OKE adds to nodes when they join.
// +listType=map
// +listMapKey=key
// +kubebuilder:validation:MaxItems=100
type NodeLabels []KeyValue

// Strings returns the labels by key; nil for none.
func (l NodeLabels) Strings() map[string]string {
	if l == nil {
		return nil
	}
	out := make(map[string]string, len(l))
	for _, label := range l {
		out[label.Key] = label.Value
	}
	return out
}

// KeyValue is a label.
type KeyValue struct {
	// Key of the label.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9][a-z0-9.-]*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	Key string `json:"key"`

	// Value of the label.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
	Value string `json:"value,omitempty"`
}

// CycleMode selects how OKE replaces an outdated node.
// +kubebuilder:validation:Enum=INSTANCE_REPLACE;BOOT_VOLUME_REPLACE
type CycleMode string

// The modes.
const (
	// CycleInstance launches another instance and deletes the old one.
	CycleInstance CycleMode = "INSTANCE_REPLACE"
	// CycleBootVolume replaces the boot volume of the instance. It applies changes of the version, the image, the size of the boot volume,
	// the metadata and the SSH key. It fails for other changes.
	CycleBootVolume CycleMode = "BOOT_VOLUME_REPLACE"
)

// NodePoolCyclingDetails configures how OKE replaces outdated nodes.
// +kubebuilder:validation:XValidation:rule="!has(self.isNodeCyclingEnabled) || !self.isNodeCyclingEnabled || !has(self.maximumSurge) || !(self.maximumSurge.matches('^0+%?$')) || (has(self.maximumUnavailable) && !self.maximumUnavailable.matches('^0*%?$'))",fieldPath=".maximumUnavailable",reason=FieldValueInvalid,message="must be at least 1 when maximumSurge is 0: no node could be replaced"
type NodePoolCyclingDetails struct {
	// IsNodeCyclingEnabled is true if OKE replaces outdated nodes. The default is false.
	// +optional
	IsNodeCyclingEnabled *bool `json:"isNodeCyclingEnabled,omitempty"`

	// MaximumSurge is the number of additional nodes during the replacement: a number, or a percentage of the pool's size. The default is 1.
	// +optional
	MaximumSurge *NodeCount `json:"maximumSurge,omitempty"`

	// MaximumUnavailable is the number of nodes that may be missing during the replacement: a number, or a percentage of the pool's size.
	// The default is 0.
	// +optional
	MaximumUnavailable *NodeCount `json:"maximumUnavailable,omitempty"`

	// CycleModes selects how a node is replaced: INSTANCE_REPLACE launches another instance, BOOT_VOLUME_REPLACE replaces the boot volume of
	// the instance. The default is INSTANCE_REPLACE. It is an addition of Muster to the ecosystem's kind.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1
	CycleModes []CycleMode `json:"cycleModes,omitempty"`
}

// NodeCount is a number of nodes, or a percentage of the pool's size.
// +kubebuilder:validation:MaxLength=4
// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^([0-9]{1,4}|[0-9]{1,2}%|100%)$')",reason=FieldValueInvalid,messageExpression="'found ' + self + ', must be a number of at most four digits, or a percentage from 0% to 100%'"
type NodeCount string
