package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

const (
	// AWSMachineKind is the kind of the objects that represent single instances of a pool.
	AWSMachineKind = "AWSMachine"

	// MachineFinalizer keeps the object until its instance is gone.
	MachineFinalizer = "awsmachine.infrastructure.cluster.x-k8s.io"
)

// AWSMachineSpec identifies the EC2 instance of the object. It has only the fields of a pool's machine; other fields of the ecosystem's
// manifests are preserved.
type AWSMachineSpec struct {
	// ProviderID is the spec.providerID of the instance's Node.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ProviderID string `json:"providerID,omitempty"`

	// InstanceID is the ID of the EC2 instance.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	InstanceID string `json:"instanceID,omitempty"`

	// InstanceType of the instance, where it is known.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	InstanceType string `json:"instanceType,omitempty"`
}

// AWSMachineStatus defines the observed state of an instance.
type AWSMachineStatus struct {
	// Initialization reports the progress of the first provisioning to the core controller.
	// +optional
	Initialization common.Initialization `json:"initialization,omitzero"`

	// Ready is true if the instance was seen running. It is the older contract's word for initialization.provisioned, and
	// both always say the same.
	// +optional
	Ready bool `json:"ready"`

	// Interruptible is true if the cloud may take the instance back at short notice, because it is a spot instance.
	// +optional
	Interruptible bool `json:"interruptible,omitempty"`

	// InstanceState is the instance's state in the cloud's words, for example running.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	InstanceState string `json:"instanceState,omitempty"`

	// FailureDomain is the availability zone that the instance is in.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	FailureDomain string `json:"failureDomain,omitempty"`

	// Addresses are the instance's addresses, where they are known.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Addresses []common.InstanceAddress `json:"addresses,omitempty"`

	// Conditions are the observations on the instance.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// FailureReason belongs to the older contract. It is read and never set.
	// +optional
	FailureReason *string `json:"failureReason,omitempty"`

	// FailureMessage belongs to the older contract. It is read and never set.
	// +optional
	FailureMessage *string `json:"failureMessage,omitempty"`
}

// AWSMachine represents one EC2 instance of an AWSMachinePool. The pool's controller creates and deletes it while the pool has
// infrastructure machines.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=awsmachines,scope=Namespaced,categories=cluster-api,shortName=awsm
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:pruning:PreserveUnknownFields
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1_v1beta2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",description="Cluster that the machine belongs to"
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.instanceState",description="State of the instance"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.ready",description="Whether the instance was seen running"
// +kubebuilder:printcolumn:name="InstanceID",type="string",JSONPath=".spec.providerID",description="Provider ID of the instance"
// +kubebuilder:printcolumn:name="Machine",type="string",JSONPath=".metadata.ownerReferences[?(@.kind==\"Machine\")].name",description="Machine that the instance is"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the object was created"
// +kubebuilder:printcolumn:name="Zone",type="string",priority=1,JSONPath=".status.failureDomain",description="Availability zone of the instance"
type AWSMachine struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec identifies the instance.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Spec AWSMachineSpec `json:"spec,omitzero"`

	// Status holds the observed state of the instance.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Status AWSMachineStatus `json:"status,omitzero"`
}

// AWSMachineList is a list of AWSMachine.
// +kubebuilder:object:root=true
type AWSMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []AWSMachine `json:"items"`
}

// GetConditions gives the conditions to helpers that read them.
func (m *AWSMachine) GetConditions() []metav1.Condition { return m.Status.Conditions }

// SetConditions takes the conditions from helpers that write them.
func (m *AWSMachine) SetConditions(conditions []metav1.Condition) { m.Status.Conditions = conditions }
