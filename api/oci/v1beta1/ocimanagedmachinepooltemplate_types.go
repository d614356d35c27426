package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// OCIManagedMachinePoolTemplateSpec holds the template from which a ClusterClass creates OCIManagedMachinePools.
type OCIManagedMachinePoolTemplateSpec struct {
	// Template of the pools.
	// +required
	Template OCIManagedMachinePoolTemplateResource `json:"template"`
}

// OCIManagedMachinePoolTemplateResource is an OCIManagedMachinePool without the fields that only an individual object has.
type OCIManagedMachinePoolTemplateResource struct {
	// ObjectMeta holds the labels and annotations of new pools.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Spec defines the desired state of the pools. It is immutable: to change it, create another template and refer to that in the
	// ClusterClass.
	// +required
	// +kubebuilder:validation:XValidation:rule="!has(self.providerID)",fieldPath=".providerID",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	// +kubebuilder:validation:XValidation:rule="!has(self.providerIDList)",fieldPath=".providerIDList",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	// +kubebuilder:validation:XValidation:rule="!has(self.id)",fieldPath=".id",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	Spec OCIManagedMachinePoolSpec `json:"spec"`
}

// OCIManagedMachinePoolTemplate is the template from which a ClusterClass creates OCIManagedMachinePools.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=ocimanagedmachinepooltemplates,scope=Namespaced,categories=cluster-api,shortName=ocimmpt
// +kubebuilder:deprecatedversion
type OCIManagedMachinePoolTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec holds the template of the pools.
	// +required
	Spec OCIManagedMachinePoolTemplateSpec `json:"spec"`
}

// OCIManagedMachinePoolTemplateList is a list of OCIManagedMachinePoolTemplate.
// +kubebuilder:object:root=true
type OCIManagedMachinePoolTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []OCIManagedMachinePoolTemplate `json:"items"`
}
