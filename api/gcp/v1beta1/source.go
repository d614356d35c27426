package v1beta1

import "time"

// MachinePoolSource holds the input of the driver of instance groups: the specification of the pool and the fields of its cluster. It is no
// API object, and is immutable.
// +kubebuilder:object:generate=false
type MachinePoolSource struct {
	// Pool is the pool's specification.
	Pool *GCPMachinePoolSpec
	// Cluster holds the fields that are read from the infrastructure cluster.
	Cluster ClusterView
}

// ManagedMachinePoolSource holds the input of the driver of node pools: the specification of the pool and the fields of its cluster. It is
// no API object, and is immutable.
// +kubebuilder:object:generate=false
type ManagedMachinePoolSource struct {
	// Name of the node pool in GKE.
	Name string
	// Created is when the object was created that asks for the node pool.
	Created time.Time
	// Pool is the pool's specification.
	Pool *GCPManagedMachinePoolSpec
	// Cluster holds the fields that are read from the managed cluster.
	Cluster ManagedClusterView
}
