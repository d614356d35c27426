package v1beta1

import "k8s.io/apimachinery/pkg/api/resource"

// Tags are names and values that are put on cloud objects.
// +kubebuilder:validation:MaxProperties=35
// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) >= 1 && size(k) <= 512)",reason=FieldValueInvalid,message="every name must have 1 to 512 characters"
// +kubebuilder:validation:XValidation:rule="self.all(k, size(self[k]) <= 256)",reason=FieldValueInvalid,message="every value must have at most 256 characters"
// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('[<>%&\\\\\\\\?/]'))",reason=FieldValueInvalid,message="no name may hold one of the characters < > % & \\ ? / (the cloud refuses them)"
// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^(?i)(microsoft|azure|windows)'))",reason=FieldValueInvalid,message="no name may begin with microsoft, azure or windows (the cloud keeps these for itself)"
// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^(?i)muster[.]dev_'))",reason=FieldValueInvalid,message="no name may begin with muster.dev_ (these say who owns a cloud object)"
type Tags map[string]string

// VMIdentity is the kind of identity that virtual machines have.
// +kubebuilder:validation:Enum=None;SystemAssigned;UserAssigned
type VMIdentity string

// The kinds of identity.
const (
	VMIdentityNone           VMIdentity = "None"
	VMIdentitySystemAssigned VMIdentity = "SystemAssigned"
	VMIdentityUserAssigned   VMIdentity = "UserAssigned"
)

// UserAssignedIdentity is an identity that another owner creates and deletes.
type UserAssignedIdentity struct {
	// ProviderID is the identity's resource ID, with or without azure:// before it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ProviderID string `json:"providerID"`
}

// SystemAssignedIdentityRole is a role that the identity is given which Azure makes with the scale set.
type SystemAssignedIdentityRole struct {
	// Name of the role assignment, a GUID; absent, one that follows from the object's owner ID. It can't be changed later.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$')",reason=FieldValueInvalid,message="Role assignment name must be a valid GUID. It is optional and will be auto-generated when not specified."
	Name string `json:"name,omitempty"`

	// DefinitionID is the resource ID of the role; absent, it is Contributor.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	DefinitionID string `json:"definitionID,omitempty"`

	// Scope is the resource ID of what the role is for; absent, it is the cluster's subscription.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	Scope string `json:"scope,omitempty"`
}

// OrchestrationModeType is the orchestration mode of a scale set.
// +kubebuilder:validation:Enum=Flexible;Uniform
type OrchestrationModeType string

// The orchestration modes.
const (
	// FlexibleOrchestrationMode keeps virtual machines like any other.
	FlexibleOrchestrationMode OrchestrationModeType = "Flexible"
	// UniformOrchestrationMode keeps virtual machines that the scale set alone knows.
	UniformOrchestrationMode OrchestrationModeType = "Uniform"
)

// SpotEvictionPolicy selects the treatment of a virtual machine that Azure evicts.
// +kubebuilder:validation:Enum=Deallocate;Delete
type SpotEvictionPolicy string

// The eviction policies: the virtual machine is stopped and kept, or deleted.
const (
	SpotEvictionPolicyDeallocate SpotEvictionPolicy = "Deallocate"
	SpotEvictionPolicyDelete     SpotEvictionPolicy = "Delete"
)

// SpotVMOptions has virtual machines run on capacity that Azure may take back.
type SpotVMOptions struct {
	// MaxPrice is the maximum price for an hour of a virtual machine, in US dollars. If it is absent or -1, the price of a regular virtual
	// machine is the limit.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? (self == -1 || self > 0) : (isQuantity(self) && (quantity(self).compareTo(quantity('-1')) == 0 || quantity(self).compareTo(quantity('0')) > 0))",reason=FieldValueInvalid,message="must be more than 0, or -1 for whatever a regular virtual machine costs"
	MaxPrice *resource.Quantity `json:"maxPrice,omitempty"`

	// EvictionPolicy selects the treatment of a virtual machine that Azure evicts. The default is Delete with osDisk.diffDiskSettings, and
	// otherwise that of Azure, which is Deallocate.
	// +optional
	EvictionPolicy *SpotEvictionPolicy `json:"evictionPolicy,omitempty"`
}

// SecurityTypes is the security type of a virtual machine.
// +kubebuilder:validation:Enum=ConfidentialVM;TrustedLaunch
type SecurityTypes string

// How far a virtual machine is secured.
const (
	SecurityTypesConfidentialVM SecurityTypes = "ConfidentialVM"
	SecurityTypesTrustedLaunch  SecurityTypes = "TrustedLaunch"
)

// SecurityProfile configures the security of virtual machines.
// +kubebuilder:validation:XValidation:rule="!has(self.uefiSettings) || has(self.securityType)",fieldPath=".securityType",reason=FieldValueRequired,message="must be set to enable uefiSettings"
type SecurityProfile struct {
	// EncryptionAtHost encrypts what the host keeps of disks.
	// +optional
	EncryptionAtHost *bool `json:"encryptionAtHost,omitempty"`

	// SecurityType is TrustedLaunch or ConfidentialVM; absent, virtual machines are neither.
	// +optional
	SecurityType SecurityTypes `json:"securityType,omitempty"`

	// UefiSettings are about how a virtual machine boots. They need securityType.
	// +optional
	UefiSettings *UefiSettings `json:"uefiSettings,omitempty"`
}

// UefiSettings are about how a virtual machine boots.
type UefiSettings struct {
	// SecureBootEnabled lets only signed components boot; absent, Azure decides.
	// +optional
	SecureBootEnabled *bool `json:"secureBootEnabled,omitempty"`

	// VTpmEnabled gives the virtual machine a trusted platform module; absent, Azure decides.
	// +optional
	VTpmEnabled *bool `json:"vTpmEnabled,omitempty"`
}
