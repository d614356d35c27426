package extra

import (
	"slices"
	"time"

	"github.com/muster-project/muster/test/explore/world"
)

// How rare scenarios of hours are, of an upgrade of the manager, and of many machines.
const (
	hoursOneIn, upgradeOneIn = 60, 8
	largeOneIn               = 150
)

// hours draws rest for longer than reads are apart that are made every six hours.
func (d drawing) hours() {
	if d.IntN(hoursOneIn) == 0 {
		d.Scenario.Rests = 7 * time.Hour
	}
	if d.IntN(upgradeOneIn) == 0 {
		d.Scenario.Add(world.Event{What: world.Upgraded, At: d.Near(2, 20*time.Second), N: d.IntN(9)})
	}
}

// ofLarge are what happens to pools of many machines: what ends within the time of a scenario.
var ofLarge = []world.What{
	world.Replicas, world.Token, world.HandTerminate, world.HandTags, world.HandResize, world.Restart, world.Crash, world.Lag, world.Nudge,
	world.CloudFault, world.Calm, world.ServerFault, world.Pause, world.Unpause, world.Delete, world.Upgraded,
}

// large makes the pool one of up to 120 machines: batches have limits, and lists have pages.
func large(d drawing) {
	s := &d.Scenario
	s.Most, s.Replicas, s.Pods, s.External, s.Named, s.Adopted = 130, 60+d.IntN(61), min(s.Pods, 1), false, false, false
	s.Speed, s.Denied, s.ByGroup, s.Refresh = 10, "", false, world.Plain
	s.Strategy = &world.Limits{Surge: "50%", Unavailable: "50%", Policy: "Oldest"}
	s.Events = slices.DeleteFunc(s.Events, func(e world.Event) bool { return !slices.Contains(ofLarge, e.What) })
	for k := range s.Events {
		if e := &s.Events[k]; e.What == world.Replicas || e.What == world.HandResize {
			e.N = 10 + e.N*12
		}
	}
}
