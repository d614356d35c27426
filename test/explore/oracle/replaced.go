package oracle

import "slices"

// begins returns the serving machines whose replacement the write begins because of their template or a restart: their drain begins, they
// are removed or put into standby, or the cloud begins to replace them. What goes for another reason is none of them: what the cloud takes,
// what a user has marked or deleted, what began to serve so lately that the writer may not know it, and what is too many.
func (w Write) begins() []Member {
	before, existed := ours(w.Before, w.Desired.Owner)
	after, exists := ours(w.After, w.Desired.Owner)
	if !existed || !exists || w.Desired.Deleting || w.Moved {
		return nil
	}
	var list []Member
	for _, m := range before.Staying() {
		if w.serves(m) && w.Desired.outdated(m, after) && w.chosen(m, after) && !w.goesAnyway(m) && !w.surplus(m, before) {
			list = append(list, m)
		}
	}
	return list
}

// chosen reports whether the write is about the replacement of a member.
func (w Write) chosen(m Member, after Group) bool {
	if w.Rolls {
		return true
	}
	return slices.Contains(w.Named, m.ID) && !m.Aside && (w.Drains || w.takes(m.ID, after))
}

// outdated reports whether a member is to be replaced, as far as its template and a restart are concerned.
func (w Desired) outdated(m Member, g Group) bool {
	return m.Content != g.Content && m.Content != "" && g.Content != "" || m.Launched.Before(w.Restart)
}

// goesAnyway reports whether something other than a rollout takes the member.
func (w Write) goesAnyway(m Member) bool {
	return m.Doomed || m.Failed || w.marked(m.ID) || w.Desired.DeletionRequested[m.ID] || w.Risen[m.ID]
}

// surplus reports whether a member goes because there are too many, after the size was changed, or when its successors have served before
// it came.
func (w Write) surplus(m Member, g Group) bool {
	stay, successors := 0, 0
	for _, o := range g.Staying() {
		switch {
		case !w.Nodes[o.ID].DrainStarted.IsZero():
		case !w.Desired.outdated(o, g) && w.serves(o) && o.Launched.Before(m.Launched):
			successors++
			stay++
		default:
			stay++
		}
	}
	want := w.desiredSize(g)
	return stay > want && (w.Resized || successors >= want)
}
