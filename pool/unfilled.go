package pool

import (
	"fmt"
	"time"

	"github.com/muster-project/muster/pool/words"
)

const (
	// refillAfter is the time for which a group rests with fewer instances than its size before the size is requested again. A list of
	// instances may be newer than the size, and lack an instance that another client has just removed.
	refillAfter = time.Minute
	// launchDeadline is the time after which a missing instance is reported as overdue. Clouds launch within minutes, or report why they do
	// not.
	launchDeadline = 10 * time.Minute
)

// Unfilled is the reason of a step that requests the size that a group has already.
const Unfilled = "Unfilled"

// unfilledFor reports whether the group has rested with fewer instances than its size for so long.
func (v *inputs) unfilledFor(long time.Duration) bool {
	return !v.o.UnfilledSince.IsZero() && v.o.Unfilled() > 0 && v.clock.Reached(v.o.UnfilledSince.Add(long))
}

// refillStep requests the size of a group once more that rests with fewer instances, where the cloud launches them with a write only.
func (v *budget) refillStep() *Step {
	size := v.in.o.Group.Size
	if !v.in.t.LaunchesOnWrite || v.in.d.ReplicasManagedExternally || v.in.outOfBounds() != nil ||
		max(v.maxSize, v.fleet.counted) < size || !v.in.unfilledFor(refillAfter) {
		return nil
	}
	return &Step{Kind: Resize, Size: size, Cause: Cause{Unfilled, fmt.Sprintf(
		"the %s rests with %s and a size of %d: requesting the size again", v.in.t.Group, words.Machines(size-v.in.o.Unfilled()), size)}}
}

// launchOverdue returns that instances which the group lacks have not been launched in time, or nil.
func (v *status) launchOverdue() *Cause {
	if !v.in.unfilledFor(launchDeadline) {
		return nil
	}
	group := v.in.t.Group
	return &Cause{"LaunchOverdue", fmt.Sprintf(
		"the cloud has not launched %s that the %s lacks, and does not report why: look at the %s in the cloud",
		words.Machines(v.in.o.Unfilled()), group, group)}
}
