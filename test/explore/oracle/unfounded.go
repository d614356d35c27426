package oracle

import (
	"fmt"
	"slices"
)

// Unfounded finds writes of Muster that replace a machine, or put one into standby for its replacement, without a cause. There is none if
// the machine is up to date, no user has requested a restart or its deletion, or replacement is suspended or not Muster's task.
func Unfounded(w Write) []string {
	before, existed := ours(w.Before, w.Desired.Owner)
	after, exists := ours(w.After, w.Desired.Owner)
	if !existed || !exists || w.Desired.Deleting || w.Named == nil || w.Shrinks || after.Size < before.Size {
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
	case w.marked(m.ID) && len(g.Counted()) > w.desiredSize(g): // it goes in place of one to replace, and another comes for that one
		return ""
	case w.Desired.DeletionRequested[m.ID] || m.Launched.Before(w.Desired.Restart) && !w.Desired.Paused:
		return ""
	case w.Desired.Paused:
		return "its rollout is held"
	case w.Desired.SkipModel:
		return "changed models replace nothing here"
	case !w.Desired.ReplacedByMuster:
		return "the pool has no strategy"
	case m.Content == g.Content && m.Content != "": // what a deleted version made is not known
		return "it was launched from what the group launches now"
	}
	return ""
}
