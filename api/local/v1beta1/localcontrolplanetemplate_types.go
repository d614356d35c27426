package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// LocalControlPlaneTemplateSpec is what a ClusterClass makes LocalControlPlanes from.
type LocalControlPlaneTemplateSpec struct {
	// template of the control planes.
	// +required
	Template LocalControlPlaneTemplateResource `json:"template"`
}

// LocalControlPlaneTemplateResource is a LocalControlPlane without what only an object of its own has.
type LocalControlPlaneTemplateResource struct {
	// metadata is what the control planes' labels and annotations begin with.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is what the control planes shall be.
	// +required
	Spec LocalControlPlaneTemplateResourceSpec `json:"spec"`
}

// LocalControlPlaneTemplateResourceSpec is what all control planes of a ClusterClass have in common: each Cluster has a
// version and an endpoint of its own.
type LocalControlPlaneTemplateResourceSpec struct {
	// nodeMonitorGracePeriodSeconds is how long a node may be silent before it counts as lost.
	// +optional
	// +kubebuilder:default=50
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=3600
	NodeMonitorGracePeriodSeconds int32 `json:"nodeMonitorGracePeriodSeconds,omitempty"`
}

// LocalControlPlaneTemplate is what a ClusterClass makes LocalControlPlanes from.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=localcontrolplanetemplates,shortName=lcpt,scope=Namespaced,categories=cluster-api
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
type LocalControlPlaneTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the control planes are made from.
	// +required
	Spec LocalControlPlaneTemplateSpec `json:"spec"`
}

// LocalControlPlaneTemplateList is a list of them.
//
// +kubebuilder:object:root=true
type LocalControlPlaneTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []LocalControlPlaneTemplate `json:"items"`
}
