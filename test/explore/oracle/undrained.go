package oracle

import (
	"fmt"
	"slices"
	"time"
)

// Undrained finds instances that a write by Muster removed although pods still ran on them. Machines that never joined have
// nothing to lose, and a drain whose time is up has been waited for.
func Undrained(w Write) []string {
	var wrong []string
	for _, m := range append(gone(w), released(w)...) {
		n := w.Nodes[m.ID]
		switch {
		case !n.Joined:
		case !m.Held.IsZero() && w.Desired.DrainTimeout > 0 &&
			w.At.Sub(m.Held)+time.Second >= w.Desired.DrainTimeout: // in a cluster that is out of reach; the cloud reports whole seconds
		case n.DrainStarted.IsZero():
			wrong = append(wrong, fmt.Sprintf("%s removed instance %s, whose node was never drained%s", w.Call, m.ID, w.heldFor(m)))
		case n.Pods == 0:
		case w.Desired.DrainTimeout > 0 && w.At.Sub(n.DrainStarted) >= w.Desired.DrainTimeout:
		default:
			wrong = append(wrong, fmt.Sprintf("%s removed instance %s while %d pods still ran there, %s after its drain began",
				w.Call, m.ID, n.Pods, w.At.Sub(n.DrainStarted)))
		}
	}
	return wrong
}

// released returns the members on their way out that the write lets go.
func released(w Write) []Member {
	var list []Member
	for _, g := range w.Before.Groups {
		for _, m := range g.Members {
			if m.Leaving && !m.Held.IsZero() && !w.held(m.ID) && slices.Contains(w.Named, m.ID) {
				list = append(list, m)
			}
		}
	}
	return list
}

// heldFor describes how long a hook has held the member.
func (w Write) heldFor(m Member) string {
	if m.Held.IsZero() {
		return ""
	}
	return fmt.Sprintf(", %s after a hook began to hold it", w.At.Sub(m.Held))
}

// held reports whether a hook still keeps the member after the write.
func (w Write) held(id string) bool {
	return slices.ContainsFunc(w.After.Groups, func(g Group) bool {
		return slices.ContainsFunc(g.Members, func(m Member) bool { return m.ID == id && !m.Held.IsZero() })
	})
}
