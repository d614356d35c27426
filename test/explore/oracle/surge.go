package oracle

import (
	"fmt"
	"slices"
)

// Surge finds writes by Muster after which more machines exist, or are asked for, than the wanted number and the surge allow.
func Surge(w Write) []string {
	before, existed := ours(w.Before, w.Wanted.Owner)
	after, exists := ours(w.After, w.Wanted.Owner)
	if !existed || !exists || w.Wanted.Deleting || w.Moved {
		return nil
	}
	if w.Wanted.Replicas < w.Wanted.Min || max(after.Min, w.Wanted.Min) > before.Size {
		return nil // the bounds move the size
	}
	want := w.wanted(before)
	surge, _ := w.Wanted.Limits(want)
	surge = max(surge, len(before.Staying())-len(before.Counted())) // a strategy that is changed in its midst leaves what it set aside
	if total := after.total(); total > before.total()+before.back(after) && total > want+surge {
		return []string{fmt.Sprintf("%s raised the machines from %d to %d, %d are wanted with a surge of %d", w.Call, before.total(), total,
			want, surge)}
	}
	return nil
}

// total is how many machines there will be at least when the cloud has done what it is asked for.
func (g Group) total() int {
	return max(g.Size, len(g.Counted())) + len(g.Staying()) - len(g.Counted())
}

// back is how many members were on their way out before a write and stay after it, as those do that the cloud was draining for a rollout
// which the write cancels: they ran all along.
func (g Group) back(after Group) int {
	n := 0
	for _, m := range after.Staying() {
		if slices.ContainsFunc(g.Members, func(o Member) bool { return o.ID == m.ID && o.Leaving }) {
			n++
		}
	}
	return n
}
