package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
)

// AWSManagedMachinePoolSpec defines the desired state of an AWSManagedMachinePool, a managed node group of EKS. Fields that are equal in
// both versions have their types in v1beta2.
// +kubebuilder:validation:XValidation:rule="has(self.eksNodegroupName) == has(oldSelf.eksNodegroupName) && (!has(self.eksNodegroupName) || self.eksNodegroupName == oldSelf.eksNodegroupName)",fieldPath=".eksNodegroupName",reason=FieldValueForbidden,message="can't be changed once the pool exists: EKS can't change the name of a node group; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.subnetIDs) == has(oldSelf.subnetIDs) && (!has(self.subnetIDs) || self.subnetIDs == oldSelf.subnetIDs)",fieldPath=".subnetIDs",reason=FieldValueForbidden,message="can't be changed once the pool exists: EKS can't change the subnets of a node group; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.availabilityZones) == has(oldSelf.availabilityZones) && (!has(self.availabilityZones) || self.availabilityZones == oldSelf.availabilityZones)",fieldPath=".availabilityZones",reason=FieldValueForbidden,message="can't be changed once the pool exists: EKS can't change the subnets of a node group; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.diskSize) == has(oldSelf.diskSize) && (!has(self.diskSize) || self.diskSize == oldSelf.diskSize)",fieldPath=".diskSize",reason=FieldValueForbidden,message="can't be changed once the pool exists: EKS can't change the disk size of a node group; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.instanceType) == has(oldSelf.instanceType) && (!has(self.instanceType) || self.instanceType == oldSelf.instanceType)",fieldPath=".instanceType",reason=FieldValueForbidden,message="can't be changed once the pool exists: EKS can't change the instance types of a node group; create another pool, with awsLaunchTemplate, whose instanceType can be changed"
// +kubebuilder:validation:XValidation:rule="has(self.instanceTypes) == has(oldSelf.instanceTypes) && (!has(self.instanceTypes) || self.instanceTypes == oldSelf.instanceTypes)",fieldPath=".instanceTypes",reason=FieldValueForbidden,message="can't be changed once the pool exists: EKS can't change the instance types of a node group; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.remoteAccess) == has(oldSelf.remoteAccess) && (!has(self.remoteAccess) || self.remoteAccess == oldSelf.remoteAccess)",fieldPath=".remoteAccess",reason=FieldValueForbidden,message="can't be changed once the pool exists: EKS can't change the remote access of a node group; create another pool"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.capacityType) || (has(self.capacityType) && self.capacityType == oldSelf.capacityType)",fieldPath=".capacityType",reason=FieldValueForbidden,message="can't be changed once it is set: EKS can't change the capacity type of a node group; create another pool"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.roleName) || (has(self.roleName) && self.roleName == oldSelf.roleName)",fieldPath=".roleName",reason=FieldValueForbidden,message="can't be changed once it is set: EKS can't change the role of a node group; create another pool"
// +kubebuilder:validation:XValidation:rule="(has(self.amiType) == has(oldSelf.amiType) && (!has(self.amiType) || self.amiType == oldSelf.amiType)) || (has(self.awsLaunchTemplate) && ((!has(self.amiType) && oldSelf.amiType != 'CUSTOM') || ((!has(self.amiType) || self.amiType == 'CUSTOM') && ((has(self.awsLaunchTemplate.ami) && (has(self.awsLaunchTemplate.ami.id) || has(self.awsLaunchTemplate.ami.eksLookupType))) || (has(self.awsLaunchTemplate.imageLookupFormat) && size(self.awsLaunchTemplate.imageLookupFormat) > 0) || (has(self.awsLaunchTemplate.imageLookupOrg) && size(self.awsLaunchTemplate.imageLookupOrg) > 0) || (has(self.awsLaunchTemplate.imageLookupBaseOS) && size(self.awsLaunchTemplate.imageLookupBaseOS) > 0)))))",fieldPath=".amiType",reason=FieldValueForbidden,message="can't be changed once the pool exists: EKS can't change the family of images of a node group; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.awsLaunchTemplate) == has(oldSelf.awsLaunchTemplate)",fieldPath=".awsLaunchTemplate",reason=FieldValueForbidden,message="can't be added or taken away once the pool exists: EKS can't give a node group a launch template later, or take it away; create another pool"
// +kubebuilder:validation:XValidation:rule="!has(self.awsLaunchTemplate) || !has(oldSelf.awsLaunchTemplate) || !has(self.awsLaunchTemplate.existing) || !has(oldSelf.awsLaunchTemplate.existing) || (has(self.awsLaunchTemplate.existing.id) == has(oldSelf.awsLaunchTemplate.existing.id) && (has(self.awsLaunchTemplate.existing.id) ? self.awsLaunchTemplate.existing.id == oldSelf.awsLaunchTemplate.existing.id : self.awsLaunchTemplate.existing.name == oldSelf.awsLaunchTemplate.existing.name))",fieldPath=".awsLaunchTemplate.existing",reason=FieldValueForbidden,message="the template can't be changed once the pool exists, only its version: EKS can't give a node group another launch template; create another pool"
// +kubebuilder:validation:XValidation:rule="!has(self.amiType) || self.amiType == 'CUSTOM' || !has(self.awsLaunchTemplate) || !((has(self.awsLaunchTemplate.ami) && (has(self.awsLaunchTemplate.ami.id) || has(self.awsLaunchTemplate.ami.eksLookupType))) || (has(self.awsLaunchTemplate.imageLookupFormat) && size(self.awsLaunchTemplate.imageLookupFormat) > 0) || (has(self.awsLaunchTemplate.imageLookupOrg) && size(self.awsLaunchTemplate.imageLookupOrg) > 0) || (has(self.awsLaunchTemplate.imageLookupBaseOS) && size(self.awsLaunchTemplate.imageLookupBaseOS) > 0)) || (oldSelf.hasValue() && has(oldSelf.value().amiType) && oldSelf.value().amiType == self.amiType && has(oldSelf.value().awsLaunchTemplate))",fieldPath=".amiType",reason=FieldValueForbidden,optionalOldSelf=true,messageExpression="'found ' + self.amiType + ', must be CUSTOM or absent when awsLaunchTemplate names an image (ami.id, ami.eksLookupType or imageLookup...): EKS takes the image from one of the two'"
// +kubebuilder:validation:XValidation:rule="!has(self.amiType) || self.amiType != 'CUSTOM' || has(self.awsLaunchTemplate)",fieldPath=".amiType",reason=FieldValueInvalid,message="CUSTOM needs awsLaunchTemplate, which names the image"
// +kubebuilder:validation:XValidation:rule="!has(self.amiVersion) || !has(self.awsLaunchTemplate) || (!(has(self.amiType) && self.amiType == 'CUSTOM') && !((has(self.awsLaunchTemplate.ami) && (has(self.awsLaunchTemplate.ami.id) || has(self.awsLaunchTemplate.ami.eksLookupType))) || (has(self.awsLaunchTemplate.imageLookupFormat) && size(self.awsLaunchTemplate.imageLookupFormat) > 0) || (has(self.awsLaunchTemplate.imageLookupOrg) && size(self.awsLaunchTemplate.imageLookupOrg) > 0) || (has(self.awsLaunchTemplate.imageLookupBaseOS) && size(self.awsLaunchTemplate.imageLookupBaseOS) > 0))) || (oldSelf.hasValue() && has(oldSelf.value().amiVersion) && oldSelf.value().amiVersion == self.amiVersion && has(oldSelf.value().awsLaunchTemplate))",fieldPath=".amiVersion",reason=FieldValueForbidden,optionalOldSelf=true,messageExpression="'found ' + self.amiVersion + ', must be absent when awsLaunchTemplate names an image (ami.id, ami.eksLookupType or imageLookup...) or amiType is CUSTOM: it is a release of an image of EKS'"
// +kubebuilder:validation:XValidation:rule="!has(self.instanceType) || !has(self.awsLaunchTemplate)",fieldPath=".instanceType",reason=FieldValueForbidden,message="can't be set together with awsLaunchTemplate: set awsLaunchTemplate.instanceType"
// +kubebuilder:validation:XValidation:rule="!has(self.diskSize) || !has(self.awsLaunchTemplate)",fieldPath=".diskSize",reason=FieldValueForbidden,message="can't be set together with awsLaunchTemplate: set awsLaunchTemplate.rootVolume"
// +kubebuilder:validation:XValidation:rule="!has(self.remoteAccess) || !has(self.awsLaunchTemplate)",fieldPath=".remoteAccess",reason=FieldValueForbidden,message="can't be set together with awsLaunchTemplate: set awsLaunchTemplate.sshKeyName and additionalSecurityGroups"
// +kubebuilder:validation:XValidation:rule="!has(self.instanceType) || !has(self.instanceTypes)",fieldPath=".instanceTypes",reason=FieldValueForbidden,message="can't be set together with instanceType: set one of the two"
// +kubebuilder:validation:XValidation:rule="!has(self.instanceTypes) || !has(self.awsLaunchTemplate) || !has(self.awsLaunchTemplate.instanceType) || size(self.awsLaunchTemplate.instanceType) == 0",fieldPath=".instanceTypes",reason=FieldValueForbidden,message="can't be set together with awsLaunchTemplate.instanceType: EKS takes instance types from one of the two"
// +kubebuilder:validation:XValidation:rule="!has(self.awsLaunchTemplate) || !has(self.awsLaunchTemplate.iamInstanceProfile) || size(self.awsLaunchTemplate.iamInstanceProfile) == 0",fieldPath=".awsLaunchTemplate.iamInstanceProfile",reason=FieldValueForbidden,message="can't be set in a managed pool: EKS makes the instance profile from the node role; set roleName"
// +kubebuilder:validation:XValidation:rule="!has(self.awsLaunchTemplate) || !has(self.awsLaunchTemplate.spotMarketOptions)",fieldPath=".awsLaunchTemplate.spotMarketOptions",reason=FieldValueForbidden,message="can't be set in a managed pool: EKS itself asks for spot capacity; set capacityType to spot"
// +kubebuilder:validation:XValidation:rule="!has(self.capacityType) || self.capacityType != 'capacityBlock' || has(self.awsLaunchTemplate)",fieldPath=".capacityType",reason=FieldValueInvalid,message="capacityBlock needs awsLaunchTemplate with marketType CapacityBlock and capacityReservationId"
// +kubebuilder:validation:XValidation:rule="!has(self.capacityType) || self.capacityType != 'spot' || !has(self.awsLaunchTemplate) || !has(self.awsLaunchTemplate.placement) || !has(self.awsLaunchTemplate.placement.tenancy) || self.awsLaunchTemplate.placement.tenancy != 'host'",fieldPath=".awsLaunchTemplate.placement",reason=FieldValueInvalid,message="tenancy must not be host when capacityType is spot"
type AWSManagedMachinePoolSpec struct {
	// ProviderID is the ARN of the node group. It is written by the controller.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	ProviderID string `json:"providerID,omitempty"`

	// EKSNodegroupName is the node group's name in EKS. Absent, a name is derived from that of the object, and of the object's
	// owner ID. It can't be changed later.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([0-9A-Za-z][0-9A-Za-z_-]*)?$`
	EKSNodegroupName string `json:"eksNodegroupName,omitempty"`

	// AvailabilityZones are the zones that instances may be launched in, when no subnets are named. They can't be changed
	// later.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	AvailabilityZones []string `json:"availabilityZones,omitempty"`

	// SubnetIDs are the subnets that instances are launched in. They can't be changed later.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	SubnetIDs []string `json:"subnetIDs,omitempty"`

	// AdditionalTags are put on the node group, the Auto Scaling group behind it, its launch template and its instances, in addition to the
	// tags of the controller.
	// +optional
	AdditionalTags v1beta2.Tags `json:"additionalTags,omitempty"`

	// RoleAdditionalPolicies lists the ARNs of policies that are attached to the node role in addition to those that every node needs. They
	// are attached only to a role that the controller has created, and only with the feature gate EKSAllowAddRoles.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=2048
	RoleAdditionalPolicies []string `json:"roleAdditionalPolicies,omitempty"`

	// RoleName is the name of the IAM role that nodes have. Absent, it is that of the ecosystem's common node role, or where
	// the controller may make roles (feature gate EKSEnableIAM) of one of the pool's own. Once set it can't be changed.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_+=,.@-]*$`
	RoleName string `json:"roleName,omitempty"`

	// AMIVersion is the release of EKS's image that nodes run, for example 1.31.2-20250103. Absent, it is the newest when the
	// group is made and with every new Kubernetes version. It is deprecated without awsLaunchTemplate, and can't be set
	// together with an image that awsLaunchTemplate names.
	// +optional
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=64
	AMIVersion *string `json:"amiVersion,omitempty"`

	// AMIType is the family of EKS's images that nodes run. Absent, it follows from Kubernetes version and processor: Amazon
	// Linux 2023 from 1.30 on. The schema fills in nothing, because a default must not contradict a launch template.
	//
	// It is deprecated without awsLaunchTemplate. With a template that names an image (ami.id, ami.eksLookupType or imageLookup...) it can
	// only be CUSTOM. CUSTOM with a template that names none selects the image that EKS publishes for the Kubernetes version. A value that the
	// existing provider has filled in with a template is kept until a user changes it. Otherwise the field can't be changed later.
	// +optional
	AMIType *v1beta2.ManagedMachineAMIType `json:"amiType,omitempty"`

	// Labels are put on every node. Those that others have put on the node group are left alone.
	// +optional
	Labels v1beta2.NodeLabels `json:"labels,omitempty"`

	// Taints are put on every node.
	// +optional
	Taints v1beta2.Taints `json:"taints,omitempty"`

	// DiskSize is the size of the root volume in GiB. It is deprecated in favour of awsLaunchTemplate.rootVolume. It can't be changed later,
	// or be set together with awsLaunchTemplate.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65536
	DiskSize *int32 `json:"diskSize,omitempty"`

	// InstanceType of the instances, for example m5.large. It is deprecated in favour of awsLaunchTemplate.instanceType. It can't be changed
	// later, or be set together with awsLaunchTemplate.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	InstanceType *string `json:"instanceType,omitempty"`

	// InstanceTypes lists the instance types that EKS may choose from, which is most useful for spot capacity. They can't be changed later.
	// With awsLaunchTemplate they apply if that names no instance type.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.all(t, self.exists_one(u, u == t))",reason=FieldValueInvalid,message="no instance type may be named twice"
	InstanceTypes []string `json:"instanceTypes,omitempty"`

	// Scaling bounds the size of the node group.
	// +optional
	Scaling *v1beta2.ManagedMachinePoolScaling `json:"scaling,omitempty"`

	// RemoteAccess opens the machines to SSH. It can't be changed later, or be set together with awsLaunchTemplate, which
	// names key pair and security groups itself.
	// +optional
	RemoteAccess *v1beta2.ManagedRemoteAccess `json:"remoteAccess,omitempty"`

	// ProviderIDList are the provider IDs of the group's instances, as their Nodes carry them. It is written by the
	// controller.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	ProviderIDList []string `json:"providerIDList,omitempty"`

	// CapacityType is the purchase option of the instances: onDemand, spot or capacityBlock. The latter needs a launch template with a
	// capacity reservation. It can't be changed later.
	// +optional
	// +kubebuilder:default=onDemand
	CapacityType *v1beta2.ManagedMachinePoolCapacityType `json:"capacityType,omitempty"`

	// UpdateConfig limits how EKS replaces machines.
	// +optional
	// +kubebuilder:default={maxUnavailable: 1}
	UpdateConfig *UpdateConfig `json:"updateConfig,omitempty"`

	// AWSLaunchTemplate describes the launch template of the pool's instances. If it is absent, EKS uses a launch template of its own. It
	// can't be added or removed later, because EKS does not support that.
	// +optional
	AWSLaunchTemplate *AWSLaunchTemplate `json:"awsLaunchTemplate,omitempty"`
}

// UpdateConfig limits how EKS replaces the machines of a node group.
// +kubebuilder:validation:XValidation:rule="has(self.maxUnavailable) != has(self.maxUnavailablePrecentage)",reason=FieldValueInvalid,message="exactly one of maxUnavailable and maxUnavailablePrecentage (so spelled in v1beta1) must be set"
type UpdateConfig struct {
	// MaxUnavailable is the number of machines that may be replaced at once.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MaxUnavailable *int `json:"maxUnavailable,omitempty"`

	// MaxUnavailablePercentage is the share of machines that may be replaced at once, in percent. This version has always
	// spelled it so.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MaxUnavailablePercentage *int `json:"maxUnavailablePrecentage,omitempty"`

	v1beta2.UpdateBehaviour `json:",inline"`
}

// AWSManagedMachinePoolStatus defines the observed state of an AWSManagedMachinePool.
type AWSManagedMachinePoolStatus struct {
	common.Status `json:",inline"`

	// LaunchTemplateID is the ID of the pool's launch template; absent where EKS launches from its own.
	// +optional
	LaunchTemplateID *string `json:"launchTemplateID,omitempty"`

	// LaunchTemplateVersion is the version that the node group launches from, or will when it is made.
	// +optional
	LaunchTemplateVersion *string `json:"launchTemplateVersion,omitempty"`

	// FailureReason belongs to the older contract. It is read and never set: nothing here is beyond repair.
	// +optional
	FailureReason *string `json:"failureReason,omitempty"`

	// FailureMessage belongs to the older contract. It is read and never set.
	// +optional
	FailureMessage *string `json:"failureMessage,omitempty"`
}

// AWSManagedMachinePool is a pool of EC2 instances that an EKS node group keeps.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=awsmanagedmachinepools,scope=Namespaced,categories=cluster-api,shortName=awsmmp
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
type AWSManagedMachinePool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec defines the desired state of the pool.
	// +required
	Spec AWSManagedMachinePoolSpec `json:"spec"`

	// Status holds the observed state of the pool.
	// +optional
	Status AWSManagedMachinePoolStatus `json:"status,omitzero"`
}

// AWSManagedMachinePoolList is a list of AWSManagedMachinePool.
// +kubebuilder:object:root=true
type AWSManagedMachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []AWSManagedMachinePool `json:"items"`
}
