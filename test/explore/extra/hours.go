package extra

import (
	"slices"
	"time"

	"github.com/muster-project/muster/test/explore/script"
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
		d.Scenario.Add(script.Event{What: script.Upgraded, At: d.Near(2, 20*time.Second), N: d.IntN(9)})
	}
}

// ofLarge lists the events of pools with many machines. Each of them completes within the time of a scenario.
var ofLarge = []script.What{
	script.Replicas, script.Token, script.HandTerminate, script.HandTags, script.HandResize, script.Restart, script.Crash, script.Lag,
	script.Nudge,
	script.CloudFault, script.Calm, script.ServerFault, script.Pause, script.Unpause, script.Delete, script.Upgraded,
}

// large makes the pool one of up to 120 machines: batches have limits, and lists have pages.
func large(d drawing) {
	s := &d.Scenario
	s.Most, s.Replicas, s.Pods, s.External, s.Named, s.Adopted = 130, 60+d.IntN(61), min(s.Pods, 1), false, false, false
	s.Speed, s.Denied, s.ByGroup, s.Refresh = 10, "", false, script.Plain
	s.Strategy = &script.Limits{Surge: "50%", Unavailable: "50%", Policy: "Oldest"}
	s.Events = slices.DeleteFunc(s.Events, func(e script.Event) bool { return !slices.Contains(ofLarge, e.What) })
	for k := range s.Events {
		if e := &s.Events[k]; e.What == script.Replicas || e.What == script.HandResize {
			e.N = 10 + e.N*12
		}
	}
}
