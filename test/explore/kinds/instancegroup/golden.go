package instancegroup

import (
	"time"

	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/script"
)

// image is an edit of the template that asks for another type of machine.
var image = script.Event{What: script.Template, N: 7}

// golden returns the golden scenarios of managed instance groups: some of a group of one zone, some of a regional one, the most important
// of both.
func golden() []script.Scenario {
	at := func(regional bool, name string, events ...script.Event) script.Scenario {
		where := "zonal"
		if regional {
			where = "regional"
		}
		s := script.Scenario{
			Name: "gcp " + where + ": " + name, Own: Own{Regional: regional}, Seed: 7, Replicas: 3, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2,
			Speed:    5,
			Strategy: &script.Limits{Surge: "1", Unavailable: "0", Policy: "Oldest"},
		}
		return s.With(events...)
	}
	with := script.Scenario.Changed
	elsewhere := func(s *script.Scenario) { s.External = true }
	var list []script.Scenario
	for _, regional := range []bool{false, true} {
		list = append(
			list,
			at(regional, "create"),
			at(regional, "scale in", script.Event{What: script.Replicas, N: 1}),
			at(regional, "rollout, surge 1", image),
			with(at(regional, "rollout, unavailable 1", image),
				func(s *script.Scenario) { s.Strategy = &script.Limits{Surge: "0", Unavailable: "1", Policy: "Oldest"} }),
			// An autoscaler that sets the size in a surge can't be told from the surge.
			with(at(regional, "external: rollout, then the group grows", image,
				script.Event{What: script.Autoscaler, N: 4, At: 15 * time.Minute}), elsewhere),
			at(regional, "the group is set to roll by itself, then the template changes", script.Event{What: HandRoll},
				script.Event{What: script.Template, N: image.N, At: 500 * time.Millisecond}),
			at(regional, "deletion", script.Event{What: script.Delete}),
		)
	}
	return append(list, particular(at)...)
}

// particular returns the scenarios of a group of one zone or of a regional one alone.
func particular(at func(bool, string, ...script.Event) script.Scenario) []script.Scenario {
	with := script.Scenario.Changed
	spot := func(s *script.Scenario) { s.Spot = true }
	adopted := func(s *script.Scenario) { s.Adopted = true }
	machined := func(s *script.Scenario) { s.Own = Own{Regional: own(*s).Regional, Machines: true} }
	return []script.Scenario{
		at(false, "scale out", script.Event{What: script.Replicas, N: 6}),
		at(true, "scale in and out again", script.Event{What: script.Replicas, N: 1}, script.Event{What: script.Replicas, N: 4,
			At: 4 * time.Second}),
		at(false, "in place: labels and repairs", script.Event{What: script.GroupEdit, N: 0, M: 1},
			script.Event{What: script.GroupEdit, N: 3, M: 1, At: time.Minute}),
		at(true, "token rotation", script.Event{What: script.Token}),
		at(false, "rollout, taken back in its midst", image, script.Event{What: script.Back, At: 20 * time.Second}),
		at(true, "rollout to a bad type, halted and taken back", script.Event{What: script.BadTemplate},
			script.Event{What: script.Back, At: 25 * time.Minute}),
		at(true, "rollout whose canary fails, gone back and tried again", image).GoesBack(),
		at(false, "rollout, a machine goes into quarantine", image).Quarantines(),
		at(false, "restart", script.Event{What: script.RestartNow}),
		at(true, "a machine is created again in the midst of a rollout", image, script.Event{What: HandRecreate, N: 1, At: 10 * time.Second}),
		at(false, "a machine is abandoned", script.Event{What: HandAbandon, N: 1}),
		with(at(false, "spot machine preempted", script.Event{What: script.HandInterrupt, N: 1}), spot),
		at(true, "no room, and room again", script.Event{What: gcp.HandQuota, N: 3},
			script.Event{What: script.Replicas, N: 6, At: time.Second},
			script.Event{What: script.HandHeal, At: 10 * time.Minute}),
		with(at(false, "a Machine is deleted", script.Event{What: script.DropMachine, N: 1}), machined),
		with(at(true, "rollout through Machines", image), machined),
		with(at(true, "an infrastructure machine is deleted", script.Event{What: script.DropInfraMachine, N: 1}), machined),
		with(at(false, "a machine with a Machine is abandoned", script.Event{What: HandAbandon, N: 1}), machined),
		with(at(false, "a machine is created again while its Machine is deleted", script.Event{What: script.DropMachine, N: 1},
			script.Event{What: HandRecreate, N: 1, At: 8 * time.Second}), machined),
		at(false, "group deleted by hand", script.Event{What: script.HandDropGroup}),
		with(at(false, "adoption of another provider's group", script.Event{What: script.Adopt}), adopted),
	}
}
