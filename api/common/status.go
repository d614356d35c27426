// Package common holds what the objects of every infrastructure kind share, so that one reconciler, one table of
// conditions and one set of columns serve them all.
// +kubebuilder:object:generate=true
package common

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeInfo describes the nodes of a pool.
// +kubebuilder:validation:MinProperties=1
type NodeInfo struct {
	// Architecture is the value of the Node label kubernetes.io/arch.
	// +optional
	// +kubebuilder:validation:Enum=amd64;arm64
	Architecture string `json:"architecture,omitempty"`

	// OperatingSystem is the value of the Node label kubernetes.io/os.
	// +optional
	// +kubebuilder:validation:Enum=linux;windows
	OperatingSystem string `json:"operatingSystem,omitempty"`
}

// Status holds the fields that every infrastructure kind reports about its pool. It is inlined into the kind's own status. Counts are
// observed; an unknown one is absent rather than zero.
type Status struct {
	// Initialization reports the progress of the first provisioning to the core controller.
	// +optional
	Initialization Initialization `json:"initialization,omitzero"`

	// Ready is true if the pool's group exists in the cloud. It is the older contract's word for
	// initialization.provisioned, and both always say the same.
	// +optional
	Ready bool `json:"ready"`

	// ObservedGeneration is the metadata.generation that this status was made from.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Replicas is the number of instances that exist in the cloud and are not on their way out. It is absent before the first read of the
	// cloud.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// DesiredReplicas is the number of instances that the pool converges to. With an external autoscaler it is the requested size of the
	// cloud's group.
	// +optional
	DesiredReplicas *int32 `json:"desiredReplicas,omitempty"`

	// ReadyReplicas is the number of instances whose Node is Ready. It is absent while the workload cluster has not been
	// looked at.
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// UpToDateReplicas is the number of instances that were launched from the template that is wanted now. It is absent
	// while that template is not known.
	// +optional
	UpToDateReplicas *int32 `json:"upToDateReplicas,omitempty"`

	// State summarizes the activity of the pool in one word for users; conditions have the details.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	State string `json:"state,omitempty"`

	// Template is the cloud's name and version of the template that new instances are launched from.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Template string `json:"template,omitempty"`

	// Version is the Kubernetes version that new instances run, with the leading v.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`

	// Capacity holds the resources of each machine of the pool: cpu, memory, pods and accelerators. An autoscaler reads it to scale the pool
	// up from zero.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`

	// NodeInfo describes the nodes of the pool, for an autoscaler that scales it up from zero.
	// +optional
	NodeInfo NodeInfo `json:"nodeInfo,omitzero"`

	// Rollout is the rollout that the pool is in, or the last one that ended.
	// +optional
	Rollout *RolloutStatus `json:"rollout,omitempty"`

	// Revision is the last template whose rollout ended: the one that a failed rollout returns to.
	// +optional
	Revision *RevisionStatus `json:"revision,omitempty"`

	// Rollback is set while machines are launched from a former template, or while a return to it is impossible.
	// +optional
	Rollback *RollbackStatus `json:"rollback,omitempty"`

	// Conditions are the observations on the pool.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Instances are the members of the group, ordered by creation and ID. At most 250 are listed, first those that do not serve.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10000
	Instances []InstanceStatus `json:"instances,omitempty"`
}

// Initialization is the part of the status that the core contract asks for by name.
type Initialization struct {
	// Provisioned becomes true once the group exists in the cloud, and stays true.
	// +optional
	Provisioned *bool `json:"provisioned,omitempty"`
}

// InstanceStatus holds the observed state of one instance of the pool.
type InstanceStatus struct {
	// InstanceID is the cloud's own name of the instance.
	// +optional
	InstanceID string `json:"instanceID,omitempty"`

	// InstanceName is the instance's host name, if the cloud reports it.
	// +optional
	InstanceName string `json:"instanceName,omitempty"`

	// ProviderID is the spec.providerID of the instance's Node.
	// +optional
	ProviderID string `json:"providerID,omitempty"`

	// Addresses are the instance's addresses, if the cloud reports them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Addresses []InstanceAddress `json:"addresses,omitempty"`

	// Zone is the failure domain that the instance is in.
	// +optional
	Zone string `json:"zone,omitempty"`

	// State is the instance's place in its life: Pending, Running, Terminating or Failed.
	// +optional
	State string `json:"state,omitempty"`

	// Node is the name of the instance's Node once it has joined the workload cluster.
	// +optional
	Node string `json:"node,omitempty"`

	// Ready is true if the instance's Node is Ready.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// Version is the kubelet's version as the Node reports it, with the leading v.
	// +optional
	Version *string `json:"version,omitempty"`

	// Template identifies the template from which the instance was launched.
	// +optional
	Template string `json:"template,omitempty"`
}

// InstanceAddress is one address of an instance, shaped like a Machine's.
type InstanceAddress struct {
	// Type of the address: Hostname, ExternalIP, InternalIP, ExternalDNS or InternalDNS.
	// +required
	// +kubebuilder:validation:Enum=Hostname;ExternalIP;InternalIP;ExternalDNS;InternalDNS
	Type string `json:"type"`

	// Address itself.
	// +required
	// +kubebuilder:validation:MaxLength=256
	Address string `json:"address"`
}

// GetConditions gives the conditions to helpers that read them.
func (s *Status) GetConditions() []metav1.Condition { return s.Conditions }

// SetConditions takes the conditions from helpers that write them.
func (s *Status) SetConditions(conditions []metav1.Condition) { s.Conditions = conditions }

// SetProvisioned records that the group exists, in the words of both contracts.
func (s *Status) SetProvisioned() {
	provisioned := true
	s.Initialization.Provisioned = &provisioned
	s.Ready = true
}
