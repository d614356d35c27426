package v1beta1

// Switch turns a feature of instances on or off.
// +kubebuilder:validation:Enum=Enabled;Disabled
type Switch string

// The positions of a switch.
const (
	Enabled  Switch = "Enabled"
	Disabled Switch = "Disabled"
)

// ProvisioningModel selects how long instances may keep their capacity.
// +kubebuilder:validation:Enum=Standard;Spot
type ProvisioningModel string

// The provisioning models.
const (
	// ProvisioningStandard is capacity that stays.
	ProvisioningStandard ProvisioningModel = "Standard"
	// ProvisioningSpot is capacity that Compute Engine may take back at any time.
	ProvisioningSpot ProvisioningModel = "Spot"
)

// HostMaintenancePolicy selects the treatment of instances during maintenance of their host.
// +kubebuilder:validation:Enum=Migrate;Terminate
type HostMaintenancePolicy string

// The policies of host maintenance.
const (
	MaintenanceMigrate   HostMaintenancePolicy = "Migrate"
	MaintenanceTerminate HostMaintenancePolicy = "Terminate"
)

// ConfidentialComputePolicy is the technology that keeps the memory of instances from their host.
// +kubebuilder:validation:Enum=Enabled;Disabled;AMDEncryptedVirtualization;AMDEncryptedVirtualizationNestedPaging;IntelTrustedDomainExtensions
type ConfidentialComputePolicy string

// The technologies of confidential computing.
const (
	// ConfidentialEnabled is AMD SEV, by its general name.
	ConfidentialEnabled  ConfidentialComputePolicy = "Enabled"
	ConfidentialDisabled ConfidentialComputePolicy = "Disabled"
	ConfidentialSEV      ConfidentialComputePolicy = "AMDEncryptedVirtualization"
	ConfidentialSEVSNP   ConfidentialComputePolicy = "AMDEncryptedVirtualizationNestedPaging"
	ConfidentialTDX      ConfidentialComputePolicy = "IntelTrustedDomainExtensions"
)

// MetadataItem is an entry of the metadata of instances.
type MetadataItem struct {
	// Key of the entry.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_-]+$`
	// +kubebuilder:validation:XValidation:rule="self != 'user-data'",reason=FieldValueInvalid,message="must not be user-data: the bootstrap data of the MachinePool is there"
	Key string `json:"key"`

	// Value of the entry; absent, it is empty.
	// +optional
	// +kubebuilder:validation:MaxLength=262144
	Value *string `json:"value,omitempty"`
}

// AliasIPRange is an additional address range of instances.
type AliasIPRange struct {
	// IPCidrRange is a size such as /24, which Compute Engine chooses a range of, or a range or an address of the subnet.
	// +required
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9]{1,3}(\.[0-9]{1,3}){3})?(/([0-9]|[12][0-9]|3[0-2]))?$`
	IPCidrRange string `json:"ipCidrRange"`

	// SubnetworkRangeName is the secondary range of the subnet that the addresses are taken from; absent, it is the primary range.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	SubnetworkRangeName string `json:"subnetworkRangeName,omitempty"`
}

// ServiceAccount is the service account that instances act as.
type ServiceAccount struct {
	// Email of the service account; absent, it is default, the default service account of Compute Engine.
	// +optional
	// +kubebuilder:validation:MaxLength=254
	Email string `json:"email,omitempty"`

	// Scopes limit the use of the account by instances. The default is the scope https://www.googleapis.com/auth/cloud-platform.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	Scopes []string `json:"scopes,omitempty"`
}

// ShieldedInstanceConfig are the features that verify what instances boot. Compute Engine has defaults for those that are absent.
type ShieldedInstanceConfig struct {
	// SecureBoot lets only signed components boot.
	// +optional
	SecureBoot Switch `json:"secureBoot,omitempty"`

	// VirtualizedTrustedPlatformModule gives instances a trusted platform module.
	// +optional
	VirtualizedTrustedPlatformModule Switch `json:"virtualizedTrustedPlatformModule,omitempty"`

	// IntegrityMonitoring compares each boot with the first.
	// +optional
	IntegrityMonitoring Switch `json:"integrityMonitoring,omitempty"`
}

// Accelerator is a kind of accelerator cards of instances.
type Accelerator struct {
	// Count is the number of cards.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	Count int64 `json:"count,omitempty"`

	// Type of the cards, for example nvidia-tesla-t4. The URL of an accelerator type counts as its last part.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Type string `json:"type,omitempty"`
}
