package container

import "github.com/muster-project/muster/sim"

// The switches of GKE.
const (
	// GlobalTemplates makes the instance templates of node pools global, as those of clusters before 1.29.8 are.
	GlobalTemplates sim.Switch = "gke.GlobalTemplates"
	// HidesUpgrades leaves upgrades of nodes out of what a node pool shows of its upgrades.
	HidesUpgrades sim.Switch = "gke.HidesUpgrades"
	// BusyAborted refuses a second operation on a cluster with 409 ABORTED.
	BusyAborted sim.Switch = "gke.BusyAborted"
	// KeepsInitialSize leaves initialNodeCount of a node pool as it was created when the node pool is resized.
	KeepsInitialSize sim.Switch = "gke.KeepsInitialSize"
	// ForgetsOperations forgets an operation a minute after its end.
	ForgetsOperations sim.Switch = "gke.ForgetsOperations"
	// KeepsSurge leaves the surge nodes of an upgrade that was cancelled.
	KeepsSurge sim.Switch = "gke.KeepsSurge"
	// OmitsDeprecated leaves deprecated members out: statusMessage, nodepoolConditions of operations, and code of conditions.
	OmitsDeprecated sim.Switch = "gke.OmitsDeprecated"
)
