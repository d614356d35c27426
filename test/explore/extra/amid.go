package extra

import (
	"slices"
	"time"

	"github.com/muster-project/muster/test/explore/script"
)

// One in amidOneIn scenarios has events between two calls of a pass.
const amidOneIn = 3

// amid draws events that come between a read and the write that depends on it: changes of the group by other clients, edits by users,
// passes of the other controller and of another manager. They usually follow soon after another event, when there is something to write.
func (d drawing) amid() {
	for range 1 + d.IntN(4) {
		e := script.Event{What: script.Amid, At: d.Near(5, 20*time.Second), M: d.IntN(9), Then: d.between()}
		e.N = d.IntN([]int{6, 20, 60}[e.M%3])
		if n := len(d.Scenario.Additional); n > 0 && slices.Contains(append(ofAny, script.OtherPass, script.OtherManager), e.Then) {
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
	return outOfBandEvents(d)[d.IntN(len(outOfBandEvents(d)))]
}

// outOfBandEvents returns the events of the kind that other clients cause at once, and that need no later event to revert them.
func outOfBandEvents(d drawing) []script.What {
	later := append(script.CommonEvents(), script.HandDisown, script.BadTemplate, script.Hold, script.Mark, script.Bounds, script.Upgrade)
	return slices.DeleteFunc(slices.Clone(d.Scenario.Kind.Odds.Events), func(w script.What) bool { return slices.Contains(later, w) })
}
