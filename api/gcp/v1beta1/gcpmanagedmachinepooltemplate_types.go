package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// GCPManagedMachinePoolTemplateKind is the kind's name.
const GCPManagedMachinePoolTemplateKind = "GCPManagedMachinePoolTemplate"

// GCPManagedMachinePoolTemplateSpec holds the template from which a ClusterClass creates GCPManagedMachinePools.
type GCPManagedMachinePoolTemplateSpec struct {
	// Template of the pools.
	// +required
	Template GCPManagedMachinePoolTemplateResource `json:"template"`
}

// GCPManagedMachinePoolTemplateResource is a GCPManagedMachinePool without the fields that only an individual object has.
type GCPManagedMachinePoolTemplateResource struct {
	// ObjectMeta holds the labels and annotations of new pools.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Spec defines the desired state of the pools. It is immutable: to change it, create another template and refer to that in the
	// ClusterClass.
	// +required
	// +kubebuilder:validation:XValidation:rule="!has(self.providerID)",fieldPath=".providerID",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	// +kubebuilder:validation:XValidation:rule="!has(self.providerIDList)",fieldPath=".providerIDList",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	Spec GCPManagedMachinePoolSpec `json:"spec"`
}

// GCPManagedMachinePoolTemplate is the template from which a ClusterClass creates GCPManagedMachinePools.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=gcpmanagedmachinepooltemplates,scope=Namespaced,categories=cluster-api,shortName=gcpmmpt
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta1"
type GCPManagedMachinePoolTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec holds the template of the pools.
	// +required
	Spec GCPManagedMachinePoolTemplateSpec `json:"spec"`
}

// GCPManagedMachinePoolTemplateList is a list of GCPManagedMachinePoolTemplate.
// +kubebuilder:object:root=true
type GCPManagedMachinePoolTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []GCPManagedMachinePoolTemplate `json:"items"`
}
