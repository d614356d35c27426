package oracle

import "fmt"

// Capacity finds writes of ours that asked the cloud for less than what exists, so that the cloud would choose whom to
// kill. Instances that are so young that not everybody can see them yet do not count: nobody has joined that soon.
func Capacity(w Write) []string {
	if w.Wanted.Deleting {
		return nil
	}
	before, existed := ours(w.Before, w.Wanted.Owner)
	after, exists := ours(w.After, w.Wanted.Owner)
	if !existed || !exists || after.Size >= before.Size {
		return nil
	}
	visible := 0
	for _, m := range after.Staying() {
		if w.At.Sub(m.Launched) > w.Unseen {
			visible++
		}
	}
	if after.Size < visible {
		return []string{fmt.Sprintf("%s lowered the size from %d to %d while %d instances exist", w.Call, before.Size, after.Size, visible)}
	}
	return nil
}
