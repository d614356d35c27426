package v1beta2

import "time"

// MachinePoolSource holds the input of the driver of instance pools: the specification of the pool and the fields of its cluster. It is
// no API object, and is immutable.
// +kubebuilder:object:generate=false
type MachinePoolSource struct {
	// Name of the instance pool in OCI.
	Name string
	// Pool is the pool's specification.
	Pool *OCIMachinePoolSpec
	// Cluster holds the fields that are read from the infrastructure cluster.
	Cluster ClusterView
}

// ManagedMachinePoolSource holds the input of the driver of node pools: the specification of the pool and the fields of its cluster. It
// is no API object, and is immutable.
// +kubebuilder:object:generate=false
type ManagedMachinePoolSource struct {
	// Name of the node pool in OKE.
	Name string
	// Created is the creation time of the object of the node pool.
	Created time.Time
	// Pool is the pool's specification.
	Pool *OCIManagedMachinePoolSpec
	// Cluster holds the fields that are read from the managed cluster.
	Cluster ManagedClusterView
}

// VirtualMachinePoolSource holds the input of the driver of virtual node pools: the specification of the pool and the fields of its
// cluster. It is no API object, and is immutable.
// +kubebuilder:object:generate=false
type VirtualMachinePoolSource struct {
	// Name of the virtual node pool in OKE.
	Name string
	// Created is the creation time of the object of the virtual node pool.
	Created time.Time
	// Pool is the pool's specification.
	Pool *OCIVirtualMachinePoolSpec
	// Cluster holds the fields that are read from the managed cluster.
	Cluster ManagedClusterView
}
