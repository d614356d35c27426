package oracle

import "fmt"

// Removal finds writes of ours that took away what the object still wanted: more than its replicas allow, or anything at
// all where somebody else sizes the group.
func Removal(w Write) []string {
	before, existed := ours(w.Before, w.Wanted.Owner)
	if w.Wanted.Deleting || !existed || before.Failed {
		return nil
	}
	after, exists := ours(w.After, w.Wanted.Owner)
	if !exists {
		return []string{w.Call + " deleted the group of an object that is not being deleted"}
	}
	if w.Wanted.External {
		return meddled(w, before, after)
	}
	lost := len(gone(w))
	switch {
	case after.Size >= w.Wanted.Replicas || after.Size >= before.Size:
		return nil // what goes and leaves the size as it is, is replaced: Unfounded judges that
	case lost > 0:
		return []string{fmt.Sprintf("%s removed %d instances and left a size of %d, the object wants %d", w.Call, lost, after.Size, w.Wanted.Replicas)}
	default:
		return []string{fmt.Sprintf("%s lowered the size from %d to %d, the object wants %d", w.Call, before.Size, after.Size, w.Wanted.Replicas)}
	}
}

// meddled finds what only he who sizes the group may do. Bounds that the user changed move the size between them.
func meddled(w Write, before, after Group) []string {
	if after.Size != before.Size && before.Size >= after.Min && before.Size <= after.Max {
		return []string{fmt.Sprintf("%s changed the size from %d to %d although somebody else sizes the group", w.Call, before.Size, after.Size)}
	}
	return nil
}
