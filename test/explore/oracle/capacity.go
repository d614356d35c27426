package oracle

import "fmt"

// Capacity finds writes by Muster that asked the cloud for less than what exists, so that the cloud would choose which to
// terminate. Instances that are so young that not every reader can see them do not count: none has joined that soon. What
// there was too much of before is the cloud's own doing: it evens out zones by launching first.
func Capacity(w Write) []string {
	if w.Wanted.Deleting {
		return nil
	}
	before, existed := ours(w.Before, w.Wanted.Owner)
	after, exists := ours(w.After, w.Wanted.Owner)
	if !existed || !exists || after.Size >= before.Size {
		return nil
	}
	visible := w.visible(after)
	if more := max(0, len(before.Counted())-before.Size); visible > after.Size+more {
		return []string{fmt.Sprintf("%s lowered the size from %d to %d while %d instances exist", w.Call, before.Size, after.Size, visible)}
	}
	return nil
}

// visible is how many members every client can see.
func (w Write) visible(g Group) int {
	n := 0
	for _, m := range g.Counted() {
		if w.At.Sub(m.Launched) > w.Unseen {
			n++
		}
	}
	return n
}
