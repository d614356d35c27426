package compute

import "github.com/muster-project/muster/sim/evidence"

// Beliefs returns the behaviour of scale sets that drivers rely on.
func Beliefs() []evidence.Row {
	return evidence.Of("Scale sets",
		evidence.Assumed("Machines of a uniform scale set show the tags that they were created with").
			Switch("azure.Options.LiveTags", "the current tags of the scale set"),
		evidence.Documented("latestModelApplied shows whether a machine has the current model",
			"VirtualMachineScaleSetVMProperties.LatestModelApplied", "armcompute v8.3.0"),
	)
}
