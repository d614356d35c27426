package agentpool

import (
	"time"

	"github.com/muster-project/muster/test/explore/world"
)

// golden are the golden scenarios of agent pools of AKS.
func golden() []world.Scenario {
	at := func(name string, events ...world.Event) world.Scenario {
		s := world.Scenario{
			Name: "aks: " + name, Own: Own{}, Seed: 7, Replicas: 3, Least: 1, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2, Speed: 5,
		}
		return s.With(events...)
	}
	with := world.Scenario.Changed
	manifest := func(s *world.Scenario) { s.Own, s.Name = Own{Manifest: true}, s.Name+", as a manifest" }
	system := func(s *world.Scenario) { s.Own = Own{System: true} }
	autoscaled := func(s *world.Scenario) { s.External = true }
	size := world.Event{What: world.Template, N: 0}
	minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	return []world.Scenario{
		at("create"),
		with(at("create"), manifest),
		with(at("a System pool is adopted"), system),
		at("scale out", world.Event{What: world.Replicas, N: 6}),
		at("scale in", world.Event{What: world.Replicas, N: 1}),
		at("scale in and out again", world.Event{What: world.Replicas, N: 1}, world.Event{What: world.Replicas, N: 4, At: 4 * time.Second}),
		at("size change", size),
		at("size change, taken back in its midst", size, world.Event{What: world.Back, At: 20 * time.Second}),
		at("size to a bad one, which fails and is taken back", world.Event{What: world.BadTemplate},
			world.Event{What: world.Back, At: minutes(20)}),
		at("labels, taints and tags change", world.Event{What: world.GroupEdit, N: 0, M: 1},
			world.Event{What: world.GroupEdit, N: 2, M: 1, At: time.Second},
			world.Event{What: world.GroupEdit, N: 3, M: 2, At: 2 * time.Second}),
		with(at("labels, taints and tags change", world.Event{What: world.GroupEdit, N: 0, M: 1},
			world.Event{What: world.GroupEdit, N: 2, M: 1, At: time.Second}), manifest),
		at("tags of others stay", world.Event{What: world.HandTags, N: 1}, world.Event{What: world.GroupEdit, N: 3, M: 0, At: minutes(1)}),
		at("version step", world.Event{What: world.Upgrade, N: 1, M: 1}),
		at("two version steps at once", world.Event{What: world.Upgrade, N: 1}, world.Event{What: world.Upgrade, N: 1, M: 1, At: time.Second}),
		at("restart", world.Event{What: world.RestartNow}),
		at("edits while AKS is busy", size, world.Event{What: world.Replicas, N: 5, At: 5 * time.Second},
			world.Event{What: world.GroupEdit, N: 0, M: 1, At: 6 * time.Second}),
		at("the autoscaler is switched on and off", world.Event{What: world.GroupEdit, N: 4, M: 5},
			world.Event{What: world.Autoscaler, N: 5, At: minutes(2)},
			world.Event{What: world.GroupEdit, N: 4, M: 0, At: minutes(4)}),
		with(at("autoscaled: size change", size, world.Event{What: world.Autoscaler, N: 4, At: minutes(1)}), autoscaled),
		at("scaled in to deallocated machines, and out again", world.Event{What: world.GroupEdit, N: 6, M: 1},
			world.Event{What: world.Replicas, N: 1, At: minutes(1)},
			world.Event{What: world.Replicas, N: 3, At: minutes(5)}),
		at("upgraded in the portal", world.Event{What: HandUpgrade, N: 1}),
		at("aborted size change", size, world.Event{What: HandAbort, At: 20 * time.Second}),
		at("aborted scale in", world.Event{What: world.Replicas, N: 1}, world.Event{What: HandAbort, At: 12 * time.Second}),
		at("stopped and started", world.Event{What: HandStop}, world.Event{What: world.Replicas, N: 4, At: minutes(1)},
			world.Event{What: HandStart, At: minutes(3)}),
		at("a machine is deleted by hand", world.Event{What: world.HandTerminate, N: 1}),
		at("a machine is deleted behind AKS's back", world.Event{What: world.HandTerminate, N: 1, M: 1}),
		at("count changed by hand", world.Event{What: world.HandResize, N: 5}),
		at("pool deleted by hand", world.Event{What: world.HandDropGroup}),
		at("deletion", world.Event{What: world.Delete}),
		with(at("deletion", world.Event{What: world.Delete}), manifest),
		at("deletion in the midst of a size change", size, world.Event{What: world.Delete, At: 15 * time.Second}),
	}
}
