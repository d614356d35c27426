package containerengine

import "github.com/muster-project/muster/sim"

// The switches of OKE.
const (
	// BusyPools refuses changes of a node pool while any work request on it runs. Otherwise only while it is created, cycled or deleted.
	BusyPools sim.Switch = "oci.BusyPools"
	// ActiveEarly shows a new node pool as ACTIVE while its nodes are created. Otherwise it is CREATING until they are ACTIVE.
	ActiveEarly sim.Switch = "oci.ActiveEarly"
	// FailsPools shows a node pool whose creation failed as FAILED. Otherwise it is NEEDS_ATTENTION.
	FailsPools sim.Switch = "oci.FailsPools"
	// ShowsDeleted shows a node pool for a day after its deletion, as DELETED. Otherwise it does not exist any more.
	ShowsDeleted sim.Switch = "oci.ShowsDeleted"
	// CyclesAll replaces all nodes where an update asks for cycling. Otherwise those that are out of date.
	CyclesAll sim.Switch = "oci.CyclesAll"
	// CyclesOnRequest cycles only where the update itself enables cycling. Otherwise the setting of the node pool counts.
	CyclesOnRequest sim.Switch = "oci.CyclesOnRequest"
	// CyclesInUpdates gives cycling the operation type NODEPOOL_UPDATE. Otherwise it is NODEPOOL_CYCLING.
	CyclesInUpdates sim.Switch = "oci.CyclesInUpdates"
	// SupersededSucceed shows a work request that a later one took over as SUCCEEDED. Otherwise it is CANCELED.
	SupersededSucceed sim.Switch = "oci.SupersededSucceed"
	// HidesNodeErrors shows nodes that do not come as CREATING, without an error. Otherwise they are FAILING, with one.
	HidesNodeErrors sim.Switch = "oci.HidesNodeErrors"
	// ChoosesImage creates a node pool without nodeSourceDetails from the newest image for its version and shape. Otherwise it is refused.
	ChoosesImage sim.Switch = "oci.ChoosesImage"
	// UniqueNames refuses a second node pool of a name in a cluster. Otherwise names need not be unique.
	UniqueNames sim.Switch = "oci.UniqueNames"
	// OmitsDefaults leaves out what a request did not say. Otherwise the documented defaults are shown.
	OmitsDefaults sim.Switch = "oci.OmitsDefaults"
	// RetagsNodes gives a node whose boot volume is replaced the tags that its node pool has for new nodes. Otherwise it keeps its own.
	RetagsNodes sim.Switch = "oci.RetagsNodes"
	// TakesOldest takes the oldest nodes for a smaller size. Otherwise it takes the newest.
	TakesOldest sim.Switch = "oci.TakesOldest"
)
