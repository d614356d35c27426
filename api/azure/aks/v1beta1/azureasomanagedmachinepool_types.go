package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/api/common"
)

const (
	// AzureASOManagedMachinePoolKind is the kind's name.
	AzureASOManagedMachinePoolKind = "AzureASOManagedMachinePool"

	// ASOManagedMachinePoolFinalizer keeps the object until its agent pool is gone. It is the ecosystem's.
	ASOManagedMachinePoolFinalizer = "cluster.cluster.x-k8s.io"

	// ReplicasManagedByAKS is the value of the annotation cluster.x-k8s.io/replicas-managed-by for a pool that AKS's own autoscaler sizes.
	ReplicasManagedByAKS = "aks"
)

// AzureASOManagedMachinePoolSpec defines the desired state of an agent pool of AKS by manifests of Azure Service Operator.
type AzureASOManagedMachinePoolSpec struct {
	// ProviderID is the resource ID of the agent pool, after azure://. It is written by the controller.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	ProviderID string `json:"providerID,omitempty"`

	// ProviderIDList are the provider IDs of the pool's nodes. It is written by the controller.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	ProviderIDList []string `json:"providerIDList,omitempty"`

	// Resources are the manifests: one ManagedClustersAgentPool of the group containerservice.azure.com, in any version that Azure Service
	// Operator serves. The controller sends what it asks for to AKS itself; the operator need not be installed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:pruning:PreserveUnknownFields
	Resources []runtime.RawExtension `json:"resources,omitempty"`
}

// AzureASOManagedMachinePoolStatus defines the observed state of an AzureASOManagedMachinePool.
type AzureASOManagedMachinePoolStatus struct {
	common.Status `json:",inline"`

	// Resources are the states of the manifests of the specification, in their order.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Resources []ResourceStatus `json:"resources,omitempty"`

	// NodeImageVersion is the node image that new nodes get, as AKS reports it.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	NodeImageVersion string `json:"nodeImageVersion,omitempty"`

	// LongRunningOperationStates are operations of the cloud that have not been seen to end. They are hints: what they do is observed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	LongRunningOperationStates []azurev1.Future `json:"longRunningOperationStates,omitempty"`
}

// ResourceStatus is the state of one manifest.
type ResourceStatus struct {
	// Resource that the manifest describes.
	// +required
	Resource StatusResource `json:"resource"`

	// Ready is true if what the manifest asks for is there.
	// +required
	Ready bool `json:"ready"`
}

// StatusResource names the resource of a manifest.
type StatusResource struct {
	// Group of the resource.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Group string `json:"group"`

	// Version of the manifest.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Version string `json:"version"`

	// Kind of the resource.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// Name of the manifest.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// AzureASOManagedMachinePool is an agent pool of an AKS cluster, described by manifests of Azure Service Operator.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=azureasomanagedmachinepools,scope=Namespaced,categories=cluster-api,shortName=asommp
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1alpha1_v1beta1"
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
type AzureASOManagedMachinePool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec defines the desired state of the pool.
	// +required
	Spec AzureASOManagedMachinePoolSpec `json:"spec"`

	// Status holds the observed state of the pool.
	// +optional
	Status AzureASOManagedMachinePoolStatus `json:"status,omitzero"`
}

// AzureASOManagedMachinePoolList is a list of AzureASOManagedMachinePool.
// +kubebuilder:object:root=true
type AzureASOManagedMachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []AzureASOManagedMachinePool `json:"items"`
}
