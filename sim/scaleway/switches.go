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
	// RefusesOtherwise refuses to resize a pool that is being upgraded with precondition_failed. Otherwise the type is transient_state.
	RefusesOtherwise sim.Switch = "scaleway.RefusesOtherwise"
	// UpgradesScaling upgrades a pool also while it scales. Otherwise the upgrade is refused.
	UpgradesScaling sim.Switch = "scaleway.UpgradesScaling"
	// ScalesOn shows a pool whose nodes do not become Ready as scaling. Otherwise it is in warning after some time.
	ScalesOn sim.Switch = "scaleway.ScalesOn"
	// InvalidSize refuses a size beyond that of the cluster type as an invalid argument. Otherwise a quota is exceeded.
	InvalidSize sim.Switch = "scaleway.InvalidSize"
	// TakesZeroPolicy accepts an upgrade policy of two zeros, which adds one node at a time. Otherwise it is refused.
	TakesZeroPolicy sim.Switch = "scaleway.TakesZeroPolicy"
	// SmallPages has 20 items in a page at most. Otherwise there are 50 by default and 100 at most.
	SmallPages sim.Switch = "scaleway.SmallPages"
	// RefusesUnknown refuses a request about a pool with a member that the service does not know. Otherwise the member is ignored.
	RefusesUnknown sim.Switch = "scaleway.RefusesUnknown"
	// PlainStatuses gives refusals the status 400, except for what does not exist. Otherwise each type has its own status.
	PlainStatuses sim.Switch = "scaleway.PlainStatuses"
	// ExternalSizeStays shows the size 0 for a pool of external nodes. Otherwise it is the number of those that have registered.
	ExternalSizeStays sim.Switch = "scaleway.ExternalSizeStays"
)
