package v1beta2

// MachinePoolSource is everything that the AWS driver translates into cloud objects: the pool's own specification and
// what is read of its cluster. It is no API object, and it is never changed once it is made.
type MachinePoolSource struct {
	// Pool is the pool's specification.
	Pool *AWSMachinePoolSpec
	// Cluster is what is read of the infrastructure cluster.
	Cluster ClusterView
}

// ManagedMachinePoolSource is everything that the driver of node groups translates into cloud objects: the pool's own
// specification and what is read of its cluster. It is no API object, and it is never changed once it is made.
type ManagedMachinePoolSource struct {
	// Pool is the pool's specification.
	Pool *AWSManagedMachinePoolSpec
	// Cluster is what is read of the control plane.
	Cluster ClusterView
}
