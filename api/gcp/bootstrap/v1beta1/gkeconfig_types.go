package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GKEConfigKind is the kind's name.
const GKEConfigKind = "GKEConfig"

// GKEConfigSpec is empty: GKE bootstraps the nodes of its pools itself.
type GKEConfigSpec struct{}

// GKEConfigStatus defines the observed state of a GKEConfig.
type GKEConfigStatus struct {
	// Initialization reports to the core controller that nodes can be bootstrapped.
	// +optional
	Initialization GKEConfigInitialization `json:"initialization,omitzero"`

	// Ready is true if nodes can be bootstrapped. It is the older contract's word for initialization.dataSecretCreated, and both always say
	// the same.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// DataSecretName is the Secret with the bootstrap data. There is none.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	DataSecretName *string `json:"dataSecretName,omitempty"`

	// FailureReason belongs to the older contract. It is read and never set.
	// +optional
	FailureReason string `json:"failureReason,omitempty"`

	// FailureMessage belongs to the older contract. It is read and never set.
	// +optional
	FailureMessage string `json:"failureMessage,omitempty"`

	// ObservedGeneration is the metadata.generation that this status was made from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions are the observations on the configuration.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GKEConfigInitialization is the part of the status that the core contract asks for by name.
type GKEConfigInitialization struct {
	// DataSecretCreated is true if nodes can be bootstrapped.
	// +optional
	DataSecretCreated *bool `json:"dataSecretCreated,omitempty"`
}

// GKEConfig is the bootstrap configuration of a pool whose nodes GKE bootstraps. A MachinePool names it where the core contract wants a
// configuration.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=gkeconfigs,scope=Namespaced,categories=cluster-api,shortName=gkec
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta1"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.ready",description="Whether nodes can be bootstrapped"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the configuration was created"
type GKEConfig struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is empty.
	// +optional
	Spec GKEConfigSpec `json:"spec,omitempty"`

	// Status holds the observed state of the configuration.
	// +optional
	Status GKEConfigStatus `json:"status,omitzero"`
}

// GKEConfigList is a list of GKEConfig.
// +kubebuilder:object:root=true
type GKEConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []GKEConfig `json:"items"`
}
