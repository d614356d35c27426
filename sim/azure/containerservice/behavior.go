package containerservice

import "github.com/muster-project/muster/sim/azure/arm"

// Behavior is how AKS behaves where its documentation and what was recorded of it disagree or say nothing. The zero value is what was
// recorded; every other value is as plausible, so that clients have to be right under each.
type Behavior struct {
	// ETags shows the eTag of managed clusters and agent pools, and holds requests to their conditions. Microsoft documents both since API
	// version 2024-09-01; the answers in versions 2025-08-01 to 2026-05-01 that were recorded up to September 2026 show none.
	ETags bool
	// LowersCount lowers the count of an agent pool at rest with a machine that was deleted behind AKS's back. Otherwise the count stays, and
	// AKS makes up for the machine with the next operation.
	LowersCount bool
	// HidesOwn leaves the label and the taint that AKS gives spot nodes out of what it shows of an agent pool. Otherwise it shows them among
	// those of the user.
	HidesOwn bool
}

// conditions holds the conditions of a request against the current eTag, "" for what does not exist, where AKS has eTags.
func (b Behavior) conditions(x *arm.Call, current string) error {
	if !b.ETags {
		return nil
	}
	return x.Conditions(current)
}
