package oracle

import (
	"fmt"
	"slices"
	"time"
)

// MarkedFirst finds removals by Muster that take an unmarked machine while others that were marked would have been
// enough. A mark is seen some time after it was made.
func MarkedFirst(w Write) []string {
	before, existed := ours(w.Before, w.Desired.Owner)
	after, exists := ours(w.After, w.Desired.Owner)
	if !existed || !exists || w.Desired.Deleting || w.Desired.External || w.Moved || after.Size >= before.Size {
		return nil
	}
	marked := w.markedIn(after)
	if marked < before.Size-w.Desired.Replicas || w.rolls(before, marked) {
		return nil
	}
	var wrong []string
	for _, m := range gone(w) {
		if slices.Contains(w.Named, m.ID) && !w.before(before, m) {
			wrong = append(wrong, fmt.Sprintf("%s removed instance %s, and %d that are marked to go first stay", w.Call, m.ID, marked))
		}
	}
	return wrong
}

// before reports whether a member may go before marked ones: it is marked itself, its deletion was requested by name, it does not serve and
// such members stay until a client removes them, or its replacement had begun.
func (w Write) before(g Group, m Member) bool {
	n := w.Nodes[m.ID]
	return !n.Marked.IsZero() || w.Desired.DeletionRequested[m.ID] || w.Shrinks && !n.Ready || w.instead(g, m) || w.begun(g, m)
}

// begun reports whether a member is to be replaced and its drain began before any other was marked: a replacement that has evicted pods is
// completed, and the marked ones have the next turn.
func (w Write) begun(g Group, m Member) bool {
	drained := w.Nodes[m.ID].DrainStarted
	if drained.IsZero() || m.Content == g.Content && !m.Launched.Before(w.Desired.Restart) {
		return false
	}
	return !slices.ContainsFunc(g.Counted(), func(o Member) bool { return w.marked(o.ID) && w.Nodes[o.ID].Marked.Before(drained) })
}

// patience is the least time after its launch at which a machine can count as one that does not serve.
const patience = 5 * time.Minute

// instead reports whether a member goes instead of those that are marked and serve: it does not serve, and no serving one may go.
func (w Write) instead(g Group, m Member) bool {
	want := w.desiredSizeAsRead(g)
	_, unavailable := w.Desired.Limits(want)
	serving := 0
	for _, other := range g.Members {
		if w.serves(other) {
			serving++
		}
	}
	return !w.Nodes[m.ID].Ready && w.At.Sub(m.Launched) >= patience && serving <= want-unavailable
}

// rolls reports whether what goes is replaced, so that no marked machine stays in its place.
func (w Write) rolls(g Group, marked int) bool {
	return w.Shrinks && (marked == 0 || g.Size <= w.Desired.Replicas)
}

// markedIn counts the marked members of a group.
func (w Write) markedIn(g Group) int {
	n := 0
	for _, m := range g.Counted() {
		if w.marked(m.ID) {
			n++
		}
	}
	return n
}

// marked reports whether a member was marked long enough ago for every reader to see it.
func (w Write) marked(id string) bool {
	at := w.Nodes[id].Marked
	return !at.IsZero() && w.At.Sub(at) > w.Unseen
}
