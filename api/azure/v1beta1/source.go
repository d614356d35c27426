package v1beta1

// MachinePoolSource is everything that the Azure driver translates into cloud objects: the pool's own specification and
// what is read of its cluster. It is no API object, and it is never changed once it is made.
type MachinePoolSource struct {
	// Pool is the pool's specification.
	Pool *AzureMachinePoolSpec
	// Cluster is what is read of the infrastructure cluster.
	Cluster ClusterView
	// WindowsServerVersion is the object's word on which Windows the default image is; empty leaves it to the driver.
	WindowsServerVersion string
}
