package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// AzureMachinePoolTemplateKind is the kind's name.
const AzureMachinePoolTemplateKind = "AzureMachinePoolTemplate"

// AzureMachinePoolTemplateSpec holds the template from which a ClusterClass creates AzureMachinePools.
type AzureMachinePoolTemplateSpec struct {
	// Template of the pools.
	// +required
	Template AzureMachinePoolTemplateResource `json:"template"`
}

// AzureMachinePoolTemplateResource is an AzureMachinePool without the fields that only an individual object has.
type AzureMachinePoolTemplateResource struct {
	// ObjectMeta holds the labels and annotations of new pools.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Spec defines the desired state of the pools. It is immutable: to change it, create another template and refer to that in the
	// ClusterClass.
	// +required
	// +kubebuilder:validation:XValidation:rule="!has(self.providerID)",fieldPath=".providerID",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	// +kubebuilder:validation:XValidation:rule="!has(self.providerIDList)",fieldPath=".providerIDList",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	Spec AzureMachinePoolSpec `json:"spec"`
}

// AzureMachinePoolTemplate is the template from which a ClusterClass creates AzureMachinePools.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=azuremachinepooltemplates,scope=Namespaced,categories=cluster-api,shortName=ampt
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta1"
type AzureMachinePoolTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec holds the template of the pools.
	// +required
	Spec AzureMachinePoolTemplateSpec `json:"spec"`
}

// AzureMachinePoolTemplateList is a list of AzureMachinePoolTemplate.
// +kubebuilder:object:root=true
type AzureMachinePoolTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []AzureMachinePoolTemplate `json:"items"`
}
