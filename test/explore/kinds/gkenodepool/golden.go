package gkenodepool

import (
	"time"

	"github.com/muster-project/muster/test/explore/world"
)

// golden are the golden scenarios of node pools of GKE.
func golden() []world.Scenario {
	at := func(name string, events ...world.Event) world.Scenario {
		s := world.Scenario{
			Name: "gke: " + name, Own: Own{Zones: 1, Upgrades: 1}, Seed: 7, Replicas: 3, Least: 1, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2,
			Speed: 5,
		}
		return s.With(events...)
	}
	with := world.Scenario.Changed
	zones := func(s *world.Scenario) { s.Own, s.Name = Own{Zones: 3, Upgrades: 1}, s.Name+", in three zones" }
	blueGreen := func(s *world.Scenario) { s.Own, s.Name = Own{Zones: 1, Upgrades: 4}, s.Name+", blue-green" }
	autoscaled := func(s *world.Scenario) { s.External = true }
	adopted := func(s *world.Scenario) { s.Adopted = true }
	machine := world.Event{What: world.Template, N: 7}
	minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	return []world.Scenario{
		at("create"),
		with(at("create"), zones),
		at("scale out", world.Event{What: world.Replicas, N: 6}),
		with(at("scale out to what zones don't divide", world.Event{What: world.Replicas, N: 5}), zones),
		at("scale in", world.Event{What: world.Replicas, N: 1}),
		with(at("scale in", world.Event{What: world.Replicas, N: 1}), zones),
		at("scale in and out again", world.Event{What: world.Replicas, N: 1}, world.Event{What: world.Replicas, N: 4, At: 4 * time.Second}),
		at("machine type change", machine),
		with(at("machine type change", machine), blueGreen),
		at("machine type change, taken back in its midst", machine, world.Event{What: world.Back, At: 20 * time.Second}),
		at("machine type to a bad one, which fails and is taken back", world.Event{What: world.BadTemplate},
			world.Event{What: world.Back, At: minutes(20)}),
		at("labels and taints change", world.Event{What: world.GroupEdit, N: 0, M: 1},
			world.Event{What: world.GroupEdit, N: 2, M: 1, At: time.Second},
			world.Event{What: world.GroupEdit, N: 3, M: 2, At: 2 * time.Second}),
		at("version step", world.Event{What: world.Upgrade, N: 1, M: 1}),
		with(at("version step", world.Event{What: world.Upgrade, N: 1, M: 1}), blueGreen),
		at("two version steps at once", world.Event{What: world.Upgrade, N: 1}, world.Event{What: world.Upgrade, N: 1, M: 1, At: time.Second}),
		at("restart", world.Event{What: world.RestartNow}),
		at("edits while GKE is busy", machine, world.Event{What: world.Replicas, N: 5, At: 5 * time.Second},
			world.Event{What: world.GroupEdit, N: 0, M: 1, At: 6 * time.Second}),
		at("edits while GKE works on another pool", world.Event{What: HandBusy, N: 1}, world.Event{What: world.Replicas, N: 4, At: time.Second},
			world.Event{What: world.GroupEdit, N: 0, M: 1, At: 2 * time.Second}),
		at("the autoscaler is switched on and off", world.Event{What: world.GroupEdit, N: 4, M: 4},
			world.Event{What: world.Autoscaler, N: 5, At: minutes(2)},
			world.Event{What: world.GroupEdit, N: 4, M: 0, At: minutes(4)}),
		with(at("autoscaled: machine type change", machine, world.Event{What: world.Autoscaler, N: 4, At: minutes(1)}), autoscaled),
		at("cancelled machine type change", machine, world.Event{What: HandCancel, At: 20 * time.Second}),
		at("upgraded by hand", world.Event{What: world.Upgrade, N: 1}, world.Event{What: HandUpgrade, N: 1, At: minutes(2)}),
		at("a node is repaired", world.Event{What: HandRepair, N: 1}),
		at("an instance is deleted by hand", world.Event{What: HandDelete, N: 1}),
		at("size changed by hand", world.Event{What: world.HandResize, N: 5}),
		at("pool deleted by hand", world.Event{What: world.HandDropGroup}),
		with(at("adoption of another provider's node pool", world.Event{What: world.Adopt}), adopted),
		with(with(at("adoption of another provider's node pool", world.Event{What: world.Adopt}), adopted), zones),
		at("deletion", world.Event{What: world.Delete}),
		at("deletion in the midst of a machine type change", machine, world.Event{What: world.Delete, At: 15 * time.Second}),
	}
}
