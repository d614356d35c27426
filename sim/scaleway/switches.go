package scaleway

import "github.com/muster-project/muster/sim"

// The switches of Scaleway's Kubernetes API.
const (
	// ShowsFailedNodes shows machines that could not be created as nodes with the status creation_error. Otherwise the pool has the status
	// warning and the message.
	ShowsFailedNodes sim.Switch = "scaleway.ShowsFailedNodes"
	// BusyClusters refuses changes of pools while their cluster is being created or updated. Otherwise they wait for the control plane.
	BusyClusters sim.Switch = "scaleway.BusyClusters"
	// BusyPools refuses to resize a pool that scales. Otherwise the new size takes the place of the old one.
	BusyPools sim.Switch = "scaleway.BusyPools"
	// IgnoresSize keeps the size of a pool with autoscaling, whatever a request says. Otherwise a size within the bounds is taken.
	IgnoresSize sim.Switch = "scaleway.IgnoresSize"
	// LeavesSize leaves a size outside of the bounds of the autoscaler as it is. Otherwise it is moved into them.
	LeavesSize sim.Switch = "scaleway.LeavesSize"
	// WaitsForDrains keeps a node until all its pods are gone. Otherwise it is deleted after some time.
	WaitsForDrains sim.Switch = "scaleway.WaitsForDrains"
)
