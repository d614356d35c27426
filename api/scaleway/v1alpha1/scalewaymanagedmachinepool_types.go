package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/api/scaleway/v1alpha2"
)

// ScalewayManagedMachinePoolSpec defines the desired state of a ScalewayManagedMachinePool, a pool of a Kapsule or Kosmos cluster.
// +kubebuilder:validation:XValidation:rule="has(self.placementGroupID) == has(oldSelf.placementGroupID)",fieldPath=".placementGroupID",reason=FieldValueForbidden,message="placementGroupID cannot be added or removed: Kapsule can't move the nodes of a pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.rootVolumeType) == has(oldSelf.rootVolumeType)",fieldPath=".rootVolumeType",reason=FieldValueForbidden,message="rootVolumeType cannot be added or removed: Kapsule can't change the volumes of a pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.rootVolumeSizeGB) == has(oldSelf.rootVolumeSizeGB)",fieldPath=".rootVolumeSizeGB",reason=FieldValueForbidden,message="rootVolumeSizeGB cannot be added or removed: Kapsule can't change the volumes of a pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.publicIPDisabled) == has(oldSelf.publicIPDisabled)",fieldPath=".publicIPDisabled",reason=FieldValueForbidden,message="publicIPDisabled cannot be added or removed: Kapsule can't change the addresses of a pool; create another pool"
type ScalewayManagedMachinePoolSpec struct {
	// ProviderIDList are the provider IDs of the pool's nodes. It is written by the controller.
	// +optional
	// +listType=atomic
	ProviderIDList []string `json:"providerIDList,omitempty"`

	// NodeType is the type of Scaleway Instance of nodes, or "external" for machines outside of Scaleway in a Kosmos cluster. It can't be
	// changed later.
	// +required
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",reason=FieldValueForbidden,message="Value is immutable: Kapsule can't change the node type of a pool; create another pool"
	NodeType string `json:"nodeType"`

	// Zone of the pool's nodes. It can't be changed later.
	// +required
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",reason=FieldValueForbidden,message="Value is immutable: Kapsule can't move the nodes of a pool; create another pool"
	Zone string `json:"zone"`

	// PlacementGroupID is the placement group of the pool's nodes. It can't be changed later.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",reason=FieldValueForbidden,message="Value is immutable: Kapsule can't move the nodes of a pool; create another pool"
	PlacementGroupID *string `json:"placementGroupID,omitempty"`

	// Scaling has Kapsule's autoscaler size the pool.
	// +optional
	Scaling *ScalingSpec `json:"scaling,omitempty"`

	// Autohealing is true if Kapsule restarts, and then replaces, nodes that are not ready for a long time.
	// +optional
	Autohealing *bool `json:"autohealing,omitempty"`

	// AdditionalTags are tags of the pool in addition to those of the controller.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.all(t, !t.startsWith('muster.dev') && !t.startsWith('muster-dev') && !t.startsWith('caps-') && !t.startsWith('created-by='))",reason=FieldValueInvalid,message="no tag may begin with muster.dev, muster-dev, caps- or created-by=: these tags name the owner of a pool"
	AdditionalTags []string `json:"additionalTags,omitempty"`

	// KubeletArgs are arguments of the kubelet of nodes. Nodes that exist keep theirs.
	// +optional
	KubeletArgs map[string]string `json:"kubeletArgs,omitempty"`

	// UpgradePolicy configures how Kapsule replaces nodes in an upgrade of the Kubernetes version.
	// +optional
	UpgradePolicy *UpgradePolicySpec `json:"upgradePolicy,omitempty"`

	// RootVolumeType is the type of the system volume of nodes. It can't be changed later.
	// +optional
	// +kubebuilder:validation:Enum=l_ssd;sbs_5k;sbs_15k
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",reason=FieldValueForbidden,message="Value is immutable: Kapsule can't change the volumes of a pool; create another pool"
	RootVolumeType *string `json:"rootVolumeType,omitempty"`

	// RootVolumeSizeGB is the size of the system volume of nodes in gigabytes (10^9 bytes). It can't be changed later.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",reason=FieldValueForbidden,message="Value is immutable: Kapsule can't change the volumes of a pool; create another pool"
	RootVolumeSizeGB *int64 `json:"rootVolumeSizeGB,omitempty"`

	// PublicIPDisabled is true if nodes have no public address. It can't be changed later.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",reason=FieldValueForbidden,message="Value is immutable: Kapsule can't change the addresses of a pool; create another pool"
	PublicIPDisabled *bool `json:"publicIPDisabled,omitempty"`

	// SecurityGroupID is the security group of nodes. Unlike the ecosystem's kind, it can be changed.
	// +optional
	SecurityGroupID *string `json:"securityGroupID,omitempty"`

	// Labels of the pool's nodes, which Kapsule sets and keeps.
	// +optional
	Labels v1alpha2.NodeLabels `json:"labels,omitempty"`
}

// ScalingSpec has Kapsule's autoscaler size the pool.
type ScalingSpec struct {
	// Autoscaling is true if Kapsule's autoscaler sizes the pool. spec.replicas of the MachinePool then follows the pool's size.
	// +optional
	Autoscaling *bool `json:"autoscaling,omitempty"`

	// MinSize is the smallest size that the autoscaler sets.
	// +optional
	MinSize *int32 `json:"minSize,omitempty"`

	// MaxSize is the largest size that the autoscaler sets.
	// +optional
	MaxSize *int32 `json:"maxSize,omitempty"`
}

// UpgradePolicySpec configures how Kapsule replaces nodes in an upgrade of the Kubernetes version.
type UpgradePolicySpec struct {
	// MaxUnavailable is the number of nodes that may be missing during an upgrade.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxUnavailable *int32 `json:"maxUnavailable,omitempty"`

	// MaxSurge is the number of additional nodes during an upgrade.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxSurge *int32 `json:"maxSurge,omitempty"`
}

// ScalewayManagedMachinePoolStatus defines the observed state of a ScalewayManagedMachinePool.
type ScalewayManagedMachinePoolStatus struct {
	common.Status `json:",inline"`
}

// ScalewayManagedMachinePool is a pool of a Kapsule or Kosmos cluster.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=scalewaymanagedmachinepools,scope=Namespaced,categories=cluster-api,shortName=smmp
// +kubebuilder:subresource:status
// +kubebuilder:deprecatedversion
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
