package oracle

import "fmt"

// Twice finds what was created twice: two groups or templates of one owner, more instances than the group may have, and
// instances of the pool that no group keeps.
func Twice(w Write) []string {
	var wrong []string
	groups, templates := 0, 0
	for _, g := range w.After.Groups {
		if g.Owner != w.Desired.Owner {
			continue
		}
		groups++
		before, _ := ours(w.Before, w.Desired.Owner)
		if n := len(g.Counted()); n > max(g.Max, w.Desired.Max)+evening(g) && n > len(before.Counted()) {
			wrong = append(wrong, fmt.Sprintf("after %s the group has %d instances, at most %d are allowed", w.Call, n, max(g.Max, w.Desired.Max)))
		}
		if g.Size > g.Max {
			wrong = append(wrong, fmt.Sprintf("after %s the group's size is %d, its maximum %d", w.Call, g.Size, g.Max))
		}
	}
	for _, t := range w.After.Templates {
		if t.Owner == w.Desired.Owner {
			templates++
		}
	}
	if groups > 1 || templates > 1 {
		wrong = append(wrong, fmt.Sprintf("after %s the owner has %d groups and %d templates", w.Call, groups, templates))
	}
	return wrong
}

// evening is by how many instances the cloud itself may go above a group's maximum while it evens out zones: a tenth of
// it, one at least, as the service documents.
func evening(g Group) int { return max(1, g.Max/10) }
