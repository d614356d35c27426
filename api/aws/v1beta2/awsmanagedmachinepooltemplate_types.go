package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// AWSManagedMachinePoolTemplateKind is the kind's name.
const AWSManagedMachinePoolTemplateKind = "AWSManagedMachinePoolTemplate"

// AWSManagedMachinePoolTemplateSpec is what a ClusterClass makes AWSManagedMachinePools from.
type AWSManagedMachinePoolTemplateSpec struct {
	// Template of the pools.
	// +required
	Template AWSManagedMachinePoolTemplateResource `json:"template"`
}

// AWSManagedMachinePoolTemplateResource is an AWSManagedMachinePool without what only an object of its own has.
type AWSManagedMachinePoolTemplateResource struct {
	// ObjectMeta is what the pools' labels and annotations begin with.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Spec is what the pools should be. It can't be changed later: a ClusterClass is brought to name another template.
	// +required
	// +kubebuilder:validation:XValidation:rule="!has(self.providerID)",fieldPath=".providerID",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	// +kubebuilder:validation:XValidation:rule="!has(self.providerIDList)",fieldPath=".providerIDList",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	Spec AWSManagedMachinePoolSpec `json:"spec"`
}

// AWSManagedMachinePoolTemplate is what a ClusterClass makes AWSManagedMachinePools from.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=awsmanagedmachinepooltemplates,scope=Namespaced,categories=cluster-api,shortName=awsmmpt
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"
type AWSManagedMachinePoolTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the pools are made from.
	// +required
	Spec AWSManagedMachinePoolTemplateSpec `json:"spec"`
}

// AWSManagedMachinePoolTemplateList is a list of AWSManagedMachinePoolTemplate.
// +kubebuilder:object:root=true
type AWSManagedMachinePoolTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []AWSManagedMachinePoolTemplate `json:"items"`
}
