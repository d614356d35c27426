package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// AzureASOManagedMachinePoolTemplateKind is the kind's name.
const AzureASOManagedMachinePoolTemplateKind = "AzureASOManagedMachinePoolTemplate"

// AzureASOManagedMachinePoolTemplateSpec holds the template from which a ClusterClass creates AzureASOManagedMachinePools.
type AzureASOManagedMachinePoolTemplateSpec struct {
	// Template of the pools.
	// +required
	Template AzureASOManagedMachinePoolTemplateResource `json:"template"`
}

// AzureASOManagedMachinePoolTemplateResource is an AzureASOManagedMachinePool without the fields that only an individual object has.
type AzureASOManagedMachinePoolTemplateResource struct {
	// ObjectMeta holds the labels and annotations of new pools.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Spec defines the desired state of the pools. It is immutable: to change it, create another template and refer to that in the
	// ClusterClass.
	// +required
	// +kubebuilder:validation:XValidation:rule="!has(self.providerID)",fieldPath=".providerID",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	// +kubebuilder:validation:XValidation:rule="!has(self.providerIDList)",fieldPath=".providerIDList",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	Spec AzureASOManagedMachinePoolSpec `json:"spec"`
}

// AzureASOManagedMachinePoolTemplate is the template from which a ClusterClass creates AzureASOManagedMachinePools.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=azureasomanagedmachinepooltemplates,scope=Namespaced,categories=cluster-api,shortName=asommpt
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1alpha1_v1beta1"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta1"
type AzureASOManagedMachinePoolTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec holds the template of the pools.
	// +required
	Spec AzureASOManagedMachinePoolTemplateSpec `json:"spec"`
}

// AzureASOManagedMachinePoolTemplateList is a list of AzureASOManagedMachinePoolTemplate.
// +kubebuilder:object:root=true
type AzureASOManagedMachinePoolTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []AzureASOManagedMachinePoolTemplate `json:"items"`
}
