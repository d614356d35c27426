package agentpool

import (
	"time"

	"github.com/muster-project/muster/test/explore/script"
)

// golden returns the golden scenarios of agent pools of AKS.
func golden() []script.Scenario {
	at := func(name string, events ...script.Event) script.Scenario {
		s := script.Scenario{
			Name: "aks: " + name, Own: Own{}, Seed: 7, Replicas: 3, Least: 1, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2, Speed: 5,
		}
		return s.With(events...)
	}
	with := script.Scenario.Changed
	manifest := func(s *script.Scenario) { s.Own, s.Name = Own{Manifest: true}, s.Name+", as a manifest" }
	system := func(s *script.Scenario) { s.Own = Own{System: true} }
	autoscaled := func(s *script.Scenario) { s.External = true }
	size := script.Event{What: script.Template, N: 0}
	minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	return []script.Scenario{
		at("create"),
		with(at("create"), manifest),
		with(at("a System pool is adopted"), system),
		at("scale out", script.Event{What: script.Replicas, N: 6}),
		at("scale in", script.Event{What: script.Replicas, N: 1}),
		at("scale in and out again", script.Event{What: script.Replicas, N: 1}, script.Event{What: script.Replicas, N: 4, At: 4 * time.Second}),
		at("size change", size),
		at("size change, taken back in its midst", size, script.Event{What: script.Back, At: 20 * time.Second}),
		at("size to a bad one, which fails and is taken back", script.Event{What: script.BadTemplate},
			script.Event{What: script.Back, At: minutes(20)}),
		at("labels, taints and tags change", script.Event{What: script.GroupEdit, N: 0, M: 1},
			script.Event{What: script.GroupEdit, N: 2, M: 1, At: time.Second},
			script.Event{What: script.GroupEdit, N: 3, M: 2, At: 2 * time.Second}),
		with(at("labels, taints and tags change", script.Event{What: script.GroupEdit, N: 0, M: 1},
			script.Event{What: script.GroupEdit, N: 2, M: 1, At: time.Second}), manifest),
		at("tags of others stay", script.Event{What: script.HandTags, N: 1}, script.Event{What: script.GroupEdit, N: 3, M: 0, At: minutes(1)}),
		at("version step", script.Event{What: script.Upgrade, N: 1, M: 1}),
		at("two version steps at once", script.Event{What: script.Upgrade, N: 1}, script.Event{What: script.Upgrade, N: 1, M: 1,
			At: time.Second}),
		at("restart", script.Event{What: script.RestartNow}),
		at("edits while AKS is busy", size, script.Event{What: script.Replicas, N: 5, At: 5 * time.Second},
			script.Event{What: script.GroupEdit, N: 0, M: 1, At: 6 * time.Second}),
		at("the autoscaler is switched on and off", script.Event{What: script.GroupEdit, N: 4, M: 5},
			script.Event{What: script.Autoscaler, N: 5, At: minutes(2)},
			script.Event{What: script.GroupEdit, N: 4, M: 0, At: minutes(4)}),
		with(at("autoscaled: size change", size, script.Event{What: script.Autoscaler, N: 4, At: minutes(1)}), autoscaled),
		at("scaled in to deallocated machines, and out again", script.Event{What: script.GroupEdit, N: 6, M: 1},
			script.Event{What: script.Replicas, N: 1, At: minutes(1)},
			script.Event{What: script.Replicas, N: 3, At: minutes(5)}),
		at("upgraded in the portal", script.Event{What: HandUpgrade, N: 1}),
		at("aborted size change", size, script.Event{What: HandAbort, At: 20 * time.Second}),
		at("aborted scale in", script.Event{What: script.Replicas, N: 1}, script.Event{What: HandAbort, At: 12 * time.Second}),
		at("stopped and started", script.Event{What: HandStop}, script.Event{What: script.Replicas, N: 4, At: minutes(1)},
			script.Event{What: HandStart, At: minutes(3)}),
		at("a machine is deleted by hand", script.Event{What: script.HandTerminate, N: 1}),
		at("a machine is deleted behind AKS's back", script.Event{What: script.HandTerminate, N: 1, M: 1}),
		at("count changed by hand", script.Event{What: script.HandResize, N: 5}),
		at("pool deleted by hand", script.Event{What: script.HandDropGroup}),
		at("deletion", script.Event{What: script.Delete}),
		with(at("deletion", script.Event{What: script.Delete}), manifest),
		at("deletion in the midst of a size change", size, script.Event{What: script.Delete, At: 15 * time.Second}),
	}
}
