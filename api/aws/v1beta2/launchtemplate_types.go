package v1beta2

// AWSLaunchTemplate describes the launch template of the pool's instances.
// +kubebuilder:validation:XValidation:rule="has(self.name) == has(oldSelf.name) && (!has(self.name) || self.name == oldSelf.name)",fieldPath=".name",reason=FieldValueForbidden,message="can't be changed once the pool exists: it names the launch template in the cloud"
// +kubebuilder:validation:XValidation:rule="!has(self.spotMarketOptions) || !has(self.marketType) || self.marketType == 'Spot'",fieldPath=".marketType",reason=FieldValueInvalid,message="must be Spot or absent when spotMarketOptions is set",messageExpression="'is ' + self.marketType + ', must be Spot or absent when spotMarketOptions is set'"
// +kubebuilder:validation:XValidation:rule="!has(self.marketType) || self.marketType != 'CapacityBlock' || has(self.capacityReservationId)",fieldPath=".marketType",reason=FieldValueInvalid,message="CapacityBlock needs capacityReservationId to be set"
// +kubebuilder:validation:XValidation:rule="!has(self.capacityReservationId) || !has(self.marketType) || self.marketType != 'Spot'",fieldPath=".marketType",reason=FieldValueInvalid,message="must not be Spot when capacityReservationId is set: OnDemand, CapacityBlock or absent are allowed"
// +kubebuilder:validation:XValidation:rule="!has(self.capacityReservationId) || !has(self.spotMarketOptions)",fieldPath=".spotMarketOptions",reason=FieldValueForbidden,message="can't be set together with capacityReservationId: spot instances use no capacity reservation"
// +kubebuilder:validation:XValidation:rule="!has(self.capacityReservationId) || !has(self.capacityReservationPreference) || self.capacityReservationPreference in [\"\", 'CapacityReservationsOnly']",fieldPath=".capacityReservationPreference",reason=FieldValueInvalid,message="must be CapacityReservationsOnly or absent when capacityReservationId is set",messageExpression="'is ' + self.capacityReservationPreference + ', must be CapacityReservationsOnly or absent when capacityReservationId is set'"
// +kubebuilder:validation:XValidation:rule="has(self.existing) == has(oldSelf.existing)",fieldPath=".existing",reason=FieldValueForbidden,message="can't be set or taken away once the pool exists: create another pool, one that launches from the other template"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !(has(self.name) || has(self.iamInstanceProfile) || has(self.ami) || has(self.imageLookupFormat) || has(self.imageLookupOrg) || has(self.imageLookupBaseOS) || has(self.instanceType) || has(self.rootVolume) || has(self.nonRootVolumes) || has(self.sshKeyName) || has(self.versionNumber) || has(self.additionalSecurityGroups) || has(self.spotMarketOptions) || has(self.instanceMetadataOptions) || has(self.enclaveOptions) || has(self.privateDnsName) || has(self.capacityReservationId) || has(self.marketType) || has(self.capacityReservationPreference) || has(self.placement) || has(self.networkInterfaces))",fieldPath=".existing",reason=FieldValueForbidden,message="can't be set together with fields of a template of the pool's own (versionsToKeep alone may stand beside it): the template that is brought says it all"
// +kubebuilder:validation:XValidation:rule="!has(self.placement) || !has(self.placement.tenancy) || self.placement.tenancy != 'host' || !(has(self.spotMarketOptions) || (has(self.marketType) && self.marketType == 'Spot'))",fieldPath=".placement",reason=FieldValueInvalid,message="tenancy must not be host for spot instances"
type AWSLaunchTemplate struct {
	// Name of the launch template in the cloud. Absent, the group's name is taken. It can't be changed later.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^([a-zA-Z0-9().\-/_]{3,128})?$`
	Name string `json:"name,omitempty"`

	// IamInstanceProfile is the name or the ARN of the instance profile that instances get.
	// +optional
	IamInstanceProfile string `json:"iamInstanceProfile,omitempty"`

	// AMI is the image that instances boot from.
	// +optional
	AMI AMIReference `json:"ami,omitzero"`

	// ImageLookupFormat is the pattern of the image's name, used when no AMI is set. {{.BaseOS}} and {{.K8sVersion}} are replaced by the base
	// operating system and the Kubernetes version without its leading v.
	// +optional
	ImageLookupFormat string `json:"imageLookupFormat,omitempty"`

	// ImageLookupOrg is the account that publishes the image, used when no AMI is set.
	// +optional
	ImageLookupOrg string `json:"imageLookupOrg,omitempty"`

	// ImageLookupBaseOS is the base operating system of the image, used when no AMI is set.
	// +optional
	ImageLookupBaseOS string `json:"imageLookupBaseOS,omitempty"`

	// InstanceType of the instances, for example m5.large.
	// +optional
	InstanceType string `json:"instanceType,omitempty"`

	// RootVolume is the volume that instances boot from.
	// +optional
	RootVolume *Volume `json:"rootVolume,omitempty"`

	// NonRootVolumes are the instances' further volumes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:XValidation:rule="self.all(v, has(v.deviceName) && size(v.deviceName) > 0)",reason=FieldValueRequired,message="every volume needs a deviceName, for example /dev/sdb"
	NonRootVolumes []Volume `json:"nonRootVolumes,omitempty"`

	// SSHKeyName is the key pair that instances get: a name, the empty string for none, or absent for the cluster's.
	// +optional
	SSHKeyName *string `json:"sshKeyName,omitempty"`

	// VersionNumber is kept for older manifests. The version that is launched from is always the newest of the pool's own.
	// +optional
	VersionNumber *int64 `json:"versionNumber,omitempty"`

	// AdditionalSecurityGroups are attached to instances in addition to the cluster's, each by its ID or by filters.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	AdditionalSecurityGroups []AWSResourceReference `json:"additionalSecurityGroups,omitempty"`

	// SpotMarketOptions make the instances spot instances.
	// +optional
	SpotMarketOptions *SpotMarketOptions `json:"spotMarketOptions,omitempty"`

	// InstanceMetadataOptions say how instances reach their metadata.
	// +optional
	InstanceMetadataOptions *InstanceMetadataOptions `json:"instanceMetadataOptions,omitempty"`

	// EnclaveOptions are about Nitro enclaves on the instances.
	// +optional
	EnclaveOptions *EnclaveOptions `json:"enclaveOptions,omitempty"`

	// PrivateDNSName is about the instances' host names.
	// +optional
	PrivateDNSName *PrivateDNSName `json:"privateDnsName,omitempty"`

	// CapacityReservationID is the capacity reservation that instances are launched into.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	CapacityReservationID *string `json:"capacityReservationId,omitempty"`

	// MarketType is the purchase option of the instances. If it is absent, it follows from the other fields.
	// +optional
	MarketType MarketType `json:"marketType,omitempty"`

	// CapacityReservationPreference selects whether instances may use open capacity reservations.
	// +optional
	CapacityReservationPreference CapacityReservationPreference `json:"capacityReservationPreference,omitempty"`

	// Placement selects the location of instances in the cloud's data centres.
	// +optional
	Placement *Placement `json:"placement,omitempty"`

	// NetworkInterfaces that instances are launched with. Absent, there is one, with the pool's security groups.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.exists_one(n, n.deviceIndex == 0 && (!has(n.networkCardIndex) || n.networkCardIndex == 0) && (!has(n.interfaceType) || n.interfaceType != 'efa-only'))",reason=FieldValueInvalid,message="exactly one interface must be the first: deviceIndex 0 on network card 0, and not efa-only"
	// +kubebuilder:validation:XValidation:rule="self.all(n, self.exists_one(m, m.deviceIndex == n.deviceIndex && (has(m.networkCardIndex) ? m.networkCardIndex : 0) == (has(n.networkCardIndex) ? n.networkCardIndex : 0)))",reason=FieldValueInvalid,message="no two interfaces may have the same deviceIndex on the same network card"
	// +kubebuilder:validation:XValidation:rule="size(self) == 1 || self.all(n, !has(n.associatePublicIpAddress) || !n.associatePublicIpAddress)",reason=FieldValueInvalid,message="associatePublicIpAddress can be true for a single interface only: EC2 gives no public address to an instance that is launched with several"
	NetworkInterfaces []NetworkInterface `json:"networkInterfaces,omitempty"`

	// Existing is a version of a launch template that another owner maintains: instances are launched from it, and Muster never changes it. It
	// excludes all other fields of the template, and can't be set or removed later.
	// +optional
	Existing *ExistingLaunchTemplate `json:"existing,omitempty"`

	// VersionsToKeep is the number of launch template versions to keep, including the newest. Versions with the same content, which result
	// from renewed bootstrap tokens, count as one; the older of them are deleted first. The default version and versions in use by a group or
	// an instance are always kept.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=100
	VersionsToKeep *int32 `json:"versionsToKeep,omitempty"`
}

// DefaultVersionsToKeep is the default of VersionsToKeep.
const DefaultVersionsToKeep = 3

// Keep returns the number of versions to keep.
func (t *AWSLaunchTemplate) Keep() int {
	if t == nil || t.VersionsToKeep == nil {
		return DefaultVersionsToKeep
	}
	return int(*t.VersionsToKeep)
}

// NamesImage reports whether the template names an image, by its ID or by a look-up.
func (t *AWSLaunchTemplate) NamesImage() bool {
	return t != nil && (t.AMI.ID != nil || t.AMI.EKSOptimizedLookupType != nil ||
		t.ImageLookupFormat != "" || t.ImageLookupOrg != "" || t.ImageLookupBaseOS != "")
}

// AMIReference names an image.
type AMIReference struct {
	// ID of the image.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ID *string `json:"id,omitempty"`

	// EKSOptimizedLookupType finds the image that EKS publishes for the Kubernetes version.
	// +optional
	EKSOptimizedLookupType *EKSAMILookupType `json:"eksLookupType,omitempty"`
}

// EKSAMILookupType is a family of images that EKS publishes.
// +kubebuilder:validation:Enum=AmazonLinux;AmazonLinuxGPU;AmazonLinux2023;AmazonLinux2023GPU
type EKSAMILookupType string

// The families of images that EKS publishes.
const (
	AmazonLinux        EKSAMILookupType = "AmazonLinux"
	AmazonLinuxGPU     EKSAMILookupType = "AmazonLinuxGPU"
	AmazonLinux2023    EKSAMILookupType = "AmazonLinux2023"
	AmazonLinux2023GPU EKSAMILookupType = "AmazonLinux2023GPU"
)

// VolumeType is a type of EBS volume. It is free text, so that new types of the cloud can be used at once.
type VolumeType string

// The volume types that rules depend on.
const (
	VolumeTypeIO1 VolumeType = "io1"
	VolumeTypeIO2 VolumeType = "io2"
	VolumeTypeGP3 VolumeType = "gp3"
)

// Volume is an EBS volume of an instance.
// +kubebuilder:validation:XValidation:rule="!has(self.type) || !(self.type in ['io1', 'io2']) || (has(self.iops) && self.iops > 0)",fieldPath=".iops",reason=FieldValueRequired,message="must be set for volumes of type io1 and io2"
// +kubebuilder:validation:XValidation:rule="!has(self.iops) || self.iops == 0 || !has(self.type) || !(self.type in ['gp2', 'st1', 'sc1', 'standard'])",fieldPath=".iops",reason=FieldValueForbidden,message="can be set for volumes of type gp3, io1 and io2 only"
// +kubebuilder:validation:XValidation:rule="!has(self.encryptionKey) || self.encryptionKey == \"\" || !has(self.encrypted) || self.encrypted",fieldPath=".encrypted",reason=FieldValueInvalid,message="must be true or absent when encryptionKey is set"
// +kubebuilder:validation:XValidation:rule="!has(self.volumeInitializationRate) || has(self.snapshotId)",fieldPath=".volumeInitializationRate",reason=FieldValueInvalid,message="needs snapshotId: a volume that comes from no snapshot has nothing to fetch"
// +kubebuilder:validation:XValidation:rule="!has(self.throughput) || (has(self.type) && self.type == 'gp3')",fieldPath=".throughput",reason=FieldValueForbidden,message="can be set for volumes of type gp3 only"
type Volume struct {
	// DeviceName under which the instance sees the volume.
	// +optional
	DeviceName string `json:"deviceName,omitempty"`

	// Size in GiB.
	// +required
	// +kubebuilder:validation:Minimum=8
	Size int64 `json:"size"`

	// Type of the volume: gp2, gp3, io1, io2, st1, sc1, standard.
	// +optional
	Type VolumeType `json:"type,omitempty"`

	// IOPS that are provisioned. Types io1 and io2 need it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	IOPS int64 `json:"iops,omitempty"`

	// Throughput in MiB per second. Only type gp3 knows it.
	// +optional
	// +kubebuilder:validation:Minimum=125
	// +kubebuilder:validation:Maximum=2000
	Throughput *int64 `json:"throughput,omitempty"`

	// Encrypted is true if the volume is encrypted; the default is that of the account.
	// +optional
	Encrypted *bool `json:"encrypted,omitempty"`

	// EncryptionKey is the KMS key to encrypt with: its ID, ARN or alias.
	// +optional
	EncryptionKey string `json:"encryptionKey,omitempty"`

	// DeleteOnTermination is true if the volume is deleted with its instance. The default is true.
	// +optional
	DeleteOnTermination *bool `json:"deleteOnTermination,omitempty"`

	// SnapshotID is the snapshot that the volume is made from.
	// +optional
	// +kubebuilder:validation:Pattern=`^snap-[0-9a-zA-Z]+$`
	// +kubebuilder:validation:MaxLength=64
	SnapshotID *string `json:"snapshotId,omitempty"`

	// VolumeInitializationRate in MiB per second at which the snapshot's blocks are fetched. It needs SnapshotID.
	// +optional
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=300
	VolumeInitializationRate *int32 `json:"volumeInitializationRate,omitempty"`
}

// SpotMarketOptions are about spot instances.
type SpotMarketOptions struct {
	// MaxPrice in dollars per hour; absent or empty means the on-demand price.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?)?$`
	MaxPrice *string `json:"maxPrice,omitempty"`
}

// InstanceMetadataState switches a part of the metadata service.
// +kubebuilder:validation:Enum=enabled;disabled
type InstanceMetadataState string

// The states of a part of the metadata service.
const (
	InstanceMetadataEnabled  InstanceMetadataState = "enabled"
	InstanceMetadataDisabled InstanceMetadataState = "disabled"
)

// HTTPTokensState selects whether metadata requests need a session token.
// +kubebuilder:validation:Enum=optional;required
type HTTPTokensState string

// The states of session tokens.
const (
	HTTPTokensOptional HTTPTokensState = "optional"
	HTTPTokensRequired HTTPTokensState = "required"
)

// InstanceMetadataOptions say how an instance reaches its metadata.
type InstanceMetadataOptions struct {
	// HTTPEndpoint switches the metadata service.
	// +optional
	// +kubebuilder:default=enabled
	HTTPEndpoint InstanceMetadataState `json:"httpEndpoint,omitempty"`

	// HTTPProtocolIPv6 switches the service's IPv6 address.
	// +optional
	// +kubebuilder:default=disabled
	HTTPProtocolIPv6 InstanceMetadataState `json:"httpProtocolIpv6,omitempty"`

	// HTTPPutResponseHopLimit is the number of hops that a session token may travel.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	HTTPPutResponseHopLimit int64 `json:"httpPutResponseHopLimit,omitempty"`

	// HTTPTokens selects whether requests need a session token.
	// +optional
	// +kubebuilder:default=optional
	HTTPTokens HTTPTokensState `json:"httpTokens,omitempty"`

	// InstanceMetadataTags switches the instance's tags in its metadata.
	// +optional
	// +kubebuilder:default=disabled
	InstanceMetadataTags InstanceMetadataState `json:"instanceMetadataTags,omitempty"`
}

// EnclaveOptions are about Nitro enclaves.
type EnclaveOptions struct {
	// Enabled is true if instances may run Nitro enclaves.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
}

// HostnameType selects the host names of instances.
// +kubebuilder:validation:Enum=ip-name;resource-name
type HostnameType string

// The ways of naming an instance: after its address, or after its ID.
const (
	HostnameTypeIPName       HostnameType = "ip-name"
	HostnameTypeResourceName HostnameType = "resource-name"
)

// PrivateDNSName is about an instance's host name.
type PrivateDNSName struct {
	// EnableResourceNameDNSAAAARecord answers for the resource name with AAAA records.
	// +optional
	EnableResourceNameDNSAAAARecord *bool `json:"enableResourceNameDnsAAAARecord,omitempty"`

	// EnableResourceNameDNSARecord answers for the resource name with A records.
	// +optional
	EnableResourceNameDNSARecord *bool `json:"enableResourceNameDnsARecord,omitempty"`

	// HostnameType selects the host name of the instance.
	// +optional
	HostnameType *HostnameType `json:"hostnameType,omitempty"`
}

// MarketType is a purchase option of instances.
// +kubebuilder:validation:Enum=OnDemand;Spot;CapacityBlock
type MarketType string

// The ways of paying for instances.
const (
	MarketTypeOnDemand      MarketType = "OnDemand"
	MarketTypeSpot          MarketType = "Spot"
	MarketTypeCapacityBlock MarketType = "CapacityBlock"
)

// CapacityReservationPreference selects how instances use capacity reservations.
// +kubebuilder:validation:Enum="";None;CapacityReservationsOnly;Open
type CapacityReservationPreference string

// The ways of using capacity reservations.
const (
	CapacityReservationPreferenceNone CapacityReservationPreference = "None"
	CapacityReservationPreferenceOnly CapacityReservationPreference = "CapacityReservationsOnly"
	CapacityReservationPreferenceOpen CapacityReservationPreference = "Open"
)
