package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// OCIMachinePoolTemplateKind is the kind's name.
const OCIMachinePoolTemplateKind = "OCIMachinePoolTemplate"

// OCIMachinePoolTemplateSpec holds the template from which a ClusterClass creates OCIMachinePools.
type OCIMachinePoolTemplateSpec struct {
	// Template of the pools.
	// +required
	Template OCIMachinePoolTemplateResource `json:"template"`
}

// OCIMachinePoolTemplateResource is an OCIMachinePool without the fields that only an individual object has.
type OCIMachinePoolTemplateResource struct {
	// ObjectMeta holds the labels and annotations of new pools.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Spec defines the desired state of the pools. It is immutable: to change it, create another template and refer to that in the
	// ClusterClass.
	// +required
	// +kubebuilder:validation:XValidation:rule="!has(self.providerID)",fieldPath=".providerID",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	// +kubebuilder:validation:XValidation:rule="!has(self.providerIDList)",fieldPath=".providerIDList",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	// +kubebuilder:validation:XValidation:rule="!has(self.ocid)",fieldPath=".ocid",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	// +kubebuilder:validation:XValidation:rule="!has(self.instanceConfiguration.instanceConfigurationId)",fieldPath=".instanceConfiguration.instanceConfigurationId",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	Spec OCIMachinePoolSpec `json:"spec"`
}

// OCIMachinePoolTemplate is the template from which a ClusterClass creates OCIMachinePools.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=ocimachinepooltemplates,scope=Namespaced,categories=cluster-api,shortName=ocimpt
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"
type OCIMachinePoolTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec holds the template of the pools.
	// +required
	Spec OCIMachinePoolTemplateSpec `json:"spec"`
}

// OCIMachinePoolTemplateList is a list of OCIMachinePoolTemplate.
// +kubebuilder:object:root=true
type OCIMachinePoolTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []OCIMachinePoolTemplate `json:"items"`
}
