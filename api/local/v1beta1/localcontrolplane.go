package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// LocalControlPlaneFinalizer lets the API server be stopped and its data be removed before the object goes.
const LocalControlPlaneFinalizer = "localcontrolplane.controlplane.cluster.x-k8s.io"

// LocalControlPlaneSpec defines the desired state of a LocalControlPlane.
type LocalControlPlaneSpec struct {
	// version is the Kubernetes version that the object asks for, with the leading v. The API server runs the version
	// that is built in and reports that one itself.
	// +required
	// +kubebuilder:validation:Pattern=`^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)([-+].*)?$`
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version"`

	// replicas is the number of API servers: one.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Enum=1
	Replicas *int32 `json:"replicas,omitempty"`

	// controlPlaneEndpoint is where the API server is reached. It is filled in when the server has its port.
	// +optional
	ControlPlaneEndpoint clusterv1.APIEndpoint `json:"controlPlaneEndpoint,omitempty,omitzero"`

	// nodeMonitorGracePeriodSeconds is the time without a heartbeat after which a node becomes Unknown. It is read when the API server starts.
	// +optional
	// +kubebuilder:default=50
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=3600
	NodeMonitorGracePeriodSeconds int32 `json:"nodeMonitorGracePeriodSeconds,omitempty"`
}

// LocalControlPlaneStatus defines the observed state of a LocalControlPlane.
type LocalControlPlaneStatus struct {
	// conditions of the control plane: Available, Paused.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// initialization reports to core that machines may join.
	// +optional
	Initialization LocalControlPlaneInitialization `json:"initialization,omitempty,omitzero"`

	// externalManagedControlPlane is always true: the control plane has no Machine and no Node.
	// +optional
	ExternalManagedControlPlane *bool `json:"externalManagedControlPlane,omitempty"`

	// version is spec.version once the API server runs.
	// +optional
	Version string `json:"version,omitempty"`

	// serverVersion is the version that the API server runs and reports.
	// +optional
	ServerVersion string `json:"serverVersion,omitempty"`

	// replicas, readyReplicas, availableReplicas and upToDateReplicas are 1 while the API server runs, else 0.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`
	// +optional
	AvailableReplicas *int32 `json:"availableReplicas,omitempty"`
	// +optional
	UpToDateReplicas *int32 `json:"upToDateReplicas,omitempty"`

	// observedGeneration is the generation that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// LocalControlPlaneInitialization reports the progress of the first start.
type LocalControlPlaneInitialization struct {
	// controlPlaneInitialized is true from when the API server first served and machines could join; it stays true.
	// +optional
	ControlPlaneInitialized *bool `json:"controlPlaneInitialized,omitempty"`
}

// LocalControlPlane is a control plane whose API server runs on this machine, separate from that of the management cluster. It exists only
// in the local world.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=localcontrolplanes,shortName=lcp,scope=Namespaced,categories=cluster-api
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']"
// +kubebuilder:printcolumn:name="Available",type="string",JSONPath=".status.conditions[?(@.type==\"Available\")].status"
// +kubebuilder:printcolumn:name="Endpoint",type="string",JSONPath=".spec.controlPlaneEndpoint.host"
// +kubebuilder:printcolumn:name="Port",type="integer",JSONPath=".spec.controlPlaneEndpoint.port"
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".status.serverVersion"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type LocalControlPlane struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec defines the desired state of the control plane.
	// +required
	Spec LocalControlPlaneSpec `json:"spec"`
	// status holds the observed state of the control plane.
	// +optional
	Status LocalControlPlaneStatus `json:"status,omitempty"`
}

// LocalControlPlaneList is a list of them.
//
// +kubebuilder:object:root=true
type LocalControlPlaneList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []LocalControlPlane `json:"items"`
}

// GetConditions returns the conditions of the control plane.
func (l *LocalControlPlane) GetConditions() []metav1.Condition { return l.Status.Conditions }

// SetConditions replaces the conditions of the control plane.
func (l *LocalControlPlane) SetConditions(conditions []metav1.Condition) {
	l.Status.Conditions = conditions
}
