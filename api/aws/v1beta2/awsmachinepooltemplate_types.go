package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// AWSMachinePoolTemplateKind is the kind's name.
const AWSMachinePoolTemplateKind = "AWSMachinePoolTemplate"

// AWSMachinePoolTemplateSpec is what a ClusterClass makes AWSMachinePools from.
type AWSMachinePoolTemplateSpec struct {
	// Template of the pools.
	// +required
	Template AWSMachinePoolTemplateResource `json:"template"`
}

// AWSMachinePoolTemplateResource is an AWSMachinePool without what only an object of its own has.
type AWSMachinePoolTemplateResource struct {
	// ObjectMeta is what the pools' labels and annotations begin with.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Spec is what the pools should be. It can't be changed later: a ClusterClass is brought to name another template.
	// +required
	// +kubebuilder:validation:XValidation:rule="!has(self.providerID)",fieldPath=".providerID",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	// +kubebuilder:validation:XValidation:rule="!has(self.providerIDList)",fieldPath=".providerIDList",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	Spec AWSMachinePoolSpec `json:"spec"`
}

// AWSMachinePoolTemplate is what a ClusterClass makes AWSMachinePools from.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=awsmachinepooltemplates,scope=Namespaced,categories=cluster-api,shortName=awsmpt
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"
type AWSMachinePoolTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the pools are made from.
	// +required
	Spec AWSMachinePoolTemplateSpec `json:"spec"`
}

// AWSMachinePoolTemplateList is a list of AWSMachinePoolTemplate.
// +kubebuilder:object:root=true
type AWSMachinePoolTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []AWSMachinePoolTemplate `json:"items"`
}
