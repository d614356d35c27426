package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// GKEConfigTemplateSpec holds the template from which a ClusterClass creates GKEConfigs.
type GKEConfigTemplateSpec struct {
	// Template of the configurations.
	// +required
	Template GKEConfigTemplateResource `json:"template"`
}

// GKEConfigTemplateResource is a GKEConfig without the fields that only an individual object has.
type GKEConfigTemplateResource struct {
	// ObjectMeta holds the labels and annotations of new configurations.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Spec is empty.
	// +optional
	Spec GKEConfigSpec `json:"spec,omitempty"`
}

// GKEConfigTemplate is the template from which a ClusterClass creates GKEConfigs.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=gkeconfigtemplates,scope=Namespaced,categories=cluster-api,shortName=gkect
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta1"
type GKEConfigTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec holds the template of the configurations.
	// +optional
	Spec GKEConfigTemplateSpec `json:"spec,omitzero"`
}

// GKEConfigTemplateList is a list of GKEConfigTemplate.
// +kubebuilder:object:root=true
type GKEConfigTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []GKEConfigTemplate `json:"items"`
}
