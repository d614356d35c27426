package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

const (
	// AzureMachinePoolMachineKind is the kind of the objects that represent single virtual machines of a pool.
	AzureMachinePoolMachineKind = "AzureMachinePoolMachine"

	// MachinePoolMachineFinalizer keeps the object until its virtual machine is gone.
	MachinePoolMachineFinalizer = "azuremachinepoolmachine.infrastructure.cluster.x-k8s.io"

	// MachinePoolNameLabel is the label on an AzureMachinePoolMachine with the name of its AzureMachinePool.
	MachinePoolNameLabel = "azuremachinepool.infrastructure.cluster.x-k8s.io/machine-pool"
)

// The conditions of an AzureMachinePoolMachine in addition to Ready, as the ecosystem defines them.
const (
	// VMRunningCondition reports whether the virtual machine runs.
	VMRunningCondition = "VMRunning"
	// NodeHealthyCondition reports whether the virtual machine's Node is Ready.
	NodeHealthyCondition = "NodeHealthy"
)

// AzureMachinePoolMachineSpec identifies the virtual machine of the object.
type AzureMachinePoolMachineSpec struct {
	// ProviderID is the spec.providerID of the virtual machine's Node.
	// +required
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",reason=FieldValueForbidden,message="providerID is immutable"
	ProviderID string `json:"providerID"`

	// InstanceID is the virtual machine's ID in its scale set.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	InstanceID string `json:"instanceID,omitempty"`
}

// NodeReference names the Node of a virtual machine.
type NodeReference struct {
	// Kind is Node.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Kind string `json:"kind,omitempty"`

	// Name of the Node.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`

	// UID of the Node.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`

	// APIVersion of the Node.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	APIVersion string `json:"apiVersion,omitempty"`
}

// AzureMachinePoolMachineStatus defines the observed state of a virtual machine.
type AzureMachinePoolMachineStatus struct {
	// Initialization reports the progress of the first provisioning to the core controller.
	// +optional
	Initialization common.Initialization `json:"initialization,omitzero"`

	// NodeRef names the virtual machine's Node once it has joined.
	// +optional
	NodeRef *NodeReference `json:"nodeRef,omitempty"`

	// Version is the kubelet's version as the Node reports it, with the leading v.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`

	// ProvisioningState is the virtual machine's state in the cloud's words.
	// +optional
	ProvisioningState *ProvisioningState `json:"provisioningState,omitempty"`

	// InstanceName is the virtual machine's name in the cloud.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	InstanceName string `json:"instanceName,omitempty"`

	// FailureReason belongs to the older contract. It is read and never set.
	// +optional
	FailureReason *string `json:"failureReason,omitempty"`

	// FailureMessage belongs to the older contract. It is read and never set.
	// +optional
	FailureMessage *string `json:"failureMessage,omitempty"`

	// Conditions are the observations on the virtual machine.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// LongRunningOperationStates belong to another controller of the kind. They are read and never set.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	LongRunningOperationStates []Future `json:"longRunningOperationStates,omitempty"`

	// LatestModelApplied is true if the virtual machine was made from what the pool asks for now.
	// +optional
	LatestModelApplied bool `json:"latestModelApplied"`

	// FailureDomain is the zone or the fault domain that the virtual machine is in.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	FailureDomain string `json:"failureDomain,omitempty"`

	// Ready is true if the virtual machine runs and its Node is Ready.
	// +optional
	Ready bool `json:"ready"`
}

// AzureMachinePoolMachine represents one virtual machine of an AzureMachinePool. The pool's controller creates it. If a user deletes it,
// exactly that virtual machine is drained and removed, and the pool creates a replacement.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=azuremachinepoolmachines,scope=Namespaced,categories=cluster-api,shortName=ampm
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta1"
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".status.version",description="Kubernetes version"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.ready",description="Whether the virtual machine runs and its Node is Ready"
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.provisioningState",description="State of the virtual machine"
// +kubebuilder:printcolumn:name="Latest",type="string",JSONPath=".status.latestModelApplied",description="Whether it was made from what the pool asks for now"
// +kubebuilder:printcolumn:name="Node",type="string",JSONPath=".status.nodeRef.name",description="Node of the virtual machine"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the object was created"
// +kubebuilder:printcolumn:name="Cluster",type="string",priority=1,JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",description="Cluster that the virtual machine belongs to"
// +kubebuilder:printcolumn:name="VMSS VM ID",type="string",priority=1,JSONPath=".spec.providerID",description="Provider ID of the virtual machine"
// +kubebuilder:printcolumn:name="Zone",type="string",priority=1,JSONPath=".status.failureDomain",description="Zone or fault domain of the virtual machine"
type AzureMachinePoolMachine struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec identifies the virtual machine.
	// +optional
	Spec AzureMachinePoolMachineSpec `json:"spec,omitzero"`

	// Status holds the observed state of the virtual machine.
	// +optional
	Status AzureMachinePoolMachineStatus `json:"status,omitzero"`
}

// AzureMachinePoolMachineList is a list of AzureMachinePoolMachine.
// +kubebuilder:object:root=true
type AzureMachinePoolMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []AzureMachinePoolMachine `json:"items"`
}
