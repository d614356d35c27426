package v1beta2

import "encoding/json"

// InstanceConfiguration defines the instances of a pool. The controller creates an instance configuration of OCI from it. Because that is
// immutable, each change creates another one.
// +kubebuilder:validation:XValidation:rule="!has(self.instanceSourceViaBootVolumeConfig) || !has(self.instanceSourceViaImageConfig)",fieldPath=".instanceSourceViaBootVolumeConfig",reason=FieldValueForbidden,message="can't be set together with instanceSourceViaImageConfig: instances boot from one of the two"
// +kubebuilder:validation:XValidation:rule="has(self.instanceSourceViaBootVolumeConfig) || (has(self.instanceSourceViaImageConfig) && has(self.instanceSourceViaImageConfig.imageId) && size(self.instanceSourceViaImageConfig.imageId) > 0)",fieldPath=".instanceSourceViaImageConfig",reason=FieldValueInvalid,message="imageId must name the image that instances boot from, or instanceSourceViaBootVolumeConfig a boot volume: OCI launches nothing without one"
type InstanceConfiguration struct {
	// InstanceConfigurationID is the OCID of the instance configuration in OCI. It is written by the controller.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	InstanceConfigurationID *string `json:"instanceConfigurationId,omitempty"`

	// Shape of instances, for example VM.Standard.E4.Flex.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Shape string `json:"shape,omitempty"`

	// ShapeConfig is the size of instances of a flexible shape.
	// +optional
	ShapeConfig *ShapeConfig `json:"shapeConfig,omitempty"`

	// InstanceVnicConfiguration is the network interface of instances.
	// +optional
	InstanceVnicConfiguration *NetworkDetails `json:"instanceVnicConfiguration,omitempty"`

	// PlatformConfig are settings of the processor's platform.
	// +optional
	PlatformConfig *PlatformConfig `json:"platformConfig,omitempty"`

	// AgentConfig are settings of the Oracle Cloud Agent on instances.
	// +optional
	AgentConfig *LaunchInstanceAgentConfig `json:"agentConfig,omitempty"`

	// PreemptibleInstanceConfig makes instances preemptible: OCI terminates them when it needs their capacity.
	// +optional
	PreemptibleInstanceConfig *PreemptibleInstanceConfig `json:"preemptibleInstanceConfig,omitempty"`

	// AvailabilityConfig configures instances during and after maintenance of their hosts.
	// +optional
	AvailabilityConfig *LaunchInstanceAvailabilityConfig `json:"availabilityConfig,omitempty"`

	// DedicatedVMHostID is the OCID of a dedicated host. OCI launches no instance pool on one.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	DedicatedVMHostID *string `json:"dedicatedVmHostId,omitempty"`

	// LaunchOptions select the emulation of devices and the firmware.
	// +optional
	LaunchOptions *LaunchOptions `json:"launchOptions,omitempty"`

	// InstanceOptions are settings of the metadata service.
	// +optional
	InstanceOptions *InstanceOptions `json:"instanceOptions,omitempty"`

	// IsPvEncryptionInTransitEnabled is true if the paravirtualized attachments of volumes are encrypted in transit. The default is false.
	// +optional
	IsPvEncryptionInTransitEnabled *bool `json:"isPvEncryptionInTransitEnabled,omitempty"`

	// InstanceSourceViaImageConfig is the image and the boot volume of instances.
	// +optional
	InstanceSourceViaImageConfig *InstanceSourceViaImageConfig `json:"instanceSourceViaImageConfig,omitempty"`

	// InstanceSourceViaBootVolumeConfig is the boot volume that instances boot from, instead of an image. It is an addition of Muster to the
	// ecosystem's kind.
	// +optional
	InstanceSourceViaBootVolumeConfig *InstanceSourceViaBootVolumeConfig `json:"instanceSourceViaBootVolumeConfig,omitempty"`

	// CapacityReservationID is the OCID of the capacity reservation of instances. The default is the default reservation of the tenancy. An
	// empty value selects no reservation.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	CapacityReservationID *string `json:"capacityReservationId,omitempty"`

	// Metadata of instances, for example ssh_authorized_keys. The controller sets user_data to the bootstrap data.
	// +optional
	Metadata map[string]string `json:"metadata,omitempty"`

	// ExtendedMetadata are metadata of instances with values in JSON of any form. Together with metadata they have at most 32,000 bytes.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ExtendedMetadata map[string]json.RawMessage `json:"extendedMetadata,omitempty"`
}

// ShapeConfig is the size of instances of a flexible shape.
type ShapeConfig struct {
	// OCPUs is the number of OCPUs, for example "2".
	// +optional
	OCPUs *Decimal `json:"ocpus,omitempty"`

	// MemoryInGBs is the memory in gigabytes, for example "16". The default depends on the number of OCPUs.
	// +optional
	MemoryInGBs *Decimal `json:"memoryInGBs,omitempty"`

	// BaselineOcpuUtilization is the guaranteed share of the OCPUs of a burstable instance: BASELINE_1_8 or BASELINE_1_2. BASELINE_1_1 is
	// not burstable.
	// +optional
	// +kubebuilder:validation:Enum=BASELINE_1_8;BASELINE_1_2;BASELINE_1_1;""
	BaselineOCPUUtilization string `json:"baselineOcpuUtilization,omitempty"`

	// Nvmes is the number of NVMe drives, each of 6.8 TB.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=6
	Nvmes *int `json:"nvmes,omitempty"`
}

// Decimal is a number in a string, as in the ecosystem's kinds.
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^([0-9]+([.][0-9]*)?|[.][0-9]+)$')",reason=FieldValueInvalid,messageExpression="'found ' + self + ', must be a number such as 2 or 1.5'"
type Decimal string

// NetworkDetails is the network interface of instances.
type NetworkDetails struct {
	// SubnetID is the OCID of the subnet. It takes precedence over subnetName. The default of both is the cluster's first subnet with role
	// worker.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	SubnetID *string `json:"subnetId,omitempty"`

	// AssignIPv6IP is true if instances have an IPv6 address.
	// +optional
	AssignIPv6IP bool `json:"assignIpv6Ip,omitempty"`

	// AssignPublicIP is true if instances have a public IPv4 address.
	// +optional
	AssignPublicIP bool `json:"assignPublicIp,omitempty"`

	// SubnetName is the name of the subnet in the infrastructure cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	SubnetName string `json:"subnetName,omitempty"`

	// SkipSourceDestCheck is true if instances can forward packets of other addresses.
	// +optional
	SkipSourceDestCheck *bool `json:"skipSourceDestCheck,omitempty"`

	// NSGID is the OCID of a network security group. It is deprecated: nsgIds holds several.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	NSGID *string `json:"nsgId,omitempty"`

	// NSGIDs are the OCIDs of network security groups. They take precedence over nsgNames. The default of both is the cluster's groups with
	// role worker.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=255
	NSGIDs []string `json:"nsgIds,omitempty"`

	// NSGNames are the names of network security groups in the infrastructure cluster.
	// +optional
	NSGNames SecurityGroupNames `json:"nsgNames,omitempty"`

	// HostnameLabel is the host name of instances in DNS.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	HostnameLabel *string `json:"hostnameLabel,omitempty"`

	// DisplayName is the name of the interface in OCI.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	DisplayName *string `json:"displayName,omitempty"`

	// AssignPrivateDNSRecord is true if the interface has a record in DNS.
	// +optional
	AssignPrivateDNSRecord *bool `json:"assignPrivateDnsRecord,omitempty"`
}

// SecurityGroupNames are names of network security groups in the infrastructure cluster. An interface has at most five groups.
// +listType=atomic
// +kubebuilder:validation:MaxItems=5
// +kubebuilder:validation:items:MinLength=1
// +kubebuilder:validation:items:MaxLength=255
type SecurityGroupNames []string

// InstanceSourceViaImageConfig is the image and the boot volume of instances.
type InstanceSourceViaImageConfig struct {
	// ImageID is the OCID of the image.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	ImageID *string `json:"imageId,omitempty"`

	// KMSKeyID is the OCID of the key that encrypts the boot volume. By default Oracle manages the key.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	KMSKeyID *string `json:"kmsKeyId,omitempty"`

	// BootVolumeSizeInGBs is the size of the boot volume in gigabytes, from 50 to 32,768. The default is the size of the image.
	// +optional
	// +kubebuilder:validation:Minimum=50
	// +kubebuilder:validation:Maximum=32768
	BootVolumeSizeInGBs *int64 `json:"bootVolumeSizeInGBs,omitempty"`

	// BootVolumeVPUsPerGB is the number of performance units for each gigabyte of the boot volume: 10 is balanced, 20 is higher, and 30 to
	// 120 is ultra high performance.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=120
	// +kubebuilder:validation:MultipleOf=10
	BootVolumeVPUsPerGB *int64 `json:"bootVolumeVpusPerGB,omitempty"`
}

// InstanceSourceViaBootVolumeConfig is a boot volume that instances boot from.
type InstanceSourceViaBootVolumeConfig struct {
	// BootVolumeID is the OCID of the boot volume.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	BootVolumeID string `json:"bootVolumeId,omitempty"`
}
