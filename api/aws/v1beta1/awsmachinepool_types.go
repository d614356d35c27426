package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
)

// AWSMachinePoolSpec defines the desired state of an AWSMachinePool, a pool of EC2 instances in an Auto Scaling group. Fields that are
// equal in both versions have their types in v1beta2.
// +kubebuilder:validation:XValidation:rule="self.minSize <= self.maxSize",fieldPath=".minSize",reason=FieldValueInvalid,message="minSize must not be above maxSize",messageExpression="'minSize is %d and maxSize is %d: minSize must not be above maxSize'.format([self.minSize, self.maxSize])"
// +kubebuilder:validation:XValidation:rule="!has(self.mixedInstancesPolicy) || !has(self.awsLaunchTemplate.spotMarketOptions)",fieldPath=".mixedInstancesPolicy",reason=FieldValueForbidden,message="can't be set together with awsLaunchTemplate.spotMarketOptions: set one of the two (spot capacity of a mixed group belongs into mixedInstancesPolicy.instancesDistribution)"
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

	// Subnets that instances are launched in, each an object with id or filters, or just the ID as a string.
	// +optional
	Subnets SubnetReferences `json:"subnets,omitempty"`

	// AdditionalTags are put on the group, its launch template and its instances, in addition to the tags of the controller.
	// +optional
	AdditionalTags v1beta2.Tags `json:"additionalTags,omitempty"`

	// AWSLaunchTemplate describes the launch template of the pool's instances.
	// +required
	AWSLaunchTemplate AWSLaunchTemplate `json:"awsLaunchTemplate"`

	// MixedInstancesPolicy lets the group launch several instance types, on demand and spot.
	// +optional
	MixedInstancesPolicy *v1beta2.MixedInstancesPolicy `json:"mixedInstancesPolicy,omitempty"`

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

	// Strategy selects how instances with an outdated launch template are replaced. If it is absent, they are replaced in waves, as with
	// RollingUpdate, within the limits of refreshPreferences.
	// +optional
	Strategy *v1beta2.Strategy `json:"strategy,omitempty"`

	// RefreshPreferences are the limits of a rollout without strategy, and of an instance refresh.
	// +optional
	RefreshPreferences *RefreshPreferences `json:"refreshPreferences,omitempty"`

	// CapacityRebalance lets the group replace spot instances that are about to be interrupted.
	// +optional
	CapacityRebalance bool `json:"capacityRebalance,omitempty"`
}

// AWSLaunchTemplate describes the launch template of the pool's instances.
// +kubebuilder:validation:XValidation:rule="has(self.name) == has(oldSelf.name) && (!has(self.name) || self.name == oldSelf.name)",fieldPath=".name",reason=FieldValueForbidden,message="can't be changed once the pool exists: it names the launch template in the cloud"
// +kubebuilder:validation:XValidation:rule="has(self.existing) == has(oldSelf.existing)",fieldPath=".existing",reason=FieldValueForbidden,message="can't be set or taken away once the pool exists: create another pool, one that launches from the other template"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !(has(self.name) || has(self.iamInstanceProfile) || has(self.ami) || has(self.imageLookupFormat) || has(self.imageLookupOrg) || has(self.imageLookupBaseOS) || has(self.instanceType) || has(self.rootVolume) || has(self.sshKeyName) || has(self.versionNumber) || has(self.additionalSecurityGroups) || has(self.spotMarketOptions) || has(self.placement) || has(self.networkInterfaces))",fieldPath=".existing",reason=FieldValueForbidden,message="can't be set together with fields of a template of the pool's own (versionsToKeep alone may stand beside it): the template that is brought says it all"
// +kubebuilder:validation:XValidation:rule="!has(self.placement) || !has(self.placement.tenancy) || self.placement.tenancy != 'host' || !has(self.spotMarketOptions)",fieldPath=".placement",reason=FieldValueInvalid,message="tenancy must not be host for spot instances"
type AWSLaunchTemplate struct {
	// Name of the launch template in the cloud. Absent, the group's name is taken. It can't be changed later.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^([a-zA-Z0-9().\-/_]{3,128})?$`
	Name string `json:"name,omitempty"`

	// IamInstanceProfile is the name or the ARN of the instance profile that instances get.
	// +optional
	IamInstanceProfile string `json:"iamInstanceProfile,omitempty"`

	// AMI is the image that instances boot from.
	// +optional
	AMI v1beta2.AMIReference `json:"ami,omitzero"`

	// ImageLookupFormat is the pattern of the image's name, used when no AMI is set. {{.BaseOS}} and {{.K8sVersion}} are replaced by the base
	// operating system and the Kubernetes version without its leading v.
	// +optional
	ImageLookupFormat string `json:"imageLookupFormat,omitempty"`

	// ImageLookupOrg is the account that publishes the image, used when no AMI is set.
	// +optional
	ImageLookupOrg string `json:"imageLookupOrg,omitempty"`

	// ImageLookupBaseOS is the base operating system of the image, used when no AMI is set.
	// +optional
	ImageLookupBaseOS string `json:"imageLookupBaseOS,omitempty"`

	// InstanceType of the instances, for example m5.large.
	// +optional
	InstanceType string `json:"instanceType,omitempty"`

	// RootVolume is the volume that instances boot from.
	// +optional
	RootVolume *v1beta2.Volume `json:"rootVolume,omitempty"`

	// SSHKeyName is the key pair that instances get: a name, the empty string for none, or absent for the cluster's.
	// +optional
	SSHKeyName *string `json:"sshKeyName,omitempty"`

	// VersionNumber is kept for older manifests. The version that is launched from is always the newest of the pool's own.
	// +optional
	VersionNumber *int64 `json:"versionNumber,omitempty"`

	// AdditionalSecurityGroups are attached to instances in addition to the cluster's, each by its ID or by filters.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	AdditionalSecurityGroups []v1beta2.AWSResourceReference `json:"additionalSecurityGroups,omitempty"`

	// SpotMarketOptions make the instances spot instances.
	// +optional
	SpotMarketOptions *v1beta2.SpotMarketOptions `json:"spotMarketOptions,omitempty"`

	// Placement selects the location of instances in the cloud's data centres.
	// +optional
	Placement *v1beta2.Placement `json:"placement,omitempty"`

	// NetworkInterfaces that instances are launched with. Absent, there is one, with the pool's security groups.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.exists_one(n, n.deviceIndex == 0 && (!has(n.networkCardIndex) || n.networkCardIndex == 0) && (!has(n.interfaceType) || n.interfaceType != 'efa-only'))",reason=FieldValueInvalid,message="exactly one interface must be the first: deviceIndex 0 on network card 0, and not efa-only"
	// +kubebuilder:validation:XValidation:rule="self.all(n, self.exists_one(m, m.deviceIndex == n.deviceIndex && (has(m.networkCardIndex) ? m.networkCardIndex : 0) == (has(n.networkCardIndex) ? n.networkCardIndex : 0)))",reason=FieldValueInvalid,message="no two interfaces may have the same deviceIndex on the same network card"
	// +kubebuilder:validation:XValidation:rule="size(self) == 1 || self.all(n, !has(n.associatePublicIpAddress) || !n.associatePublicIpAddress)",reason=FieldValueInvalid,message="associatePublicIpAddress can be true for a single interface only: EC2 gives no public address to an instance that is launched with several"
	NetworkInterfaces []v1beta2.NetworkInterface `json:"networkInterfaces,omitempty"`

	// Existing is a version of a launch template that another owner maintains: instances are launched from it, and Muster never changes it. It
	// excludes all other fields of the template, and can't be set or removed later.
	// +optional
	Existing *v1beta2.ExistingLaunchTemplate `json:"existing,omitempty"`

	// VersionsToKeep is the number of launch template versions to keep, including the newest. Versions with the same content, which result
	// from renewed bootstrap tokens, count as one; the older of them are deleted first. The default version and versions in use by a group or
	// an instance are always kept.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=100
	VersionsToKeep *int32 `json:"versionsToKeep,omitempty"`
}

// RefreshPreferences are the limits of a rollout without spec.strategy, and those of the cloud's instance refresh with the
// strategy InstanceRefresh. A refresh of the controller's always pins the launch template version that it rolls to, and
// skips instances that match it already.
// +kubebuilder:validation:XValidation:rule="!has(self.checkpointDelay) || has(self.checkpointPercentages)",fieldPath=".checkpointDelay",reason=FieldValueInvalid,message="needs checkpointPercentages to be set: there is no checkpoint to wait at"
type RefreshPreferences struct {
	// Strategy of the refresh in the cloud's words. Rolling, which is also the default, is the only one.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self in ['', 'Rolling']",reason=FieldValueInvalid,message="must be Rolling: the cloud's other strategy, ReplaceRootVolume, takes the disk from under a machine whose node is neither drained nor replaced",messageExpression="'found ' + self + ', want Rolling' + (self == 'ReplaceRootVolume' ? ': it takes the disk from under a machine whose node is neither drained nor replaced' : '')"
	Strategy *string `json:"strategy,omitempty"`

	// InstanceWarmup is the time in seconds until a new instance counts as ready.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	InstanceWarmup *int64 `json:"instanceWarmup,omitempty"`

	// MinHealthyPercentage of the desired capacity that must stay in service.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MinHealthyPercentage *int64 `json:"minHealthyPercentage,omitempty"`

	v1beta2.RefreshChecks `json:",inline"`
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

	// FailureReason belongs to the older contract. It is read and never set: nothing here is beyond repair.
	// +optional
	FailureReason *string `json:"failureReason,omitempty"`

	// FailureMessage belongs to the older contract. It is read and never set.
	// +optional
	FailureMessage *string `json:"failureMessage,omitempty"`

	// ASGStatus is the group's status in the cloud's own words; absent unless the group is being deleted.
	// +optional
	ASGStatus *v1beta2.ASGStatus `json:"asgStatus,omitempty"`
}

// AWSMachinePool is a pool of EC2 instances that an Auto Scaling group keeps.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=awsmachinepools,scope=Namespaced,categories=cluster-api,shortName=awsmp
// +kubebuilder:subresource:status
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
