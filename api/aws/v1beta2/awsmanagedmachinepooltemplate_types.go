package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// AWSManagedMachinePoolTemplateKind is the kind's name.
const AWSManagedMachinePoolTemplateKind = "AWSManagedMachinePoolTemplate"

// AWSManagedMachinePoolTemplateSpec holds the template from which a ClusterClass creates AWSManagedMachinePools.
type AWSManagedMachinePoolTemplateSpec struct {
	// Template of the pools.
	// +required
	Template AWSManagedMachinePoolTemplateResource `json:"template"`
}

// AWSManagedMachinePoolTemplateResource is an AWSManagedMachinePool without the fields that only an individual object has.
type AWSManagedMachinePoolTemplateResource struct {
	// ObjectMeta holds the labels and annotations of new pools.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Spec defines the desired state of the pools. It is immutable: to change it, create another template and refer to that in the
	// ClusterClass.
	// +required
	// +kubebuilder:validation:XValidation:rule="!has(self.providerID)",fieldPath=".providerID",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	// +kubebuilder:validation:XValidation:rule="!has(self.providerIDList)",fieldPath=".providerIDList",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	Spec AWSManagedMachinePoolSpec `json:"spec"`
}

// AWSManagedMachinePoolTemplate is the template from which a ClusterClass creates AWSManagedMachinePools.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=awsmanagedmachinepooltemplates,scope=Namespaced,categories=cluster-api,shortName=awsmmpt
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"
type AWSManagedMachinePoolTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec holds the template of the pools.
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
