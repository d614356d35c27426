package oracle

import (
	"fmt"
	"slices"
)

// Available finds steps of Muster that took machines from those that serve when fewer than the wanted number, less those that may be
// missing and those in quarantine within its bound, serve afterwards. What was lost by others' hands so lately that a pass may not know
// it counts as there; a machine that began to serve so lately may be taken for one that does not, and a size that the autoscaler has
// changed so lately for the present one. What the cloud is about to take is drained whatever that costs.
func Available(w Write) []string {
	g, exists := ours(w.Before, w.Desired.Owner)
	if !exists || w.Desired.Deleting || w.Moved || w.Named == nil {
		return nil
	}
	want := w.desiredSizeAsRead(g)
	_, unavailable := w.Desired.Limits(want)
	unavailable += min(quarantined(g, w.Nodes), w.Desired.Quarantined)
	taken, left := 0, 0
	for _, m := range g.Members {
		switch {
		case w.counts(m):
			left++
		case w.ends(m):
			taken++
		}
	}
	if taken > 0 && left < want-unavailable {
		return []string{fmt.Sprintf("%s took %d of those that serve and left %d of %d, of which %d may be missing", w.Call, taken, left, want,
			unavailable)}
	}
	return nil
}

// quarantined returns the number of members in quarantine.
func quarantined(g Group, nodes map[string]Node) int {
	n := 0
	for _, m := range g.Staying() {
		if nodes[m.ID].Quarantined {
			n++
		}
	}
	return n
}

// counts reports whether a member serves after the step, or was lost so lately that a pass may not know it.
func (w Write) counts(m Member) bool {
	if !w.serves(m) {
		return w.Lost[m.ID]
	}
	return !slices.Contains(w.Named, m.ID)
}

// ends is true if the step ends a member that serves, unless the cloud takes it anyway, or a user has deleted its object and cordoned its
// node: cluster-api cordons and drains a node before it deletes the object, so that no successor is waited for.
func (w Write) ends(m Member) bool {
	if w.Desired.DeletionRequested[m.ID] && w.Nodes[m.ID].Cordoned {
		return false
	}
	return w.serves(m) && slices.Contains(w.Named, m.ID) && !w.Risen[m.ID] && !w.stays(m.ID) && !m.Doomed
}

// desiredSize returns the number of machines that limits are counted from.
func (w Write) desiredSize(g Group) int {
	if w.Desired.External {
		return max(g.Size, g.Requested) - g.Surge
	}
	return w.Desired.Replicas
}

// desiredSizeAsRead returns the least number of machines that the writer may take for the wanted one.
func (w Write) desiredSizeAsRead(g Group) int {
	want := w.desiredSize(g)
	for _, size := range w.Autoscaled {
		want = min(want, size)
	}
	return want
}

// serves reports whether a member is joined, Ready, not drained by Muster, and not on its way out.
func (w Write) serves(m Member) bool {
	n := w.Nodes[m.ID]
	return n.Joined && n.Ready && n.DrainStarted.IsZero() && !m.Leaving
}

// stays reports whether a member continues unchanged or in standby, in which it still serves.
func (w Write) stays(id string) bool {
	if w.Drains {
		return false
	}
	return slices.ContainsFunc(w.After.Groups, func(g Group) bool {
		return slices.ContainsFunc(g.Staying(), func(m Member) bool { return m.ID == id })
	})
}
