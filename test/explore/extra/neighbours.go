package extra

import (
	"time"

	"github.com/muster-project/muster/test/explore/script"
)

// One in neighboursOneIn scenarios has other controllers at work.
const neighboursOneIn = 4

// neighbours draws what other controllers and users do around a pool: DaemonSets and finalizers of pods, Clusters that are paused, and
// MachineHealthChecks.
func (d drawing) neighbours() {
	d.Scenario.Neighbours = d.IntN(2) == 0
	if d.IntN(2) == 0 {
		e := script.Event{What: script.HoldCluster, At: d.Near(3, 20*time.Second)}
		d.Scenario.Add(e)
		d.Scenario.Add(script.Event{What: script.FreeCluster, At: d.Later(e, 10, 300)})
	}
	if d.Scenario.Kind.Machines != nil {
		for range 1 + d.IntN(2) {
			d.Scenario.Add(script.Event{What: script.Unwell, At: d.Moment(), N: d.IntN(9)})
		}
	}
}
