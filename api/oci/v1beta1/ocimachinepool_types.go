package v1beta1

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/api/oci/v1beta2"
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
	PlacementDetails []v1beta2.PlacementDetails `json:"placementDetails,omitempty"`

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

// InstanceConfiguration defines the instances of a pool. The controller creates an instance configuration of OCI from it. Because that is
// immutable, each change creates another one.
// +kubebuilder:validation:XValidation:rule="!has(self.instanceSourceViaBootVolumeConfig) || !has(self.instanceSourceViaImageConfig)",fieldPath=".instanceSourceViaBootVolumeConfig",reason=FieldValueForbidden,message="can't be set together with instanceSourceViaImageConfig: instances boot from one of the two"
// +kubebuilder:validation:XValidation:rule="has(self.instanceSourceViaBootVolumeConfig) || (has(self.instanceSourceViaImageConfig) && has(self.instanceSourceViaImageConfig.imageId) && size(self.instanceSourceViaImageConfig.imageId) > 0)",fieldPath=".instanceSourceViaImageConfig",reason=FieldValueInvalid,message="imageId must name the image that instances boot from, or instanceSourceViaBootVolumeConfig a boot volume: OCI launches nothing without one"
type InstanceConfiguration struct {
	// InstanceConfigurationID is the OCID of the instance configuration in OCI. It is written by the controller.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	InstanceConfigurationID *string `json:"instanceConfigurationId,omitempty"`

	// Shape of instances, for example VM.Standard.E4.Flex.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Shape string `json:"shape,omitempty"`

	// ShapeConfig is the size of instances of a flexible shape.
	// +optional
	ShapeConfig *v1beta2.ShapeConfig `json:"shapeConfig,omitempty"`

	// InstanceVnicConfiguration is the network interface of instances.
	// +optional
	InstanceVnicConfiguration *v1beta2.NetworkDetails `json:"instanceVnicConfiguration,omitempty"`

	// PlatformConfig are settings of the processor's platform.
	// +optional
	PlatformConfig *v1beta2.PlatformConfig `json:"platformConfig,omitempty"`

	// AgentConfig are settings of the Oracle Cloud Agent on instances.
	// +optional
	AgentConfig *v1beta2.LaunchInstanceAgentConfig `json:"agentConfig,omitempty"`

	// PreemptibleInstanceConfig makes instances preemptible: OCI terminates them when it needs their capacity.
	// +optional
	PreemptibleInstanceConfig *v1beta2.PreemptibleInstanceConfig `json:"preemptibleInstanceConfig,omitempty"`

	// AvailabilityConfig configures instances during and after maintenance of their hosts.
	// +optional
	AvailabilityConfig *v1beta2.LaunchInstanceAvailabilityConfig `json:"availabilityConfig,omitempty"`

	// DedicatedVMHostID is the OCID of a dedicated host. OCI launches no instance pool on one.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	DedicatedVMHostID *string `json:"dedicatedVmHostId,omitempty"`

	// LaunchOptions select the emulation of devices and the firmware.
	// +optional
	LaunchOptions *v1beta2.LaunchOptions `json:"launchOptions,omitempty"`

	// InstanceOptions are settings of the metadata service.
	// +optional
	InstanceOptions *v1beta2.InstanceOptions `json:"instanceOptions,omitempty"`

	// IsPvEncryptionInTransitEnabled is true if the paravirtualized attachments of volumes are encrypted in transit. The default is true in
	// this version, and false in v1beta2.
	// +optional
	// +kubebuilder:default=true
	IsPvEncryptionInTransitEnabled *bool `json:"isPvEncryptionInTransitEnabled,omitempty"`

	// InstanceSourceViaImageConfig is the image and the boot volume of instances.
	// +optional
	InstanceSourceViaImageConfig *v1beta2.InstanceSourceViaImageConfig `json:"instanceSourceViaImageConfig,omitempty"`

	// InstanceSourceViaBootVolumeConfig is the boot volume that instances boot from, instead of an image. It is an addition of Muster to the
	// ecosystem's kind.
	// +optional
	InstanceSourceViaBootVolumeConfig *v1beta2.InstanceSourceViaBootVolumeConfig `json:"instanceSourceViaBootVolumeConfig,omitempty"`

	// CapacityReservationID is the OCID of the capacity reservation of instances. The default is the default reservation of the tenancy. An
	// empty value selects no reservation.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	CapacityReservationID *string `json:"capacityReservationId,omitempty"`

	// Metadata of instances, for example ssh_authorized_keys. The controller sets user_data to the bootstrap data.
	// +optional
	Metadata map[string]string `json:"metadata,omitempty"`

	// ExtendedMetadata are metadata of instances with values in JSON of any form. Together with metadata they have at most 32,000 bytes.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ExtendedMetadata map[string]json.RawMessage `json:"extendedMetadata,omitempty"`
}

// OCIMachinePool is a pool of compute instances that an instance pool of OCI keeps.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=ocimachinepools,scope=Namespaced,categories=cluster-api,shortName=ocimp
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
type OCIMachinePool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec defines the desired state of the pool.
	// +required
	Spec OCIMachinePoolSpec `json:"spec"`

	// Status holds the observed state of the pool.
	// +optional
	Status v1beta2.OCIMachinePoolStatus `json:"status,omitzero"`
}

// OCIMachinePoolList is a list of OCIMachinePool.
// +kubebuilder:object:root=true
type OCIMachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []OCIMachinePool `json:"items"`
}
