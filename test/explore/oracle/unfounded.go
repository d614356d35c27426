package oracle

import (
	"fmt"
	"slices"
)

// Unfounded finds writes by Muster that replace a machine, or set one aside to replace it, without a cause: it is what the group
// launches now, and no user asked for a restart or its deletion; or nothing is to be replaced now, or not by Muster.
func Unfounded(w Write) []string {
	before, existed := ours(w.Before, w.Wanted.Owner)
	after, exists := ours(w.After, w.Wanted.Owner)
	if !existed || !exists || w.Wanted.Deleting || w.Named == nil || w.Shrinks || after.Size < before.Size {
		return nil
	}
	var wrong []string
	for _, m := range before.Staying() {
		if m.Aside || !slices.Contains(w.Named, m.ID) || !w.takes(m.ID, after) {
			continue
		}
		if why := w.unfounded(m, before); why != "" {
			wrong = append(wrong, fmt.Sprintf("%s replaces instance %s although %s", w.Call, m.ID, why))
		}
	}
	return wrong
}

// takes reports whether the write took the member out of service.
func (w Write) takes(id string, after Group) bool {
	return !slices.ContainsFunc(after.Counted(), func(m Member) bool { return m.ID == id })
}

func (w Write) unfounded(m Member, g Group) string {
	switch {
	case m.Doomed, m.Failed: // the cloud has launched another in its place, or it does not run until a client removes it
		return ""
	case w.marked(m.ID) && len(g.Counted()) > w.wanted(g): // it goes in place of one to replace, and another comes for that one
		return ""
	case w.Wanted.Condemned[m.ID] || m.Launched.Before(w.Wanted.Restart) && !w.Wanted.Paused:
		return ""
	case w.Wanted.Paused:
		return "its rollout is held"
	case w.Wanted.SkipModel:
		return "changed models replace nothing here"
	case !w.Wanted.ByHand:
		return "the pool has no strategy"
	case m.Content == g.Content && m.Content != "": // what a deleted version made is not known
		return "it was launched from what the group launches now"
	}
	return ""
}
