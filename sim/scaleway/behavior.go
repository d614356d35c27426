package scaleway

// Behavior is how the service behaves where neither its specification nor recorded traffic shows it. Clients have to be right under each
// value.
type Behavior struct {
	// ShowsFailedNodes shows machines that could not be created as nodes with the status creation_error. Otherwise the pool has the status
	// warning and the message.
	ShowsFailedNodes bool
	// BusyClusters refuses changes of pools while their cluster is being created or updated. Otherwise they wait for the control plane.
	BusyClusters bool
	// BusyPools refuses to resize a pool that scales. Otherwise the new size takes the place of the old one.
	BusyPools bool
	// IgnoresSize keeps the size of a pool with autoscaling, whatever a request says. Otherwise a size within the bounds is taken.
	IgnoresSize bool
	// WaitsForDrains keeps a node until all its pods are gone. Otherwise it is deleted after some time.
	WaitsForDrains bool
}
