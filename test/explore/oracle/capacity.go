package oracle

import "fmt"

// Capacity finds writes of Muster that set the size below the number of instances, so that the cloud would choose which to terminate.
// Instances too young for every reader to see do not count: none has joined that soon. An excess that existed before is the cloud's own: it
// balances zones by launching first.
func Capacity(w Write) []string {
	if w.Desired.Deleting {
		return nil
	}
	before, existed := ours(w.Before, w.Desired.Owner)
	after, exists := ours(w.After, w.Desired.Owner)
	if !existed || !exists || after.Size >= before.Size {
		return nil
	}
	visible := w.visible(after)
	if more := max(0, len(before.Counted())-before.Size); visible > after.Size+more {
		return []string{fmt.Sprintf("%s lowered the size from %d to %d while %d instances exist", w.Call, before.Size, after.Size, visible)}
	}
	return nil
}

// visible counts the members that are old enough for every client to see them.
func (w Write) visible(g Group) int {
	n := 0
	for _, m := range g.Counted() {
		if w.At.Sub(m.Launched) > w.Unseen {
			n++
		}
	}
	return n
}
