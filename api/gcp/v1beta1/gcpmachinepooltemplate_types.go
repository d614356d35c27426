package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// GCPMachinePoolTemplateKind is the kind's name.
const GCPMachinePoolTemplateKind = "GCPMachinePoolTemplate"

// GCPMachinePoolTemplateSpec holds the template from which a ClusterClass creates GCPMachinePools.
type GCPMachinePoolTemplateSpec struct {
	// Template of the pools.
	// +required
	Template GCPMachinePoolTemplateResource `json:"template"`
}

// GCPMachinePoolTemplateResource is a GCPMachinePool without the fields that only an individual object has.
type GCPMachinePoolTemplateResource struct {
	// ObjectMeta holds the labels and annotations of new pools.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Spec defines the desired state of the pools. It is immutable: to change it, create another template and refer to that in the
	// ClusterClass.
	// +required
	// +kubebuilder:validation:XValidation:rule="!has(self.providerID)",fieldPath=".providerID",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	// +kubebuilder:validation:XValidation:rule="!has(self.providerIDList)",fieldPath=".providerIDList",reason=FieldValueForbidden,message="can't be set in a template: it belongs to one pool, whose controller writes it"
	Spec GCPMachinePoolSpec `json:"spec"`
}

// GCPMachinePoolTemplate is the template from which a ClusterClass creates GCPMachinePools.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=gcpmachinepooltemplates,scope=Namespaced,categories=cluster-api,shortName=gcpmpt
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta1"
type GCPMachinePoolTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec holds the template of the pools.
	// +required
	Spec GCPMachinePoolTemplateSpec `json:"spec"`
}

// GCPMachinePoolTemplateList is a list of GCPMachinePoolTemplate.
// +kubebuilder:object:root=true
type GCPMachinePoolTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []GCPMachinePoolTemplate `json:"items"`
}
