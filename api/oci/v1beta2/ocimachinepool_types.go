package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

const (
	// OCIMachinePoolKind is the kind's name.
	OCIMachinePoolKind = "OCIMachinePool"

	// MachinePoolFinalizer keeps the object until everything that it owns in the cloud is gone. It is the ecosystem's.
	MachinePoolFinalizer = "ocimachinepool.infrastructure.cluster.x-k8s.io"
)

// The freeform tags by which the ecosystem's provider knows the cloud objects of a cluster. The value of TagCluster is
// spec.ociResourceIdentifier of the infrastructure cluster.
const (
	TagCreatedBy      = "CreatedBy"
	TagCreatedByValue = "OCIClusterAPIProvider"
	TagCluster        = "ClusterResourceIdentifier"
)

// OCIMachinePoolSpec defines the desired state of an OCIMachinePool, an instance pool of OCI. All fields can be changed: those of the
// instance configuration apply to new instances, and the controller replaces the others.
type OCIMachinePoolSpec struct {
	// ProviderID is the ID of the instance pool. It is written by the controller.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	ProviderID *string `json:"providerID,omitempty"`

	// OCID is the OCID of the instance pool. It is written by the controller.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	OCID *string `json:"ocid,omitempty"`

	// PlacementDetails are the availability domains of instances. The default is all availability domains of the cluster.
	// +optional
	// +listType=map
	// +listMapKey=availabilityDomain
	// +kubebuilder:validation:MaxItems=3
	PlacementDetails []PlacementDetails `json:"placementDetails,omitempty"`

	// InstanceConfiguration defines new instances.
	// +required
	InstanceConfiguration InstanceConfiguration `json:"instanceConfiguration"`

	// ProviderIDList are the provider IDs of the pool's instances, as their Nodes carry them. It is written by the controller.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	ProviderIDList []string `json:"providerIDList,omitempty"`

	// Strategy selects how instances with an outdated configuration are replaced: one by one, each drained first. It is an addition of
	// Muster to the ecosystem's kind.
	// +optional
	// +kubebuilder:default={type: "RollingUpdate", rollingUpdate: {maxSurge: 1, maxUnavailable: 0, deletePolicy: Oldest}}
	Strategy common.Strategy `json:"strategy,omitempty"`
}

// PlacementDetails is one availability domain of an instance pool.
type PlacementDetails struct {
	// AvailabilityDomain is the number at the end of the availability domain's name: 1 for Uocm:PHX-AD-1.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3
	AvailabilityDomain int `json:"availabilityDomain"`
}

// OCIMachinePoolStatus defines the observed state of an OCIMachinePool.
type OCIMachinePoolStatus struct {
	common.Status `json:",inline"`

	// InfrastructureMachineKind is the kind of the objects that represent single instances; absent if there are none.
	// +optional
	InfrastructureMachineKind string `json:"infrastructureMachineKind,omitempty"`

	// FailureReason belongs to the older contract. It is read and never set: nothing here is beyond repair.
	// +optional
	FailureReason *string `json:"failureReason,omitempty"`

	// FailureMessage belongs to the older contract. It is read and never set.
	// +optional
	FailureMessage *string `json:"failureMessage,omitempty"`
}

// OCIMachinePool is a pool of compute instances that an instance pool of OCI keeps.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=ocimachinepools,scope=Namespaced,categories=cluster-api,shortName=ocimp
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1_v1beta2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"
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
type OCIMachinePool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec defines the desired state of the pool.
	// +required
	Spec OCIMachinePoolSpec `json:"spec"`

	// Status holds the observed state of the pool.
	// +optional
	Status OCIMachinePoolStatus `json:"status,omitzero"`
}

// OCIMachinePoolList is a list of OCIMachinePool.
// +kubebuilder:object:root=true
type OCIMachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []OCIMachinePool `json:"items"`
}
