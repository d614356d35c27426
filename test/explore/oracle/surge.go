package oracle

import (
	"fmt"
	"slices"
)

// Surge finds writes of Muster after which more machines exist, or are requested, than the wanted number and the surge allow.
func Surge(w Write) []string {
	before, existed := ours(w.Before, w.Desired.Owner)
	after, exists := ours(w.After, w.Desired.Owner)
	if !existed || !exists || w.Desired.Deleting || w.Moved {
		return nil
	}
	if w.Desired.Replicas < w.Desired.Min || max(after.Min, w.Desired.Min) > before.Size {
		return nil // the bounds move the size
	}
	want := w.desiredSize(before)
	surge, _ := w.Desired.Limits(want)
	surge = max(surge, len(before.Staying())-len(before.Counted())) // a strategy that is changed in its midst leaves what it set aside
	if total := after.total(); total > before.total()+before.back(after) && total > want+surge {
		return []string{fmt.Sprintf("%s raised the machines from %d to %d, %d are wanted with a surge of %d", w.Call, before.total(), total,
			want, surge)}
	}
	return nil
}

// total returns the least number of machines once the cloud has completed all requests.
func (g Group) total() int {
	return max(g.Size, len(g.Counted())) + len(g.Staying()) - len(g.Counted())
}

// back counts the members that were on their way out before a write and stay after it. They are those that the cloud was draining for a
// rollout that the write cancels, and they have run all along.
func (g Group) back(after Group) int {
	n := 0
	for _, m := range after.Staying() {
		if slices.ContainsFunc(g.Members, func(o Member) bool { return o.ID == m.ID && o.Leaving }) {
			n++
		}
	}
	return n
}
