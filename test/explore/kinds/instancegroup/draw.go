package instancegroup

import (
	"math/rand/v2"
	"time"

	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/script"
)

// events are those of managed instance groups.
var events = append([]script.What{
	script.Replicas, script.Replicas, script.Replicas, script.Replicas, script.Template, script.Template, script.Template, script.Template,
	script.Back,
	script.GroupEdit, script.GroupEdit, script.GroupEdit, script.Token, script.Token, script.External, script.Autoscaler, script.Strategy,
	script.Strategy,
	script.BadTemplate, script.Hold, script.RestartNow, script.HandInterrupt, script.HandUnhealthy, script.HandUnhealthy, script.Mark,
	script.Mark,
	script.HandTerminate, script.HandTerminate, script.HandResize, script.HandResize, script.HandTags, script.HandDisown, script.HandDisown,
	script.HandDropGroup, HandRecreate, HandRecreate, HandAbandon, HandDelete, HandRoll, HandRoll, HandDropUnused, gcp.HandQuota,
}, script.CommonEvents()...)

// actions are the calls that a fault may be for where managed instance groups are.
var actions = []string{
	"*", "*", "*.get", "*.list*", "*nstanceGroupManagers.*", "*nstanceGroupManagers.insert", "*nstanceGroupManagers.patch",
	"*nstanceGroupManagers.patch",
	"*nstanceGroupManagers.resize", "*nstanceGroupManagers.deleteInstances", "*nstanceGroupManagers.deleteInstances",
	"*nstanceGroupManagers.delete",
	"*nstanceGroupManagers.listManagedInstances", "instanceTemplates.*", "instanceTemplates.insert", "instanceTemplates.delete", "instances.*",
}

// machined are the seeds of scenarios with Machines: one in four, whose other draws are as without.
var machined = script.OneIn(4, machinesSalt)

const machinesSalt = 0x6d616368

// drawn draws a scenario: one half of them of one zone, the other half of several.
func drawn(d *script.Drawing) {
	d.DrawRolled(func() {
		s := &d.Scenario
		s.Refresh, s.Own = script.Plain, Own{Regional: d.IntN(2) == 0, Heals: d.IntN(3) == 0, Machines: machined(s.Seed)}
		if d.IntN(5) == 0 {
			s.Add(script.Event{What: script.HandForeign, N: d.IntN(3)})
			s.Add(script.Event{What: script.HandDropForeign, At: d.Moment()})
		}
	}, nil)
	if own(d.Scenario).Machines {
		drawMachines(d)
	}
}

// drawMachines draws what users delete of Machines, and of the objects below them, and instances that the group creates again meanwhile.
func drawMachines(d *script.Drawing) {
	deleted := []script.What{script.DropMachine, script.DropMachine, script.DropInfraMachine}
	d.Rand = rand.New(rand.NewPCG(d.Scenario.Seed, machinesSalt))
	for range 1 + d.IntN(3) {
		e := script.Event{What: deleted[d.IntN(3)], At: d.Moment(), N: d.IntN(9)}
		d.Scenario.Add(e)
		if d.IntN(4) == 0 {
			d.Scenario.Add(script.Event{What: HandRecreate, At: e.At + time.Duration(d.IntN(60))*time.Second, N: e.N})
		}
	}
}
