package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

const (
	// AzureMachinePoolKind is the kind's name.
	AzureMachinePoolKind = "AzureMachinePool"

	// MachinePoolFinalizer keeps the object until everything that it owns in the cloud is gone.
	MachinePoolFinalizer = "machinepool.cluster.x-k8s.io"

	// WindowsServerVersionAnnotation selects the Windows version of the default image.
	WindowsServerVersionAnnotation = "windowsServerVersion"
)

// AzureMachinePoolSpec defines the desired state of an AzureMachinePool, a pool of virtual machines in a scale set.
// +kubebuilder:validation:XValidation:rule="!has(self.identity) || self.identity != 'SystemAssigned' || !has(self.orchestrationMode) || self.orchestrationMode != 'Flexible'",fieldPath=".identity",reason=FieldValueInvalid,message="SystemAssigned can't be used with orchestrationMode Flexible: Azure gives such scale sets user-assigned identities alone; set UserAssigned and userAssignedIdentities"
// +kubebuilder:validation:XValidation:rule="!has(self.identity) || self.identity != 'UserAssigned' || (has(self.userAssignedIdentities) && size(self.userAssignedIdentities) > 0)",fieldPath=".userAssignedIdentities",reason=FieldValueRequired,message="must be specified for the 'UserAssigned' identity type"
// +kubebuilder:validation:XValidation:rule="!has(self.userAssignedIdentities) || size(self.userAssignedIdentities) == 0 || (has(self.identity) && self.identity == 'UserAssigned')",fieldPath=".userAssignedIdentities",reason=FieldValueForbidden,message="can only be set when identity is set to UserAssigned"
// +kubebuilder:validation:XValidation:rule="!has(self.systemAssignedIdentityRole) || (has(self.identity) && self.identity == 'SystemAssigned')",fieldPath=".systemAssignedIdentityRole",reason=FieldValueForbidden,message="systemAssignedIdentityRole can only be set when identity is set to SystemAssigned"
// +kubebuilder:validation:XValidation:rule="!has(self.roleAssignmentName) || size(self.roleAssignmentName) == 0 || (has(self.identity) && self.identity == 'SystemAssigned')",fieldPath=".roleAssignmentName",reason=FieldValueForbidden,message="Role assignment name should only be set when using system assigned identity."
// +kubebuilder:validation:XValidation:rule="!has(self.roleAssignmentName) || size(self.roleAssignmentName) == 0 || !has(self.systemAssignedIdentityRole) || !has(self.systemAssignedIdentityRole.name)",fieldPath=".roleAssignmentName",reason=FieldValueForbidden,message="cannot set both roleAssignmentName and systemAssignedIdentityRole.name: set the latter alone"
// +kubebuilder:validation:XValidation:rule="!has(self.identity) || self.identity != 'SystemAssigned' || !has(oldSelf.identity) || oldSelf.identity != 'SystemAssigned' || (has(self.systemAssignedIdentityRole) && has(self.systemAssignedIdentityRole.name) ? self.systemAssignedIdentityRole.name : (has(self.roleAssignmentName) ? self.roleAssignmentName : 'none')) == (has(oldSelf.systemAssignedIdentityRole) && has(oldSelf.systemAssignedIdentityRole.name) ? oldSelf.systemAssignedIdentityRole.name : (has(oldSelf.roleAssignmentName) ? oldSelf.roleAssignmentName : 'none'))",fieldPath=".systemAssignedIdentityRole.name",reason=FieldValueForbidden,message="Role assignment name should not be modified after AzureMachinePool creation."
// +kubebuilder:validation:XValidation:rule="has(self.platformFaultDomainCount) == has(oldSelf.platformFaultDomainCount) && (!has(self.platformFaultDomainCount) || self.platformFaultDomainCount == oldSelf.platformFaultDomainCount)",fieldPath=".platformFaultDomainCount",reason=FieldValueForbidden,message="can't be changed once the pool exists: Azure can't change the fault domains of a scale set; create another pool"
type AzureMachinePoolSpec struct {
	// Location is the region of the scale set, for example westus2. It can't be changed later.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.lowerAscii().replace(' ', '') == oldSelf.lowerAscii().replace(' ', '')",reason=FieldValueForbidden,message="can't be changed once the pool exists: a scale set can't move to another region; create another pool"
	Location string `json:"location"`

	// Template describes the virtual machines of the pool.
	// +required
	Template AzureMachinePoolMachineTemplate `json:"template"`

	// AdditionalTags are put on the scale set and its virtual machines, in addition to the tags of the controller. If the cluster's
	// additionalTags have the same key, the pool's value is used.
	// +optional
	AdditionalTags Tags `json:"additionalTags,omitempty"`

	// ProviderID is the ID of the scale set. It is written by the controller.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	ProviderID string `json:"providerID,omitempty"`

	// ProviderIDList are the provider IDs of the scale set's virtual machines, as their Nodes carry them. It is written by the
	// controller.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	ProviderIDList []string `json:"providerIDList,omitempty"`

	// Identity is the kind of identity that virtual machines have: None, SystemAssigned, which Azure makes with the scale set
	// and which is given a role, or UserAssigned, which are those of userAssignedIdentities.
	// +optional
	// +kubebuilder:default=None
	Identity VMIdentity `json:"identity,omitempty"`

	// SystemAssignedIdentityRole is the role that the identity is given which Azure makes with the scale set.
	// +optional
	SystemAssignedIdentityRole *SystemAssignedIdentityRole `json:"systemAssignedIdentityRole,omitempty"`

	// UserAssignedIdentities are the identities that virtual machines have with identity UserAssigned. They are made and
	// deleted by another client.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(i, self.exists_one(j, j.providerID.lowerAscii() == i.providerID.lowerAscii()))",reason=FieldValueInvalid,message="no two may be the same identity (letter case does not tell them apart)"
	UserAssignedIdentities []UserAssignedIdentity `json:"userAssignedIdentities,omitempty"`

	// RoleAssignmentName is the deprecated place of systemAssignedIdentityRole.name.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$')",reason=FieldValueInvalid,message="Role assignment name must be a valid GUID. It is optional and will be auto-generated when not specified."
	RoleAssignmentName string `json:"roleAssignmentName,omitempty"`

	// Strategy selects how virtual machines with an outdated model are replaced: one by one, each drained first.
	// +optional
	// +kubebuilder:default={type: "RollingUpdate", rollingUpdate: {maxSurge: 1, maxUnavailable: 0, deletePolicy: Oldest}}
	Strategy common.Strategy `json:"strategy,omitempty"`

	// OrchestrationMode is Uniform, whose virtual machines are known to the scale set alone, or Flexible, whose are virtual
	// machines like any other and which needs Kubernetes 1.26.0 or later. It can't be changed later.
	// +optional
	// +kubebuilder:default=Uniform
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",reason=FieldValueForbidden,message="can't be changed once the pool exists: Azure can't change the orchestration mode of a scale set; create another pool"
	OrchestrationMode OrchestrationModeType `json:"orchestrationMode,omitempty"`

	// PlatformFaultDomainCount is over how many fault domains the scale set spreads its virtual machines. It can't be changed
	// later.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5
	PlatformFaultDomainCount *int32 `json:"platformFaultDomainCount,omitempty"`

	// ZoneBalance makes Azure refuse to grow the scale set where zones would get unlike numbers of virtual machines.
	// +optional
	ZoneBalance *bool `json:"zoneBalance,omitempty"`
}

// AzureMachinePoolStatus defines the observed state of an AzureMachinePool.
type AzureMachinePoolStatus struct {
	common.Status `json:",inline"`

	// LastReconciledReplicas belongs to another controller of the kind. It is read and never set.
	// +optional
	LastReconciledReplicas int32 `json:"lastReconciledReplicas,omitempty"`

	// Image is the image of new virtual machines: that of the specification, or else the one that was found for the Kubernetes version.
	// +optional
	Image *Image `json:"image,omitempty"`

	// ProvisioningState is the scale set's state in the cloud's words; Updating as well while it has another number of virtual
	// machines than is wanted.
	// +optional
	ProvisioningState *ProvisioningState `json:"provisioningState,omitempty"`

	// InfrastructureMachineKind is the kind of the objects that represent single virtual machines.
	// +optional
	InfrastructureMachineKind string `json:"infrastructureMachineKind,omitempty"`

	// FailureReason belongs to the older contract. It is read and never set: nothing here is beyond repair.
	// +optional
	FailureReason *string `json:"failureReason,omitempty"`

	// FailureMessage belongs to the older contract. It is read and never set.
	// +optional
	FailureMessage *string `json:"failureMessage,omitempty"`

	// LongRunningOperationStates are operations of the cloud that have not been seen to end. They are hints: what they do is
	// observed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	LongRunningOperationStates []Future `json:"longRunningOperationStates,omitempty"`
}

// Future is an asynchronous operation of the cloud that has not completed yet.
type Future struct {
	// Type is the request that began it: PUT, PATCH, POST or DELETE.
	// +required
	// +kubebuilder:validation:MaxLength=32
	Type string `json:"type"`

	// ResourceGroup of what it works on.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	ResourceGroup string `json:"resourceGroup,omitempty"`

	// ServiceName is the kind of what it works on.
	// +required
	// +kubebuilder:validation:MaxLength=256
	ServiceName string `json:"serviceName"`

	// Name of what it works on.
	// +required
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name"`

	// Data identifies the operation in requests for its state, encoded.
	// +required
	// +kubebuilder:validation:MaxLength=16384
	Data string `json:"data"`
}

// ProvisioningState is a state of a scale set or a virtual machine in the cloud's words.
type ProvisioningState string

// The states that code depends on.
const (
	Creating  ProvisioningState = "Creating"
	Updating  ProvisioningState = "Updating"
	Succeeded ProvisioningState = "Succeeded"
	Failed    ProvisioningState = "Failed"
	Deleting  ProvisioningState = "Deleting"
	Canceled  ProvisioningState = "Canceled"
	Deleted   ProvisioningState = "Deleted"
	Migrating ProvisioningState = "Migrating"
)

// AzureMachinePool is a pool of virtual machines that a scale set keeps.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=azuremachinepools,scope=Namespaced,categories=cluster-api,shortName=amp
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
type AzureMachinePool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec defines the desired state of the pool.
	// +required
	Spec AzureMachinePoolSpec `json:"spec"`

	// Status holds the observed state of the pool.
	// +optional
	Status AzureMachinePoolStatus `json:"status,omitzero"`
}

// AzureMachinePoolList is a list of AzureMachinePool.
// +kubebuilder:object:root=true
type AzureMachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []AzureMachinePool `json:"items"`
}
