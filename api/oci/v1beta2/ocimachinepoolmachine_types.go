package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

const (
	// OCIMachinePoolMachineKind is the kind of the objects that represent single instances of a pool.
	OCIMachinePoolMachineKind = "OCIMachinePoolMachine"

	// MachinePoolMachineFinalizer keeps the object until its instance is gone. It is the ecosystem's.
	MachinePoolMachineFinalizer = "ocimachinepoolmachine.infrastructure.cluster.x-k8s.io"
)

// MachineType is the kind of pool that an instance belongs to.
// +kubebuilder:validation:Enum=MANAGED_TYPE;VIRTUAL_TYPE;SELF_MANAGED_TYPE
type MachineType string

// The types of machines.
const (
	// MachineManaged is a node of a node pool.
	MachineManaged MachineType = "MANAGED_TYPE"
	// MachineVirtual is a virtual node of a virtual node pool.
	MachineVirtual MachineType = "VIRTUAL_TYPE"
	// MachineSelfManaged is an instance of an instance pool.
	MachineSelfManaged MachineType = "SELF_MANAGED_TYPE"
)

// OCIMachinePoolMachineSpec identifies the instance of the object.
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.providerID) || (has(self.providerID) && self.providerID == oldSelf.providerID)",fieldPath=".providerID",reason=FieldValueForbidden,message="can't be changed once it is set: the object represents one instance"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.ocid) || (has(self.ocid) && self.ocid == oldSelf.ocid)",fieldPath=".ocid",reason=FieldValueForbidden,message="can't be changed once it is set: the object represents one instance"
type OCIMachinePoolMachineSpec struct {
	// ProviderID is the spec.providerID of the instance's Node. It can't be changed once it is set.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ProviderID *string `json:"providerID,omitempty"`

	// OCID is the OCID of the instance. It can't be changed once it is set.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	OCID *string `json:"ocid,omitempty"`

	// InstanceName is the name of the instance in OCI.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	InstanceName *string `json:"instanceName,omitempty"`

	// MachineType is the kind of pool that the instance belongs to: SELF_MANAGED_TYPE, MANAGED_TYPE or VIRTUAL_TYPE.
	// +optional
	MachineType MachineType `json:"machineType,omitempty"`
}

// OCIMachinePoolMachineStatus defines the observed state of an instance.
type OCIMachinePoolMachineStatus struct {
	// Initialization reports the progress of the first provisioning to the core controller.
	// +optional
	Initialization common.Initialization `json:"initialization,omitzero"`

	// Ready is true if the instance runs.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// FailureDomain is the availability domain that the instance is in.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	FailureDomain string `json:"failureDomain,omitempty"`

	// InstanceState is the state of the instance in OCI, for example RUNNING.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	InstanceState string `json:"instanceState,omitempty"`

	// Conditions are the observations on the instance.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// OCIMachinePoolMachine represents one instance of a pool of OCI. The pool's controller creates it. If a user deletes it, exactly that
// instance is drained and removed, and the pool creates a replacement.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=ocimachinepoolmachines,scope=Namespaced,categories=cluster-api,shortName=ocimpm
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1_v1beta2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"
// +kubebuilder:printcolumn:name="Ready",type="boolean",JSONPath=".status.ready",description="Whether the instance runs"
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.instanceState",description="State of the instance in OCI"
// +kubebuilder:printcolumn:name="Instance",type="string",JSONPath=".spec.instanceName",description="Name of the instance in OCI"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the object was created"
// +kubebuilder:printcolumn:name="Cluster",type="string",priority=1,JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",description="Cluster that the instance belongs to"
// +kubebuilder:printcolumn:name="ProviderID",type="string",priority=1,JSONPath=".spec.providerID",description="Provider ID of the instance"
// +kubebuilder:printcolumn:name="Zone",type="string",priority=1,JSONPath=".status.failureDomain",description="Availability domain of the instance"
type OCIMachinePoolMachine struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec identifies the instance.
	// +optional
	Spec OCIMachinePoolMachineSpec `json:"spec,omitzero"`

	// Status holds the observed state of the instance.
	// +optional
	Status OCIMachinePoolMachineStatus `json:"status,omitzero"`
}

// OCIMachinePoolMachineList is a list of OCIMachinePoolMachine.
// +kubebuilder:object:root=true
type OCIMachinePoolMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []OCIMachinePoolMachine `json:"items"`
}
