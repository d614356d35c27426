package v1beta1

import "time"

// MachinePoolSource is everything that the driver of instance groups translates into cloud objects: the pool's own specification and what
// is read of its cluster. It is no API object, and it is never changed once it is made.
// +kubebuilder:object:generate=false
type MachinePoolSource struct {
	// Pool is the pool's specification.
	Pool *GCPMachinePoolSpec
	// Cluster is what is read of the infrastructure cluster.
	Cluster ClusterView
}

// ManagedMachinePoolSource is everything that the driver of node pools translates into requests: the pool's own specification and what is
// read of its cluster. It is no API object, and it is never changed once it is made.
// +kubebuilder:object:generate=false
type ManagedMachinePoolSource struct {
	// Name of the node pool in GKE.
	Name string
	// Created is when the object was created that asks for the node pool.
	Created time.Time
	// Pool is the pool's specification.
	Pool *GCPManagedMachinePoolSpec
	// Cluster is what is read of the managed cluster.
	Cluster ManagedClusterView
}
