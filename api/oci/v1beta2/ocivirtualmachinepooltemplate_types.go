package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// OCIVirtualMachinePoolTemplateKind is the kind's name.
const OCIVirtualMachinePoolTemplateKind = "OCIVirtualMachinePoolTemplate"

// OCIVirtualMachinePoolTemplateSpec holds the template from which a ClusterClass creates OCIVirtualMachinePools.
type OCIVirtualMachinePoolTemplateSpec struct {
	// Template of the pools.
	// +required
	Template OCIVirtualMachinePoolTemplateResource `json:"template"`
}

// OCIVirtualMachinePoolTemplateResource is an OCIVirtualMachinePool without the fields that only an individual object has.
type OCIVirtualMachinePoolTemplateResource struct {
	// ObjectMeta holds the labels and annotations of new pools.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Spec defines the desired state of the pools. It is immutable: to change it, create another template and refer to that in the
	// ClusterClass.
	// +required
	// +kubebuilder:validation:XValidation:rule="!has(self.providerID)",fieldPath=".providerID",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	// +kubebuilder:validation:XValidation:rule="!has(self.providerIDList)",fieldPath=".providerIDList",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	// +kubebuilder:validation:XValidation:rule="!has(self.id)",fieldPath=".id",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	Spec OCIVirtualMachinePoolSpec `json:"spec"`
}

// OCIVirtualMachinePoolTemplate is the template from which a ClusterClass creates OCIVirtualMachinePools.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=ocivirtualmachinepooltemplates,scope=Namespaced,categories=cluster-api,shortName=ocivmpt
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"
type OCIVirtualMachinePoolTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec holds the template of the pools.
	// +required
	Spec OCIVirtualMachinePoolTemplateSpec `json:"spec"`
}

// OCIVirtualMachinePoolTemplateList is a list of OCIVirtualMachinePoolTemplate.
// +kubebuilder:object:root=true
type OCIVirtualMachinePoolTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []OCIVirtualMachinePoolTemplate `json:"items"`
}
