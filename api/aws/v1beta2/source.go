package v1beta2

// MachinePoolSource holds the input of the AWS driver: the specification of the pool and the fields of its cluster. It is no API object,
// and is immutable.
type MachinePoolSource struct {
	// Pool is the pool's specification.
	Pool *AWSMachinePoolSpec
	// Cluster holds the fields that are read from the infrastructure cluster.
	Cluster ClusterView
}

// ManagedMachinePoolSource holds the input of the driver of node groups: the specification of the pool and the fields of its cluster. It is
// no API object, and is immutable.
type ManagedMachinePoolSource struct {
	// Pool is the pool's specification.
	Pool *AWSManagedMachinePoolSpec
	// Cluster holds the fields that are read from the control plane.
	Cluster ClusterView
}
