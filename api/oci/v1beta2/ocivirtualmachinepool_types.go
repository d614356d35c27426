package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

const (
	// OCIVirtualMachinePoolKind is the kind's name.
	OCIVirtualMachinePoolKind = "OCIVirtualMachinePool"

	// VirtualMachinePoolFinalizer keeps the object until its virtual node pool is gone. It is the ecosystem's.
	VirtualMachinePoolFinalizer = "ocivirtualmachinepool.infrastructure.cluster.x-k8s.io"
)

// OCIVirtualMachinePoolSpec defines the desired state of an OCIVirtualMachinePool, a virtual node pool of OKE. All fields can be changed.
type OCIVirtualMachinePoolSpec struct {
	// ProviderID is the ID of the virtual node pool. It is written by the controller.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	ProviderID *string `json:"providerID,omitempty"`

	// ID is the OCID of the virtual node pool. It is written by the controller.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	ID *string `json:"id,omitempty"`

	// PlacementConfigs are the availability domains of virtual nodes, with their subnets. The default is all availability domains of the
	// cluster, with its first subnet with role worker.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	PlacementConfigs []VirtualNodepoolPlacementConfig `json:"placementConfigs,omitempty"`

	// NSGNames are the names of the virtual nodes' network security groups in the OCIManagedCluster. The default is the groups with role
	// worker.
	// +optional
	NSGNames SecurityGroupNames `json:"nsgNames,omitempty"`

	// PodConfiguration configures the shape and the network of pods.
	// +optional
	PodConfiguration PodConfig `json:"podConfiguration,omitzero"`

	// Taints of virtual nodes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Taints []Taint `json:"taints,omitempty"`

	// InitialVirtualNodeLabels are labels that OKE adds to virtual nodes when they join.
	// +optional
	InitialVirtualNodeLabels NodeLabels `json:"initialVirtualNodeLabels,omitempty"`

	// ProviderIDList are the provider IDs of the pool's virtual nodes. It is written by the controller.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	ProviderIDList []string `json:"providerIDList,omitempty"`
}

// VirtualNodepoolPlacementConfig is one availability domain of a virtual node pool.
type VirtualNodepoolPlacementConfig struct {
	// AvailabilityDomain is the name of the availability domain, for example Uocm:PHX-AD-1.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	AvailabilityDomain string `json:"availabilityDomain,omitempty"`

	// FaultDomains are the fault domains of virtual nodes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=255
	FaultDomains []string `json:"faultDomains,omitempty"`

	// SubnetName is the name of the subnet of virtual nodes in the OCIManagedCluster. The default is the first subnet with role worker.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	SubnetName *string `json:"subnetName,omitempty"`
}

// PodConfig configures the shape and the network of the pods of virtual nodes.
type PodConfig struct {
	// NSGNames are the names of the pods' network security groups in the OCIManagedCluster. The default is pod.
	// +optional
	NSGNames SecurityGroupNames `json:"nsgNames,omitempty"`

	// Shape of pods. The default is Pod.Standard.E4.Flex.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Shape *string `json:"shape,omitempty"`

	// SubnetName is the name of the regional subnet of pods in the OCIManagedCluster. The default is pod.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	SubnetName *string `json:"subnetName,omitempty"`
}

// Taint of the pool's virtual nodes.
type Taint struct {
	// Key of the taint.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9][a-z0-9.-]*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	Key string `json:"key"`

	// Value of the taint.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
	Value string `json:"value,omitempty"`

	// Effect of the taint: NoSchedule, PreferNoSchedule or NoExecute.
	// +required
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	Effect string `json:"effect"`
}

// OCIVirtualMachinePoolStatus defines the observed state of an OCIVirtualMachinePool.
type OCIVirtualMachinePoolStatus struct {
	common.Status `json:",inline"`

	// NodepoolLifecycleState is the state of the virtual node pool in OKE, for example ACTIVE.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	NodepoolLifecycleState string `json:"nodepoolLifecycleState,omitempty"`

	// InfrastructureMachineKind is the kind of the objects that represent single virtual nodes; absent if there are none.
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

// OCIVirtualMachinePool is a virtual node pool of OKE: pods run on capacity that Oracle manages, without machines. It needs an enhanced
// cluster.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=ocivirtualmachinepools,scope=Namespaced,categories=cluster-api,shortName=ocivmp
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
type OCIVirtualMachinePool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec defines the desired state of the pool. It may be empty.
	// +optional
	Spec OCIVirtualMachinePoolSpec `json:"spec,omitzero"`

	// Status holds the observed state of the pool.
	// +optional
	Status OCIVirtualMachinePoolStatus `json:"status,omitzero"`
}

// OCIVirtualMachinePoolList is a list of OCIVirtualMachinePool.
// +kubebuilder:object:root=true
type OCIVirtualMachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []OCIVirtualMachinePool `json:"items"`
}
