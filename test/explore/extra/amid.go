package extra

import (
	"slices"
	"time"

	"github.com/muster-project/muster/test/explore/script"
)

// amidOneIn is how rare scenarios are in which something comes between two calls of a pass.
const amidOneIn = 3

// amid draws what comes between a read and the write that rests on it: other clients' changes of the group, users' edits, the other
// controller and another manager. As a rule it comes soon after something else has happened, where there is something to write.
func (d drawing) amid() {
	for range 1 + d.IntN(4) {
		e := script.Event{What: script.Amid, At: d.Near(5, 20*time.Second), M: d.IntN(9), Then: d.between()}
		e.N = d.IntN([]int{6, 20, 60}[e.M%3])
		if n := len(d.Scenario.Beside); n > 0 && slices.Contains(append(ofAny, script.OtherPass, script.OtherManager), e.Then) {
			e.Pool = d.IntN(n + 1)
		}
		d.Scenario.Add(e)
		if follow := d.Scenario.Kind.Odds.Follow; follow != nil {
			follow(d.Drawing, script.Event{What: e.Then, At: e.At, N: e.M})
		}
	}
}

// between draws one thing that comes between two calls.
func (d drawing) between() script.What {
	switch d.IntN(6) {
	case 0:
		return script.OtherPass
	case 1:
		return script.OtherManager
	}
	return hands(d)[d.IntN(len(hands(d)))]
}

// hands are the happenings of the kind that others bring about at once, and that leave nothing to be taken back.
func hands(d drawing) []script.What {
	later := append(script.Mishaps(), script.HandDisown, script.BadTemplate, script.Hold, script.Mark, script.Bounds, script.Upgrade)
	return slices.DeleteFunc(slices.Clone(d.Scenario.Kind.Odds.Happenings), func(w script.What) bool { return slices.Contains(later, w) })
}
