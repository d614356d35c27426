package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// AzureASOManagedMachinePoolTemplateKind is the kind's name.
const AzureASOManagedMachinePoolTemplateKind = "AzureASOManagedMachinePoolTemplate"

// AzureASOManagedMachinePoolTemplateSpec is what a ClusterClass makes AzureASOManagedMachinePools from.
type AzureASOManagedMachinePoolTemplateSpec struct {
	// Template of the pools.
	// +required
	Template AzureASOManagedMachinePoolTemplateResource `json:"template"`
}

// AzureASOManagedMachinePoolTemplateResource is an AzureASOManagedMachinePool without what only an object of its own has.
type AzureASOManagedMachinePoolTemplateResource struct {
	// ObjectMeta is what the pools' labels and annotations begin with.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Spec is what the pools should be. It can't be changed later: change the ClusterClass to name another template.
	// +required
	// +kubebuilder:validation:XValidation:rule="!has(self.providerID)",fieldPath=".providerID",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	// +kubebuilder:validation:XValidation:rule="!has(self.providerIDList)",fieldPath=".providerIDList",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	Spec AzureASOManagedMachinePoolSpec `json:"spec"`
}

// AzureASOManagedMachinePoolTemplate is what a ClusterClass makes AzureASOManagedMachinePools from.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=azureasomanagedmachinepooltemplates,scope=Namespaced,categories=cluster-api,shortName=asommpt
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1alpha1_v1beta1"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta1"
type AzureASOManagedMachinePoolTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the pools are made from.
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
