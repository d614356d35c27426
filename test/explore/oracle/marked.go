package oracle

import (
	"fmt"
	"slices"
)

// MarkedFirst finds removals of ours that take a machine which nobody marked while others that were marked would have been
// enough. A mark is seen some time after it was made.
func MarkedFirst(w Write) []string {
	before, existed := ours(w.Before, w.Wanted.Owner)
	after, exists := ours(w.After, w.Wanted.Owner)
	if !existed || !exists || w.Wanted.Deleting || w.Wanted.External || w.Moved || after.Size >= before.Size {
		return nil
	}
	marked := 0
	for _, m := range after.Counted() {
		if w.marked(m.ID) {
			marked++
		}
	}
	var wrong []string
	for _, m := range gone(w) {
		n := w.Nodes[m.ID]
		if slices.Contains(w.Named, m.ID) && n.Marked.IsZero() && !w.Wanted.Condemned[m.ID] && marked >= before.Size-w.Wanted.Replicas {
			wrong = append(wrong, fmt.Sprintf("%s removed instance %s, and %d that are marked to go first stay", w.Call, m.ID, marked))
		}
	}
	return wrong
}

// marked says that a member was marked long enough ago for everybody to see it.
func (w Write) marked(id string) bool {
	at := w.Nodes[id].Marked
	return !at.IsZero() && w.At.Sub(at) > w.Unseen
}
