package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// LocalControlPlaneTemplateSpec holds the template from which a ClusterClass creates LocalControlPlanes.
type LocalControlPlaneTemplateSpec struct {
	// template of the control planes.
	// +required
	Template LocalControlPlaneTemplateResource `json:"template"`
}

// LocalControlPlaneTemplateResource is a LocalControlPlane without the fields that only an individual object has.
type LocalControlPlaneTemplateResource struct {
	// metadata holds the labels and annotations of new control planes.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec defines the desired state of the control planes.
	// +required
	Spec LocalControlPlaneTemplateResourceSpec `json:"spec"`
}

// LocalControlPlaneTemplateResourceSpec holds the fields that all control planes of a ClusterClass share. The version and the endpoint are
// set for each Cluster.
type LocalControlPlaneTemplateResourceSpec struct {
	// nodeMonitorGracePeriodSeconds is the time without a heartbeat after which a node becomes Unknown.
	// +optional
	// +kubebuilder:default=50
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=3600
	NodeMonitorGracePeriodSeconds int32 `json:"nodeMonitorGracePeriodSeconds,omitempty"`
}

// LocalControlPlaneTemplate is the template from which a ClusterClass creates LocalControlPlanes.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=localcontrolplanetemplates,shortName=lcpt,scope=Namespaced,categories=cluster-api
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
type LocalControlPlaneTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec holds the template of the control planes.
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
