package instancegroup

import (
	"math/rand/v2"
	"time"

	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/world"
)

// happenings are those of managed instance groups.
var happenings = append([]world.What{
	world.Replicas, world.Replicas, world.Replicas, world.Replicas, world.Template, world.Template, world.Template, world.Template, world.Back,
	world.GroupEdit, world.GroupEdit, world.GroupEdit, world.Token, world.Token, world.External, world.Autoscaler, world.Strategy,
	world.Strategy,
	world.BadTemplate, world.Hold, world.RestartNow, world.HandInterrupt, world.HandUnhealthy, world.HandUnhealthy, world.Mark, world.Mark,
	world.HandTerminate, world.HandTerminate, world.HandResize, world.HandResize, world.HandTags, world.HandDisown, world.HandDisown,
	world.HandDropGroup, HandRecreate, HandRecreate, HandAbandon, HandDelete, HandRoll, HandRoll, HandDropUnused, gcp.HandQuota,
}, world.Mishaps()...)

// actions are the calls that a fault may be for where managed instance groups are.
var actions = []string{
	"*", "*", "*.get", "*.list*", "*nstanceGroupManagers.*", "*nstanceGroupManagers.insert", "*nstanceGroupManagers.patch",
	"*nstanceGroupManagers.patch",
	"*nstanceGroupManagers.resize", "*nstanceGroupManagers.deleteInstances", "*nstanceGroupManagers.deleteInstances",
	"*nstanceGroupManagers.delete",
	"*nstanceGroupManagers.listManagedInstances", "instanceTemplates.*", "instanceTemplates.insert", "instanceTemplates.delete", "instances.*",
}

// machined are the seeds of scenarios with Machines: one in four, whose other draws are as without.
var machined = world.OneIn(4, machinesSalt)

const machinesSalt = 0x6d616368

// drawn draws a scenario: one half of them of one zone, the other half of several.
func drawn(d *world.Drawing) {
	d.DrawRolled(func() {
		s := &d.Scenario
		s.Refresh, s.Own = world.Plain, Own{Regional: d.IntN(2) == 0, Heals: d.IntN(3) == 0, Machines: machined(s.Seed)}
		if d.IntN(5) == 0 {
			s.Add(world.Event{What: world.HandForeign, N: d.IntN(3)})
			s.Add(world.Event{What: world.HandDropForeign, At: d.Moment()})
		}
	}, nil)
	if own(d.Scenario).Machines {
		drawMachines(d)
	}
}

// drawMachines draws what users delete of Machines, and of the objects below them, and instances that the group creates again meanwhile.
func drawMachines(d *world.Drawing) {
	deleted := []world.What{world.DropMachine, world.DropMachine, world.DropInfraMachine}
	d.Rand = rand.New(rand.NewPCG(d.Scenario.Seed, machinesSalt))
	for range 1 + d.IntN(3) {
		e := world.Event{What: deleted[d.IntN(3)], At: d.Moment(), N: d.IntN(9)}
		d.Scenario.Add(e)
		if d.IntN(4) == 0 {
			d.Scenario.Add(world.Event{What: HandRecreate, At: e.At + time.Duration(d.IntN(60))*time.Second, N: e.N})
		}
	}
}
