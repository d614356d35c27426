package oracle

import (
	"fmt"
	"slices"
)

// Removal finds writes by Muster that took away what the object still wanted: more than its replicas allow, or anything at
// all where an autoscaler owns the group's size.
func Removal(w Write) []string {
	before, existed := ours(w.Before, w.Desired.Owner)
	if w.Desired.Deleting || !existed || before.Failed {
		return nil
	}
	after, exists := ours(w.After, w.Desired.Owner)
	if !exists {
		return []string{w.Call + " deleted the group of an object that is not being deleted"}
	}
	if w.Shrinks {
		return shrunk(w, before, after)
	}
	if w.Desired.External {
		return meddled(w, before, after)
	}
	lost := len(gone(w))
	switch {
	case after.Size >= w.Desired.Replicas || after.Size >= before.Size:
		return nil // what goes and leaves the size as it is, is replaced: Unfounded judges that
	case lost > 0:
		return []string{fmt.Sprintf("%s removed %d instances and left a size of %d, the object wants %d", w.Call, lost, after.Size,
			w.Desired.Replicas)}
	default:
		return []string{fmt.Sprintf("%s lowered the size from %d to %d, the object wants %d", w.Call, before.Size, after.Size,
			w.Desired.Replicas)}
	}
}

// meddled finds what only the autoscaler may do. Bounds that the user changed move the size between them.
func meddled(w Write, before, after Group) []string {
	if after.Size != before.Size && before.Size >= after.Min && before.Size <= after.Max {
		return []string{fmt.Sprintf("%s changed the size from %d to %d although an autoscaler owns the size", w.Call, before.Size, after.Size)}
	}
	return nil
}

// shrunk finds removals without a cause where every removal lowers the size: more than the excess. If an autoscaler owns the size,
// everything except Muster's surge must stay as the autoscaler has set it.
func shrunk(w Write, before, after Group) []string {
	if resized(w, before, after) {
		return []string{fmt.Sprintf("%s changed the size from %d to %d (%d and %d of them a surge) although an autoscaler owns the size",
			w.Call, before.Size, after.Size, before.Surge, after.Surge)}
	}
	spare, unfounded := max(0, len(before.Counted())-w.desiredSize(before)), 0
	why := ""
	for _, m := range gone(w) {
		if text := w.unfounded(m, before); text != "" && !m.Failed {
			unfounded, why = unfounded+1, fmt.Sprintf("%s, and %s", m.ID, text)
		}
	}
	if unfounded > spare {
		return []string{fmt.Sprintf("%s removed %d instances without a cause, %d are too many: %s", w.Call, unfounded, spare, why)}
	}
	return nil
}

// resized reports whether a write changes the size that an autoscaler has set, by more than the surge and the requested removals.
func resized(w Write, before, after Group) bool {
	if !w.Desired.External || after.Size == before.Size || raised(w, before, after) || retried(w, before, after) ||
		surgeStays(w, before, after) {
		return false
	}
	requested := 0
	for _, m := range gone(w) {
		if w.Desired.DeletionRequested[m.ID] {
			requested++
		}
	}
	had, has := before.Size-before.Surge, after.Size-after.Surge
	return has > had || has < had-requested
}

// raised reports whether bounds that the user changed have moved the size between them, also where the cloud ignores the bounds themselves.
func raised(w Write, before, after Group) bool {
	least := max(after.Min, w.Desired.Min)
	return before.Size < least && after.Size == least
}

// retried reports whether a write that keeps the requested size, and removes nothing, makes the cloud launch what it had given up on.
func retried(w Write, before, after Group) bool {
	return after.Requested == before.Requested && after.Size > before.Size && after.Size <= before.Requested && len(gone(w)) == 0
}

// surgeStays reports whether a write that removes nothing, such as the cancellation of a rollout, leaves the group no more machines above
// its size than it already had: the cloud may keep the surge of an incomplete rollout.
func surgeStays(w Write, before, after Group) bool {
	had := 0
	for _, m := range after.Counted() {
		if slices.ContainsFunc(before.Members, func(was Member) bool { return was.ID == m.ID }) {
			had++
		}
	}
	return after.Size > before.Size && after.Size <= had && len(gone(w)) == 0
}
