package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

const (
	// ScalewayManagedMachinePoolKind is the kind's name.
	ScalewayManagedMachinePoolKind = "ScalewayManagedMachinePool"

	// ManagedMachinePoolFinalizer keeps the object until its pool is gone. It is the ecosystem's.
	ManagedMachinePoolFinalizer = "scalewaymanagedmachinepool.infrastructure.cluster.x-k8s.io/smmp-protection"

	// NodeTypeExternal is the node type of pools of Kosmos clusters whose machines run outside of Scaleway.
	NodeTypeExternal = "external"
)

// The tags by which the ecosystem's provider knows its pools. Their values are the namespace and the name of the object, and
// TagCreatedByValue.
const (
	TagNamespace      = "caps-namespace"
	TagPool           = "caps-scalewaymanagedmachinepool"
	TagCreatedBy      = "created-by"
	TagCreatedByValue = "cluster-api-provider-scaleway"
)

// ScalewayManagedMachinePoolSpec defines the desired state of a ScalewayManagedMachinePool, a pool of a Kapsule or Kosmos cluster.
// +kubebuilder:validation:XValidation:rule="has(self.placementGroupID) == has(oldSelf.placementGroupID)",fieldPath=".placementGroupID",reason=FieldValueForbidden,message="placementGroupID cannot be added or removed: Kapsule can't move the nodes of a pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.rootVolumeType) == has(oldSelf.rootVolumeType)",fieldPath=".rootVolumeType",reason=FieldValueForbidden,message="rootVolumeType cannot be added or removed: Kapsule can't change the volumes of a pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.rootVolumeSizeGB) == has(oldSelf.rootVolumeSizeGB)",fieldPath=".rootVolumeSizeGB",reason=FieldValueForbidden,message="rootVolumeSizeGB cannot be added or removed: Kapsule can't change the volumes of a pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.publicIPDisabled) == has(oldSelf.publicIPDisabled)",fieldPath=".publicIPDisabled",reason=FieldValueForbidden,message="publicIPDisabled cannot be added or removed: Kapsule can't change the addresses of a pool; create another pool"
type ScalewayManagedMachinePoolSpec struct {
	// ProviderID is the ID of the pool. It is written by the controller. It is Muster's own addition to the ecosystem's kind.
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

	// NodeType is the type of Scaleway Instance of nodes, for example PRO2-XXS, or "external" for machines outside of Scaleway in a Kosmos
	// cluster. Kapsule refuses types with little memory (DEV1-S, PLAY2-PICO, STARDUST). It can't be changed later.
	// +required
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=30
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",reason=FieldValueForbidden,message="Value is immutable: Kapsule can't change the node type of a pool; create another pool"
	NodeType string `json:"nodeType,omitempty"`

	// Zone of the pool's nodes, for example fr-par-1. It can't be changed later.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",reason=FieldValueForbidden,message="Value is immutable: Kapsule can't move the nodes of a pool; create another pool"
	Zone Zone `json:"zone,omitempty"`

	// PlacementGroupID is the placement group of the pool's nodes, which holds at most 20. It can't be changed later.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",reason=FieldValueForbidden,message="Value is immutable: Kapsule can't move the nodes of a pool; create another pool"
	PlacementGroupID UUID `json:"placementGroupID,omitempty"`

	// Scaling has Kapsule's autoscaler size the pool. It has no effect with node type "external".
	// +optional
	Scaling *Scaling `json:"scaling,omitempty"`

	// Autohealing is true if Kapsule restarts, and then replaces, nodes that are not ready for a long time.
	// +optional
	Autohealing *bool `json:"autohealing,omitempty"`

	// AdditionalTags are tags of the pool in addition to those of the controller.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=30
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.all(t, !t.startsWith('muster.dev') && !t.startsWith('muster-dev') && !t.startsWith('caps-') && !t.startsWith('created-by='))",reason=FieldValueInvalid,message="no tag may begin with muster.dev, muster-dev, caps- or created-by=: these tags name the owner of a pool"
	AdditionalTags []string `json:"additionalTags,omitempty"`

	// KubeletArgs are arguments of the kubelet of nodes. Nodes that exist keep theirs.
	// +optional
	KubeletArgs map[string]string `json:"kubeletArgs,omitempty"`

	// UpgradePolicy configures how Kapsule replaces nodes in an upgrade of the Kubernetes version.
	// +optional
	UpgradePolicy *UpgradePolicy `json:"upgradePolicy,omitempty"`

	// RootVolumeType is the type of the system volume of nodes. Absent, Kapsule chooses by node type. It can't be changed later.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",reason=FieldValueForbidden,message="Value is immutable: Kapsule can't change the volumes of a pool; create another pool"
	RootVolumeType VolumeType `json:"rootVolumeType,omitempty"`

	// RootVolumeSizeGB is the size of the system volume of nodes in gigabytes (10^9 bytes). Absent, Kapsule chooses by node type. It can't be
	// changed later.
	// +optional
	// +kubebuilder:validation:Minimum=20
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",reason=FieldValueForbidden,message="Value is immutable: Kapsule can't change the volumes of a pool; create another pool"
	RootVolumeSizeGB int64 `json:"rootVolumeSizeGB,omitempty"`

	// PublicIPDisabled is true if nodes have no public address. The cluster then needs a Private Network with a Public Gateway. It can't be
	// changed later.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",reason=FieldValueForbidden,message="Value is immutable: Kapsule can't change the addresses of a pool; create another pool"
	PublicIPDisabled *bool `json:"publicIPDisabled,omitempty"`

	// SecurityGroupID is the security group of nodes. Absent, Kapsule takes its own of the zone, and leaves a group that was set before as it
	// is. Unlike the ecosystem's kind, it can be changed.
	// +optional
	SecurityGroupID UUID `json:"securityGroupID,omitempty"`

	// Labels of the pool's nodes, which Kapsule sets and keeps. They are Muster's own addition to this version of the ecosystem's kind.
	// +optional
	Labels NodeLabels `json:"labels,omitempty"`

	// Taints of the pool's nodes, which Kapsule sets and keeps. They are Muster's own addition to the ecosystem's kind.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Taints []Taint `json:"taints,omitempty"`

	// StartupTaints are taints of new nodes, which others remove and Kapsule does not set again. They are Muster's own addition to the
	// ecosystem's kind.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	StartupTaints []Taint `json:"startupTaints,omitempty"`
}

// ScalewayManagedMachinePoolStatus defines the observed state of a ScalewayManagedMachinePool.
type ScalewayManagedMachinePoolStatus struct {
	common.Status `json:",inline"`
}

// ScalewayManagedMachinePool is a pool of a Kapsule or Kosmos cluster.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=scalewaymanagedmachinepools,scope=Namespaced,categories=cluster-api,shortName=smmp
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1alpha1_v1alpha2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1alpha2"
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
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="name must be between 1 and 63 characters"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="name must be a valid DNS label"
type ScalewayManagedMachinePool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec defines the desired state of the pool.
	// +required
	Spec ScalewayManagedMachinePoolSpec `json:"spec"`

	// Status holds the observed state of the pool.
	// +optional
	Status ScalewayManagedMachinePoolStatus `json:"status,omitzero"`
}

// ScalewayManagedMachinePoolList is a list of ScalewayManagedMachinePool.
// +kubebuilder:object:root=true
type ScalewayManagedMachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []ScalewayManagedMachinePool `json:"items"`
}
