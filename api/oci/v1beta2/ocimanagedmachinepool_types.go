package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

const (
	// OCIManagedMachinePoolKind is the kind's name.
	OCIManagedMachinePoolKind = "OCIManagedMachinePool"

	// ManagedMachinePoolFinalizer keeps the object until its node pool is gone. It is the ecosystem's.
	ManagedMachinePoolFinalizer = "ocimanagedmachinepool.infrastructure.cluster.x-k8s.io"
)

// OCIManagedMachinePoolSpec defines the desired state of an OCIManagedMachinePool, a node pool of OKE. All fields can be changed: most
// apply to new nodes, and OKE (nodePoolCyclingDetails) or the controller (strategy) replaces the others.
type OCIManagedMachinePoolSpec struct {
	// ProviderID is the ID of the node pool. It is written by the controller.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	ProviderID *string `json:"providerID,omitempty"`

	// Version is the Kubernetes version of nodes, for example v1.34.1. The default is the version of the MachinePool. Both must be equal.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)([-0-9a-zA-Z_\.+]*)?$`
	Version *string `json:"version,omitempty"`

	// ID is the OCID of the node pool. It is written by the controller.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	ID *string `json:"id,omitempty"`

	// NodePoolNodeConfig configures the placement and the network of nodes.
	// +optional
	NodePoolNodeConfig *NodePoolNodeConfig `json:"nodePoolNodeConfig,omitempty"`

	// NodeEvictionNodePoolSettings configures how OKE evicts pods from a node before it deletes the node.
	// +optional
	NodeEvictionNodePoolSettings *NodeEvictionNodePoolSettings `json:"nodeEvictionNodePoolSettings,omitempty"`

	// NodeShape is the shape of nodes, for example VM.Standard.E4.Flex.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	NodeShape string `json:"nodeShape,omitempty"`

	// NodeShapeConfig is the size of nodes of a flexible shape.
	// +optional
	NodeShapeConfig *NodeShapeConfig `json:"nodeShapeConfig,omitempty"`

	// NodeSourceViaImage is the image and the boot volume of nodes.
	// +optional
	NodeSourceViaImage *NodeSourceViaImage `json:"nodeSourceViaImage,omitempty"`

	// SSHPublicKey is the public key for logins to nodes.
	// +optional
	// +kubebuilder:validation:MaxLength=16384
	SSHPublicKey string `json:"sshPublicKey,omitempty"`

	// NodeMetadata are metadata of the nodes' instances. user_data replaces the script of OKE, and must run it.
	// +optional
	NodeMetadata map[string]string `json:"nodeMetadata,omitempty"`

	// InitialNodeLabels are labels that OKE adds to nodes when they join.
	// +optional
	InitialNodeLabels NodeLabels `json:"initialNodeLabels,omitempty"`

	// NodePoolCyclingDetails configures the replacement of outdated nodes by OKE, which requires an enhanced cluster. By default the
	// controller replaces nodes within the limits of strategy.
	// +optional
	NodePoolCyclingDetails *NodePoolCyclingDetails `json:"nodePoolCyclingDetails,omitempty"`

	// ProviderIDList are the provider IDs of the pool's nodes. It is written by the controller.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	ProviderIDList []string `json:"providerIDList,omitempty"`

	// Strategy selects how the controller replaces outdated nodes if OKE does not (nodePoolCyclingDetails): one by one, each drained first.
	// Its deletePolicy also applies to a scale-in. It is an addition of Muster to the ecosystem's kind.
	// +optional
	// +kubebuilder:default={type: "RollingUpdate", rollingUpdate: {maxSurge: 1, maxUnavailable: 0, deletePolicy: Oldest}}
	Strategy common.Strategy `json:"strategy,omitempty"`
}

// OCIManagedMachinePoolStatus defines the observed state of an OCIManagedMachinePool.
type OCIManagedMachinePoolStatus struct {
	common.Status `json:",inline"`

	// NodepoolLifecycleState is the state of the node pool in OKE, for example ACTIVE.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	NodepoolLifecycleState string `json:"nodepoolLifecycleState,omitempty"`

	// InfrastructureMachineKind is the kind of the objects that represent single nodes; absent if there are none.
	// +optional
	InfrastructureMachineKind string `json:"infrastructureMachineKind,omitempty"`

	// FailureReason belongs to the older contract. It is read and never set: nothing here is beyond repair.
	// +optional
	FailureReason *string `json:"failureReason,omitempty"`

	// FailureMessages belong to the older contract. They are read and never set.
	// +optional
	// +listType=atomic
	FailureMessages []string `json:"failureMessages,omitempty"`
}

// OCIManagedMachinePool is a pool of nodes that a node pool of OKE keeps.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=ocimanagedmachinepools,scope=Namespaced,categories=cluster-api,shortName=ocimmp
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
type OCIManagedMachinePool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec defines the desired state of the pool.
	// +required
	Spec OCIManagedMachinePoolSpec `json:"spec"`

	// Status holds the observed state of the pool.
	// +optional
	Status OCIManagedMachinePoolStatus `json:"status,omitzero"`
}

// OCIManagedMachinePoolList is a list of OCIManagedMachinePool.
// +kubebuilder:object:root=true
type OCIManagedMachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []OCIManagedMachinePool `json:"items"`
}
