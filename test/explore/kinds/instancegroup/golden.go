package instancegroup

import (
	"time"

	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/world"
)

// golden are the golden scenarios of managed instance groups: some of a group of one zone, some of a regional one, the most important of
// both.
func golden() []world.Scenario {
	at := func(regional bool, name string, events ...world.Event) world.Scenario {
		where := "zonal"
		if regional {
			where = "regional"
		}
		s := world.Scenario{
			Name: "gcp " + where + ": " + name, Own: Own{Regional: regional}, Seed: 7, Replicas: 3, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2,
			Speed:    5,
			Strategy: &world.Limits{Surge: "1", Unavailable: "0", Policy: "Oldest"},
		}
		return s.With(events...)
	}
	with := world.Scenario.Changed
	elsewhere := func(s *world.Scenario) { s.External = true }
	spot := func(s *world.Scenario) { s.Spot = true }
	adopted := func(s *world.Scenario) { s.Adopted = true }
	machined := func(s *world.Scenario) { s.Own = Own{Regional: own(*s).Regional, Machines: true} }
	image := world.Event{What: world.Template, N: 3}
	var list []world.Scenario
	for _, regional := range []bool{false, true} {
		list = append(
			list,
			at(regional, "create"),
			at(regional, "scale in", world.Event{What: world.Replicas, N: 1}),
			at(regional, "rollout, surge 1", image),
			with(at(regional, "rollout, unavailable 1", image),
				func(s *world.Scenario) { s.Strategy = &world.Limits{Surge: "0", Unavailable: "1", Policy: "Oldest"} }),
			with(at(regional, "external: rollout", image, world.Event{What: world.Autoscaler, N: 4, At: 20 * time.Second}), elsewhere),
			at(regional, "the group is set to roll by itself, then the template changes", world.Event{What: HandRoll},
				world.Event{What: world.Template, N: 3, At: 500 * time.Millisecond}),
			at(regional, "deletion", world.Event{What: world.Delete}),
		)
	}
	return append(
		list,
		at(false, "scale out", world.Event{What: world.Replicas, N: 6}),
		at(true, "scale in and out again", world.Event{What: world.Replicas, N: 1}, world.Event{What: world.Replicas, N: 4, At: 4 * time.Second}),
		at(false, "in place: labels and repairs", world.Event{What: world.GroupEdit, N: 0, M: 1},
			world.Event{What: world.GroupEdit, N: 3, M: 1, At: time.Minute}),
		at(true, "token rotation", world.Event{What: world.Token}),
		at(false, "rollout, taken back in its midst", image, world.Event{What: world.Back, At: 20 * time.Second}),
		at(true, "rollout to a bad type, halted and taken back", world.Event{What: world.BadTemplate},
			world.Event{What: world.Back, At: 25 * time.Minute}),
		at(false, "restart", world.Event{What: world.RestartNow}),
		at(true, "a machine is created again in the midst of a rollout", image, world.Event{What: HandRecreate, N: 1, At: 10 * time.Second}),
		at(false, "a machine is abandoned", world.Event{What: HandAbandon, N: 1}),
		with(at(false, "spot machine preempted", world.Event{What: world.HandInterrupt, N: 1}), spot),
		at(true, "no room, and room again", world.Event{What: gcp.HandQuota, N: 3},
			world.Event{What: world.Replicas, N: 6, At: time.Second},
			world.Event{What: world.HandHeal, At: 10 * time.Minute}),
		with(at(false, "a Machine is deleted", world.Event{What: world.DropMachine, N: 1}), machined),
		with(at(true, "rollout through Machines", image), machined),
		with(at(true, "an infrastructure machine is deleted", world.Event{What: world.DropInfraMachine, N: 1}), machined),
		with(at(false, "a machine with a Machine is abandoned", world.Event{What: HandAbandon, N: 1}), machined),
		with(at(false, "a machine is created again while its Machine is deleted", world.Event{What: world.DropMachine, N: 1},
			world.Event{What: HandRecreate, N: 1, At: 8 * time.Second}), machined),
		at(false, "group deleted by hand", world.Event{What: world.HandDropGroup}),
		with(at(false, "adoption of another provider's group", world.Event{What: world.Adopt}), adopted),
	)
}
