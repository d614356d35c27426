package azure

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/cloud/azure/model"
)

// driftSurge is in the drift of a scale set whose surge has been used up, in part or wholly: it is written down, before somebody makes
// the scale set larger and what was used up seems to be there again.
const driftSurge = "the tag " + model.TagSurge

// surgeNote is what the tag says of a surge: how many machines were added, and how many the scale set was asked for then. Machines
// that go lower the capacity and use the surge up by themselves: whatever happens after a removal, no more is said than was added.
type surgeNote struct{ surge, size int }

func surgeNoteOf(is *armcompute.VirtualMachineScaleSet) surgeNote {
	var note surgeNote
	if _, err := fmt.Sscanf(model.Tag(is.Tags, model.TagSurge), "%d/%d", &note.surge, &note.size); err != nil || note.surge < 0 {
		return surgeNote{}
	}
	return note
}

// left is what is left of the surge at a capacity.
func (n surgeNote) left(capacity int) int { return max(0, n.surge-max(0, n.size-capacity)) }

func (n surgeNote) String() string { return fmt.Sprintf("%d/%d", n.surge, n.size) }

// surgeOf is how much of the scale set's capacity was added for a rollout.
func surgeOf(is *armcompute.VirtualMachineScaleSet) int { return surgeNoteOf(is).left(capacity(is)) }

// surgeUsed says that the note says more than is left of the surge.
func surgeUsed(is *armcompute.VirtualMachineScaleSet) bool {
	return surgeOf(is) < surgeNoteOf(is).surge
}
