package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/aws/v1beta2"
)

// AWSMachine represents one EC2 instance of an AWSMachinePool. The pool's controller creates and deletes it while the pool has
// infrastructure machines.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=awsmachines,scope=Namespaced,categories=cluster-api,shortName=awsm
// +kubebuilder:subresource:status
// +kubebuilder:pruning:PreserveUnknownFields
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1_v1beta2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta2"
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",description="Cluster that the machine belongs to"
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.instanceState",description="State of the instance"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.ready",description="Whether the instance was seen running"
// +kubebuilder:printcolumn:name="InstanceID",type="string",JSONPath=".spec.providerID",description="Provider ID of the instance"
// +kubebuilder:printcolumn:name="Machine",type="string",JSONPath=".metadata.ownerReferences[?(@.kind==\"Machine\")].name",description="Machine that the instance is"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the object was created"
// +kubebuilder:printcolumn:name="Zone",type="string",priority=1,JSONPath=".status.failureDomain",description="Availability zone of the instance"
type AWSMachine struct { // its fields are the same in all versions, so that they need no conversion
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec identifies the instance.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Spec v1beta2.AWSMachineSpec `json:"spec,omitzero"`

	// Status holds the observed state of the instance.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Status v1beta2.AWSMachineStatus `json:"status,omitzero"`
}

// AWSMachineList is a list of AWSMachine.
// +kubebuilder:object:root=true
type AWSMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []AWSMachine `json:"items"`
}
