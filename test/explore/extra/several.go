package extra

import (
	"time"

	"github.com/muster-project/muster/test/explore/script"
)

// One in severalOneIn scenarios has several pools.
const severalOneIn = 3

// several draws one to four small additional pools, each with few events.
func (d drawing) several() {
	for at := range []int{1, 1, 1, 1, 1, 2, 2, 4}[d.IntN(8)] {
		d.Scenario.Additional = append(d.Scenario.Additional, d.another())
		d.applied(at + 1)
		for range 1 + d.IntN(3) {
			d.addEvent(at + 1)
		}
	}
}

// another draws a pool.
func (d drawing) another() script.Scenario {
	s := d.Scenario
	s.Events, s.Additional = nil, nil
	s.Named, s.Adopted, s.Brought, s.Spot, s.ByGroup = false, false, false, false, false
	s.Least = d.IntN(2)
	s.Most = s.Least + 1 + d.IntN(3)
	s.Replicas = s.Least + d.IntN(s.Most-s.Least+1)
	s.External = d.IntN(8) == 0
	s.DrainTimeout = []time.Duration{0, 2 * time.Minute, 10 * time.Minute}[d.IntN(3)]
	if s.Strategy = d.Limits(); s.Kind.Another != nil {
		s.Kind.Another(&s)
	}
	return s
}

// applied draws when a user applies a pool: with the first one as a rule.
func (d drawing) applied(at int) {
	e := script.Event{What: script.Apply, Pool: at}
	if d.IntN(3) == 0 {
		e.At = d.Moment()
	}
	if d.IntN(4) == 0 {
		e.At, e.M = d.Moment(), int([]script.Claim{script.ClaimByID, script.ClaimByAdoption, script.ClaimByBoth}[d.IntN(3)])
	}
	d.Scenario.Add(e)
}

// ofAny lists the events of additional pools: those that exist for pools of every kind.
var ofAny = []script.What{
	script.Replicas, script.Replicas, script.Replicas, script.Template, script.Template, script.Template, script.Back, script.GroupEdit,
	script.GroupEdit, script.Token, script.Pause, script.External, script.RestartNow,
	script.HandTerminate, script.HandTerminate, script.HandResize, script.HandTags, script.HandDropGroup, script.Autoscaler, script.Nudge,
}

// addEvent draws the events of an additional pool.
func (d drawing) addEvent(at int) {
	e := script.Event{What: ofAny[d.IntN(len(ofAny))], At: d.Near(3, 8*time.Second), N: d.IntN(9), M: 1 + d.IntN(8), Pool: at}
	if e.What == script.Replicas {
		e.N %= 5
	}
	d.Scenario.Add(e)
	if e.What == script.Pause {
		d.Scenario.Add(script.Event{What: script.Unpause, At: d.Later(e, 5, 200), Pool: at})
	}
	if d.IntN(9) == 0 {
		d.Scenario.Add(script.Event{What: script.Delete, At: []time.Duration{d.Moment(), d.Scenario.Ends}[d.IntN(2)], Pool: at})
	}
}
