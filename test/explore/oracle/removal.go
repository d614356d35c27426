package oracle

import "fmt"

// Removal finds writes of ours that took away what the object still wanted: more than its replicas allow, or anything at
// all where somebody else sizes the group.
func Removal(w Write) []string {
	if w.Wanted.Deleting {
		return nil
	}
	lost := gone(w)
	before, existed := ours(w.Before, w.Wanted.Owner)
	after, exists := ours(w.After, w.Wanted.Owner)
	switch {
	case !existed:
		return nil
	case !exists:
		return []string{w.Call + " deleted the group of an object that is not being deleted"}
	case len(lost) > 0 && w.Wanted.External:
		return []string{fmt.Sprintf("%s removed %d instances although somebody else sizes the group", w.Call, len(lost))}
	case len(lost) > 0 && after.Size < w.Wanted.Replicas:
		return []string{fmt.Sprintf("%s removed %d instances and left a size of %d, the object wants %d", w.Call, len(lost), after.Size, w.Wanted.Replicas)}
	case after.Size < before.Size && after.Size < w.Wanted.Replicas && !w.Wanted.External:
		return []string{fmt.Sprintf("%s lowered the size from %d to %d, the object wants %d", w.Call, before.Size, after.Size, w.Wanted.Replicas)}
	case after.Size != before.Size && w.Wanted.External && before.Size >= after.Min && before.Size <= after.Max:
		return []string{fmt.Sprintf("%s changed the size from %d to %d although somebody else sizes the group", w.Call, before.Size, after.Size)}
	}
	return nil
}
