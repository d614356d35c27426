package gkenodepool

import (
	"time"

	"github.com/muster-project/muster/test/explore/script"
)

// golden returns the golden scenarios of node pools of GKE.
func golden() []script.Scenario {
	at := func(name string, events ...script.Event) script.Scenario {
		s := script.Scenario{
			Name: "gke: " + name, Own: Own{Zones: 1, Upgrades: 1}, Seed: 7, Replicas: 3, Least: 1, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2,
			Speed: 5,
		}
		return s.With(events...)
	}
	with := script.Scenario.Changed
	zones := func(s *script.Scenario) { s.Own, s.Name = Own{Zones: 3, Upgrades: 1}, s.Name+", in three zones" }
	blueGreen := func(s *script.Scenario) { s.Own, s.Name = Own{Zones: 1, Upgrades: 4}, s.Name+", blue-green" }
	autoscaled := func(s *script.Scenario) { s.External = true }
	adopted := func(s *script.Scenario) { s.Adopted = true }
	machine := script.Event{What: script.Template, N: 7}
	minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	return []script.Scenario{
		at("create"),
		with(at("create"), zones),
		at("scale out", script.Event{What: script.Replicas, N: 6}),
		with(at("scale out to what zones don't divide", script.Event{What: script.Replicas, N: 5}), zones),
		at("scale in", script.Event{What: script.Replicas, N: 1}),
		with(at("scale in", script.Event{What: script.Replicas, N: 1}), zones),
		at("scale in and out again", script.Event{What: script.Replicas, N: 1}, script.Event{What: script.Replicas, N: 4, At: 4 * time.Second}),
		at("machine type change", machine),
		with(at("machine type change", machine), blueGreen),
		at("machine type change, taken back in its midst", machine, script.Event{What: script.Back, At: 20 * time.Second}),
		at("machine type to a bad one, which fails and is taken back", script.Event{What: script.BadTemplate},
			script.Event{What: script.Back, At: minutes(20)}),
		at("labels and taints change", script.Event{What: script.GroupEdit, N: 0, M: 1},
			script.Event{What: script.GroupEdit, N: 2, M: 1, At: time.Second},
			script.Event{What: script.GroupEdit, N: 3, M: 2, At: 2 * time.Second}),
		at("version step", script.Event{What: script.Upgrade, N: 1, M: 1}),
		with(at("version step", script.Event{What: script.Upgrade, N: 1, M: 1}), blueGreen),
		at("two version steps at once", script.Event{What: script.Upgrade, N: 1}, script.Event{What: script.Upgrade, N: 1, M: 1,
			At: time.Second}),
		at("restart", script.Event{What: script.RestartNow}),
		at("edits while GKE is busy", machine, script.Event{What: script.Replicas, N: 5, At: 5 * time.Second},
			script.Event{What: script.GroupEdit, N: 0, M: 1, At: 6 * time.Second}),
		at("edits while GKE works on another pool", script.Event{What: HandBusy, N: 1}, script.Event{What: script.Replicas, N: 4,
			At: time.Second},
			script.Event{What: script.GroupEdit, N: 0, M: 1, At: 2 * time.Second}),
		at("the autoscaler is switched on and off", script.Event{What: script.GroupEdit, N: 4, M: 4},
			script.Event{What: script.Autoscaler, N: 5, At: minutes(2)},
			script.Event{What: script.GroupEdit, N: 4, M: 0, At: minutes(4)}),
		with(at("autoscaled: machine type change", machine, script.Event{What: script.Autoscaler, N: 4, At: minutes(1)}), autoscaled),
		at("cancelled machine type change", machine, script.Event{What: HandCancel, At: 20 * time.Second}),
		at("upgraded by hand", script.Event{What: script.Upgrade, N: 1}, script.Event{What: HandUpgrade, N: 1, At: minutes(2)}),
		at("a node is repaired", script.Event{What: HandRepair, N: 1}),
		at("an instance is deleted by hand", script.Event{What: HandDelete, N: 1}),
		at("size changed by hand", script.Event{What: script.HandResize, N: 5}),
		at("pool deleted by hand", script.Event{What: script.HandDropGroup}),
		with(at("adoption of another provider's node pool", script.Event{What: script.Adopt}), adopted),
		with(with(at("adoption of another provider's node pool", script.Event{What: script.Adopt}), adopted), zones),
		at("deletion", script.Event{What: script.Delete}),
		at("deletion in the midst of a machine type change", machine, script.Event{What: script.Delete, At: 15 * time.Second}),
	}
}
