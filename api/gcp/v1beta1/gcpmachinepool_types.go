package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

const (
	// GCPMachinePoolKind is the kind's name.
	GCPMachinePoolKind = "GCPMachinePool"

	// MachinePoolFinalizer keeps the object until its group is gone. It is the ecosystem's.
	MachinePoolFinalizer = "gcpmachinepool.infrastructure.cluster.x-k8s.io"
)

// GCPMachinePoolSpec defines the desired state of a GCPMachinePool, a pool of instances in a managed instance group.
// +kubebuilder:validation:XValidation:rule="!has(self.confidentialCompute) || self.confidentialCompute == 'Disabled' || (has(self.onHostMaintenance) && self.onHostMaintenance == 'Terminate')",fieldPath=".onHostMaintenance",reason=FieldValueInvalid,message="must be Terminate when confidentialCompute is on: Compute Engine can't migrate confidential instances"
// +kubebuilder:validation:XValidation:rule="!has(self.guestAccelerators) || size(self.guestAccelerators) == 0 || !has(self.onHostMaintenance) || self.onHostMaintenance == 'Terminate'",fieldPath=".onHostMaintenance",reason=FieldValueInvalid,message="must be Terminate or absent when guestAccelerators are set: Compute Engine can't migrate instances with accelerators"
// +kubebuilder:validation:XValidation:rule="!(has(self.preemptible) && self.preemptible || has(self.provisioningModel) && self.provisioningModel == 'Spot') || !has(self.onHostMaintenance) || self.onHostMaintenance == 'Terminate'",fieldPath=".onHostMaintenance",reason=FieldValueInvalid,message="must be Terminate or absent for preemptible and Spot instances: Compute Engine can't migrate them"
// +kubebuilder:validation:XValidation:rule="!has(self.rootDeviceType) || self.rootDeviceType != 'local-ssd'",fieldPath=".rootDeviceType",reason=FieldValueInvalid,message="must not be local-ssd: instances can't boot from a local SSD"
type GCPMachinePoolSpec struct {
	// ProviderID is the ID of the group. It is written by the controller.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	ProviderID string `json:"providerID,omitempty"`

	// ProviderIDList are the provider IDs of the group's instances, as their Nodes carry them. It is written by the controller.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	ProviderIDList []string `json:"providerIDList,omitempty"`

	// InstanceType is the machine type of instances, for example n2-standard-4.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	InstanceType string `json:"instanceType"`

	// Subnet is the subnet that instances are in, by its name in the cluster's region; absent, it is the first of the cluster's subnets in
	// that region.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Subnet *string `json:"subnet,omitempty"`

	// AliasIPRanges are additional address ranges of each instance.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	AliasIPRanges []AliasIPRange `json:"aliasIPRanges,omitempty"`

	// ImageFamily is the family whose newest image instances boot, for example projects/P/global/images/family/F. Absent, and without image,
	// it is the family that the ecosystem publishes for the Kubernetes version, in the cluster's project.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	ImageFamily *string `json:"imageFamily,omitempty"`

	// Image is the image that instances boot, for example projects/P/global/images/I. It takes precedence over imageFamily.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Image *string `json:"image,omitempty"`

	// AdditionalLabels are labels of instances and their disks, in addition to those of the controller. If the cluster's additionalLabels have
	// the same key, the pool's value is used.
	// +optional
	AdditionalLabels Labels `json:"additionalLabels,omitempty"`

	// AdditionalMetadata are entries of the metadata of instances, in addition to those of the controller.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +kubebuilder:validation:MaxItems=256
	AdditionalMetadata []MetadataItem `json:"additionalMetadata,omitempty"`

	// PublicIP is true if each instance has a public IP address.
	// +optional
	PublicIP *bool `json:"publicIP,omitempty"`

	// AdditionalNetworkTags are network tags of instances, in addition to those of the cluster.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=62
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	AdditionalNetworkTags []string `json:"additionalNetworkTags,omitempty"`

	// ResourceManagerTags are tags of Resource Manager that instances are bound to, in addition to those of the cluster.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	ResourceManagerTags []ResourceManagerTag `json:"resourceManagerTags,omitempty"`

	// RootDeviceSize is the size of the boot disk in gigabytes; absent or 0, it is 30. It must hold the image.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65536
	RootDeviceSize int64 `json:"rootDeviceSize,omitempty"`

	// RootDeviceType is the type of the boot disk: pd-standard, pd-ssd, pd-balanced, hyperdisk-balanced or another that the machine type
	// supports. Absent, it is pd-standard.
	// +optional
	RootDeviceType *DiskType `json:"rootDeviceType,omitempty"`

	// AdditionalDisks are disks of each instance in addition to the boot disk.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=127
	AdditionalDisks []AttachedDisk `json:"additionalDisks,omitempty"`

	// ServiceAccount is the service account that instances act as; absent, it is the default service account of Compute Engine with the scope
	// cloud-platform.
	// +optional
	ServiceAccount *ServiceAccount `json:"serviceAccounts,omitempty"`

	// Preemptible is true if instances run for at most 24 hours, on capacity that Compute Engine may take back.
	// +optional
	Preemptible bool `json:"preemptible,omitempty"`

	// ProvisioningModel is Standard, or Spot for capacity that Compute Engine may take back. Absent, it is Standard. Spot takes precedence
	// over preemptible.
	// +optional
	ProvisioningModel *ProvisioningModel `json:"provisioningModel,omitempty"`

	// IPForwarding is Enabled if instances can send and receive packets of other addresses than their own.
	// +optional
	// +kubebuilder:default=Enabled
	IPForwarding *Switch `json:"ipForwarding,omitempty"`

	// ShieldedInstanceConfig are the features that verify what instances boot.
	// +optional
	ShieldedInstanceConfig *ShieldedInstanceConfig `json:"shieldedInstanceConfig,omitempty"`

	// OnHostMaintenance selects the treatment of instances during maintenance of their host: Migrate or Terminate. By default instances are
	// migrated unless they are preemptible, Spot or have accelerators.
	// +optional
	OnHostMaintenance *HostMaintenancePolicy `json:"onHostMaintenance,omitempty"`

	// ConfidentialCompute is the technology that keeps the memory of instances from their host. Absent, there is none. Any but Disabled needs
	// onHostMaintenance to be Terminate. Enabled is AMDEncryptedVirtualization.
	// +optional
	ConfidentialCompute *ConfidentialComputePolicy `json:"confidentialCompute,omitempty"`

	// RootDiskEncryptionKey is the user's key that the boot disk is encrypted with; absent, Google keeps the key.
	// +optional
	RootDiskEncryptionKey *CustomerEncryptionKey `json:"rootDiskEncryptionKey,omitempty"`

	// GuestAccelerators are accelerator cards of each instance.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	GuestAccelerators []Accelerator `json:"guestAccelerators,omitempty"`

	// Strategy selects how instances with an outdated template are replaced: one by one, each drained first. It is an addition of Muster to
	// the ecosystem's kind, as are the fields below.
	// +optional
	// +kubebuilder:default={type: "RollingUpdate", rollingUpdate: {maxSurge: 1, maxUnavailable: 0, deletePolicy: Oldest}}
	Strategy common.Strategy `json:"strategy,omitempty"`

	// DistributionPolicy is where the group has its instances.
	// +optional
	DistributionPolicy *DistributionPolicy `json:"distributionPolicy,omitempty"`

	// AutoHealing has Compute Engine recreate instances that fail a health check.
	// +optional
	AutoHealing *AutoHealing `json:"autoHealing,omitempty"`

	// InstanceLifecyclePolicy configures how Compute Engine repairs instances.
	// +optional
	InstanceLifecyclePolicy *InstanceLifecyclePolicy `json:"instanceLifecyclePolicy,omitempty"`
}

// GCPMachinePoolStatus defines the observed state of a GCPMachinePool.
type GCPMachinePoolStatus struct {
	common.Status `json:",inline"`

	// InfrastructureMachineKind is the kind of the objects that represent single instances; absent if there are none.
	// +optional
	InfrastructureMachineKind string `json:"infrastructureMachineKind,omitempty"`
}

// GCPMachinePool is a pool of instances that a managed instance group keeps.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=gcpmachinepools,scope=Namespaced,categories=cluster-api,shortName=gcpmp
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1"
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
type GCPMachinePool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec defines the desired state of the pool.
	// +required
	Spec GCPMachinePoolSpec `json:"spec"`

	// Status holds the observed state of the pool.
	// +optional
	Status GCPMachinePoolStatus `json:"status,omitzero"`
}

// GCPMachinePoolList is a list of GCPMachinePool.
// +kubebuilder:object:root=true
type GCPMachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []GCPMachinePool `json:"items"`
}
