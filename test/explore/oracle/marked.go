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
	marked := w.markedIn(after)
	if marked < before.Size-w.Wanted.Replicas || w.Shrinks && (marked == 0 || before.Size <= w.Wanted.Replicas) {
		return nil
	}
	var wrong []string
	for _, m := range gone(w) {
		if w.Shrinks && !w.Nodes[m.ID].Ready {
			continue // who serves nobody goes before all others
		}
		if slices.Contains(w.Named, m.ID) && w.Nodes[m.ID].Marked.IsZero() && !w.Wanted.Condemned[m.ID] {
			wrong = append(wrong, fmt.Sprintf("%s removed instance %s, and %d that are marked to go first stay", w.Call, m.ID, marked))
		}
	}
	return wrong
}

// markedIn is how many of those that a group counts were marked.
func (w Write) markedIn(g Group) int {
	n := 0
	for _, m := range g.Counted() {
		if w.marked(m.ID) {
			n++
		}
	}
	return n
}

// marked says that a member was marked long enough ago for everybody to see it.
func (w Write) marked(id string) bool {
	at := w.Nodes[id].Marked
	return !at.IsZero() && w.At.Sub(at) > w.Unseen
}
