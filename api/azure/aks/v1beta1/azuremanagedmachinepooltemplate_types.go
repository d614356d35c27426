package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// AzureManagedMachinePoolTemplateKind is the kind's name.
const AzureManagedMachinePoolTemplateKind = "AzureManagedMachinePoolTemplate"

// AzureManagedMachinePoolTemplateSpec holds the template from which a ClusterClass creates AzureManagedMachinePools.
type AzureManagedMachinePoolTemplateSpec struct {
	// Template of the pools.
	// +required
	Template AzureManagedMachinePoolTemplateResource `json:"template"`
}

// AzureManagedMachinePoolTemplateResource is an AzureManagedMachinePool without the fields that only an individual object has.
type AzureManagedMachinePoolTemplateResource struct {
	// ObjectMeta holds the labels and annotations of new pools.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Spec defines the desired state of the pools. It is immutable: to change it, create another template and refer to that in the
	// ClusterClass.
	// +required
	// +kubebuilder:validation:XValidation:rule="!has(self.providerID)",fieldPath=".providerID",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	// +kubebuilder:validation:XValidation:rule="!has(self.providerIDList)",fieldPath=".providerIDList",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	Spec AzureManagedMachinePoolSpec `json:"spec"`
}

// AzureManagedMachinePoolTemplate is the template from which a ClusterClass creates AzureManagedMachinePools.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=azuremanagedmachinepooltemplates,scope=Namespaced,categories=cluster-api,shortName=ammpt
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta1"
type AzureManagedMachinePoolTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec holds the template of the pools.
	// +required
	Spec AzureManagedMachinePoolTemplateSpec `json:"spec"`
}

// AzureManagedMachinePoolTemplateList is a list of AzureManagedMachinePoolTemplate.
// +kubebuilder:object:root=true
type AzureManagedMachinePoolTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []AzureManagedMachinePoolTemplate `json:"items"`
}
