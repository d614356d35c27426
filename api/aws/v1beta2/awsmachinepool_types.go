package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

const (
	// AWSMachinePoolKind is the kind's name.
	AWSMachinePoolKind = "AWSMachinePool"

	// MachinePoolFinalizer keeps the object until everything that it owns in the cloud is gone.
	MachinePoolFinalizer = "awsmachinepool.infrastructure.cluster.x-k8s.io"
)

// AWSMachinePoolSpec defines the desired state of an AWSMachinePool, a pool of EC2 instances in an Auto Scaling group.
// +kubebuilder:validation:XValidation:rule="self.minSize <= self.maxSize",fieldPath=".minSize",reason=FieldValueInvalid,message="minSize must not be above maxSize",messageExpression="'minSize is %d and maxSize is %d: minSize must not be above maxSize'.format([self.minSize, self.maxSize])"
// +kubebuilder:validation:XValidation:rule="!has(self.strategy) || !has(self.refreshPreferences) || !has(self.refreshPreferences.disable) || !self.refreshPreferences.disable",fieldPath=".strategy",reason=FieldValueForbidden,message="can't be set together with refreshPreferences.disable: the one replaces instances and the other keeps them (the annotation muster.dev/rollout: paused holds a rollout)"
// +kubebuilder:validation:XValidation:rule="!has(self.mixedInstancesPolicy) || !has(self.awsLaunchTemplate.spotMarketOptions)",fieldPath=".mixedInstancesPolicy",reason=FieldValueForbidden,message="can't be set together with awsLaunchTemplate.spotMarketOptions: set one of the two (spot capacity of a mixed group belongs into mixedInstancesPolicy.instancesDistribution)"
// +kubebuilder:validation:XValidation:rule="!has(self.mixedInstancesPolicy) || !has(self.awsLaunchTemplate.marketType) || self.awsLaunchTemplate.marketType != 'Spot'",fieldPath=".mixedInstancesPolicy",reason=FieldValueForbidden,message="can't be set together with awsLaunchTemplate.marketType Spot: set one of the two (spot capacity of a mixed group belongs into mixedInstancesPolicy.instancesDistribution)"
type AWSMachinePoolSpec struct {
	// ProviderID is the ARN of the Auto Scaling group. It is written by the controller.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	ProviderID string `json:"providerID,omitempty"`

	// MinSize is the smallest size of the group.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	MinSize int32 `json:"minSize"`

	// MaxSize is the largest size of the group.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	MaxSize int32 `json:"maxSize"`

	// AvailabilityZones are the zones that instances may be launched in, when no subnets are named.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	AvailabilityZones []string `json:"availabilityZones,omitempty"`

	// AvailabilityZoneSubnetType selects the subnets of the zones: public, private or all. The default is private, and all for a zone without
	// private subnets.
	// +optional
	AvailabilityZoneSubnetType *AZSubnetType `json:"availabilityZoneSubnetType,omitempty"`

	// Subnets that instances are launched in, each by its ID or by filters.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Subnets []AWSResourceReference `json:"subnets,omitempty"`

	// AdditionalTags are put on the group, its launch template and its instances, in addition to the tags of the controller.
	// +optional
	AdditionalTags Tags `json:"additionalTags,omitempty"`

	// AWSLaunchTemplate describes the launch template of the pool's instances.
	// +required
	AWSLaunchTemplate AWSLaunchTemplate `json:"awsLaunchTemplate"`

	// MixedInstancesPolicy lets the group launch several instance types, on demand and spot.
	// +optional
	MixedInstancesPolicy *MixedInstancesPolicy `json:"mixedInstancesPolicy,omitempty"`

	// ProviderIDList are the provider IDs of the group's instances, as their Nodes carry them. It is written by the
	// controller.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	ProviderIDList []string `json:"providerIDList,omitempty"`

	// DefaultCoolDown is the time after a scaling activity before the cloud starts another one of its own.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=duration
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^-?([0-9]{1,6}(\.[0-9]+)?(h|m|s))+$|^0$`
	// +kubebuilder:default="5m0s"
	// +kubebuilder:validation:XValidation:rule="self >= duration('0s')",reason=FieldValueInvalid,message="must be zero or a positive duration, for example 5m0s"
	DefaultCoolDown *metav1.Duration `json:"defaultCoolDown,omitempty"`

	// DefaultInstanceWarmup is the time until a new instance counts in the group's metrics.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=duration
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^-?([0-9]{1,6}(\.[0-9]+)?(h|m|s))+$|^0$`
	// +kubebuilder:default="5m0s"
	// +kubebuilder:validation:XValidation:rule="self >= duration('0s')",reason=FieldValueInvalid,message="must be zero or a positive duration, for example 5m0s"
	DefaultInstanceWarmup *metav1.Duration `json:"defaultInstanceWarmup,omitempty"`

	// Strategy selects how instances with an outdated launch template are replaced. If it is absent, they are replaced in waves, as with
	// RollingUpdate, within the limits of refreshPreferences.
	// +optional
	Strategy *Strategy `json:"strategy,omitempty"`

	// RefreshPreferences are the limits of a rollout without strategy, and of an instance refresh.
	// +optional
	RefreshPreferences *RefreshPreferences `json:"refreshPreferences,omitempty"`

	// CapacityRebalance lets the group replace spot instances that are about to be interrupted.
	// +optional
	CapacityRebalance bool `json:"capacityRebalance,omitempty"`

	// SuspendProcesses are the group's processes that are kept suspended. One that is taken out of the list is resumed.
	// +optional
	SuspendProcesses *SuspendProcessesTypes `json:"suspendProcesses,omitempty"`

	// Ignition configures how machines with Ignition get their bootstrap data.
	// +optional
	Ignition *Ignition `json:"ignition,omitempty"`

	// AWSLifecycleHooks hold instances of the group for a while when they are launched or terminated.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	AWSLifecycleHooks []AWSLifecycleHook `json:"lifecycleHooks,omitempty"`
}

// AWSMachinePoolStatus defines the observed state of an AWSMachinePool.
type AWSMachinePoolStatus struct {
	common.Status `json:",inline"`

	// LaunchTemplateID is the ID of the pool's launch template.
	// +optional
	LaunchTemplateID string `json:"launchTemplateID,omitempty"`

	// LaunchTemplateVersion is the version that the group launches from, or will when it is made.
	// +optional
	LaunchTemplateVersion *string `json:"launchTemplateVersion,omitempty"`

	// InfrastructureMachineKind is the kind of the objects that represent single instances; absent if there are none.
	// +optional
	InfrastructureMachineKind string `json:"infrastructureMachineKind,omitempty"`

	// FailureReason belongs to the older contract. It is read and never set: nothing here is beyond repair.
	// +optional
	FailureReason *string `json:"failureReason,omitempty"`

	// FailureMessage belongs to the older contract. It is read and never set.
	// +optional
	FailureMessage *string `json:"failureMessage,omitempty"`

	// ASGStatus is the group's status in the cloud's own words; absent unless the group is being deleted.
	// +optional
	ASGStatus *ASGStatus `json:"asgStatus,omitempty"`
}

// ASGStatus is a status of an Auto Scaling group in the cloud's own words.
type ASGStatus string

// ASGStatusDeleteInProgress is the status while the cloud deletes the group.
const ASGStatusDeleteInProgress ASGStatus = "Delete in progress"

// AWSMachinePool is a pool of EC2 instances that an Auto Scaling group keeps.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=awsmachinepools,scope=Namespaced,categories=cluster-api,shortName=awsmp
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
type AWSMachinePool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec defines the desired state of the pool.
	// +required
	Spec AWSMachinePoolSpec `json:"spec"`

	// Status holds the observed state of the pool.
	// +optional
	Status AWSMachinePoolStatus `json:"status,omitzero"`
}

// AWSMachinePoolList is a list of AWSMachinePool.
// +kubebuilder:object:root=true
type AWSMachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []AWSMachinePool `json:"items"`
}
