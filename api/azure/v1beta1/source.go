package v1beta1

// MachinePoolSource holds the input of the Azure driver: the specification of the pool and the fields of its cluster. It is no API object,
// and is immutable.
type MachinePoolSource struct {
	// Pool is the pool's specification.
	Pool *AzureMachinePoolSpec
	// Cluster holds the fields that are read from the infrastructure cluster.
	Cluster ClusterView
	// WindowsServerVersion is the object's word on which Windows the default image is; empty leaves it to the driver.
	WindowsServerVersion string
}
