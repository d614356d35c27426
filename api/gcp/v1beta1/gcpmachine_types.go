package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

const (
	// GCPMachineKind is the kind of the objects that represent single instances of a pool.
	GCPMachineKind = "GCPMachine"

	// PoolMachineFinalizer keeps the object until its instance is gone. It is not the ecosystem's: the provider of clusters takes that off as
	// soon as the object is deleted, because it finds no instance of the object's name.
	PoolMachineFinalizer = "muster.dev/gcpmachine"

	// MachineFinalizer is the finalizer of the ecosystem's provider on every GCPMachine.
	MachineFinalizer = "gcpmachine.infrastructure.cluster.x-k8s.io"
)

// GCPMachineSpec identifies the instance of Compute Engine. It has only the fields of a pool's machine; other fields of the ecosystem's
// manifests are preserved.
type GCPMachineSpec struct {
	// ProviderID is the spec.providerID of the instance's Node.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ProviderID string `json:"providerID,omitempty"`

	// InstanceType is the machine type of the instance; empty where it was not known when the object was created. The provider of clusters
	// wants the field in every object, and lets none of them change it.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	InstanceType string `json:"instanceType"`
}

// GCPMachineStatus defines the observed state of an instance.
type GCPMachineStatus struct {
	// Initialization reports the progress of the first provisioning to the core controller.
	// +optional
	Initialization common.Initialization `json:"initialization,omitzero"`

	// Ready is true if the instance was seen running. It is the older contract's word for initialization.provisioned, and
	// both always say the same.
	// +optional
	Ready bool `json:"ready"`

	// Interruptible is true if Compute Engine may take the instance back at any time, because it is a Spot or a preemptible instance.
	// +optional
	Interruptible bool `json:"interruptible,omitempty"`

	// InstanceStatus is the instance's status in Compute Engine's words, for example RUNNING; what the group does with it, for example
	// CREATING, as long as it has none.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	InstanceStatus string `json:"instanceState,omitempty"`

	// FailureDomain is the zone that the instance is in.
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

// GCPMachine represents one instance of a GCPMachinePool. The pool's controller creates and deletes it while the pool has infrastructure
// machines.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=gcpmachines,scope=Namespaced,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:pruning:PreserveUnknownFields
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta1"
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",description="Cluster that the machine belongs to"
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.instanceState",description="Status of the instance"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.ready",description="Whether the instance was seen running"
// +kubebuilder:printcolumn:name="InstanceID",type="string",JSONPath=".spec.providerID",description="Provider ID of the instance"
// +kubebuilder:printcolumn:name="Machine",type="string",JSONPath=".metadata.ownerReferences[?(@.kind==\"Machine\")].name",description="Machine that the instance is"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the object was created"
// +kubebuilder:printcolumn:name="Zone",type="string",priority=1,JSONPath=".status.failureDomain",description="Zone of the instance"
type GCPMachine struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec identifies the instance.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Spec GCPMachineSpec `json:"spec,omitzero"`

	// Status holds the observed state of the instance.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Status GCPMachineStatus `json:"status,omitzero"`
}

// GCPMachineList is a list of GCPMachine.
// +kubebuilder:object:root=true
type GCPMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []GCPMachine `json:"items"`
}

// GetConditions returns the conditions.
func (m *GCPMachine) GetConditions() []metav1.Condition { return m.Status.Conditions }

// SetConditions replaces the conditions.
func (m *GCPMachine) SetConditions(conditions []metav1.Condition) { m.Status.Conditions = conditions }
