package world

import "time"

// aksOnes are the golden scenarios of agent pools of AKS.
func aksOnes() []Scenario {
	at := func(name string, events ...Event) Scenario {
		s := Scenario{
			Name: "aks: " + name, AgentPool: kindManaged, Seed: 7, Replicas: 3, Least: 1, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2, Speed: 5,
			Events: events, Ends: Edited + after,
		}
		for k := range s.Events {
			s.Events[k].At += Edited
			s.Ends = max(s.Ends, s.Events[k].At+after)
		}
		return s
	}
	with := func(s Scenario, change func(*Scenario)) Scenario {
		change(&s)
		return s
	}
	manifest := func(s *Scenario) { s.AgentPool, s.Name = kindASO, s.Name+", as a manifest" }
	system := func(s *Scenario) { s.System = true }
	autoscaled := func(s *Scenario) { s.External = true }
	size := Event{What: Template, N: 0}
	minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	return []Scenario{
		at("create"),
		with(at("create"), manifest),
		with(at("a System pool is adopted"), system),
		at("scale out", Event{What: Replicas, N: 6}),
		at("scale in", Event{What: Replicas, N: 1}),
		at("scale in and out again", Event{What: Replicas, N: 1}, Event{What: Replicas, N: 4, At: 4 * time.Second}),
		at("size change", size),
		at("size change, taken back in its midst", size, Event{What: Back, At: 20 * time.Second}),
		at("size to a bad one, which fails and is taken back", Event{What: BadTemplate}, Event{What: Back, At: minutes(20)}),
		at("labels, taints and tags change", Event{What: GroupEdit, N: 0, M: 1}, Event{What: GroupEdit, N: 2, M: 1, At: time.Second}, Event{What: GroupEdit, N: 3, M: 2, At: 2 * time.Second}),
		with(at("labels, taints and tags change", Event{What: GroupEdit, N: 0, M: 1}, Event{What: GroupEdit, N: 2, M: 1, At: time.Second}), manifest),
		at("tags of others stay", Event{What: HandTags, N: 1}, Event{What: GroupEdit, N: 3, M: 0, At: minutes(1)}),
		at("version step", Event{What: Upgrade, N: 1, M: 1}),
		at("two version steps at once", Event{What: Upgrade, N: 1}, Event{What: Upgrade, N: 1, M: 1, At: time.Second}),
		at("restart", Event{What: RestartNow}),
		at("edits while AKS is busy", size, Event{What: Replicas, N: 5, At: 5 * time.Second}, Event{What: GroupEdit, N: 0, M: 1, At: 6 * time.Second}),
		at("the autoscaler is switched on and off", Event{What: GroupEdit, N: 4, M: 5}, Event{What: Autoscaler, N: 5, At: minutes(2)}, Event{What: GroupEdit, N: 4, M: 0, At: minutes(4)}),
		with(at("autoscaled: size change", size, Event{What: Autoscaler, N: 4, At: minutes(1)}), autoscaled),
		at("scaled in to deallocated machines, and out again", Event{What: GroupEdit, N: 6, M: 1}, Event{What: Replicas, N: 1, At: minutes(1)}, Event{What: Replicas, N: 3, At: minutes(5)}),
		at("upgraded in the portal", Event{What: HandUpgrade, N: 1}),
		at("aborted size change", size, Event{What: HandAbort, At: 20 * time.Second}),
		at("aborted scale in", Event{What: Replicas, N: 1}, Event{What: HandAbort, At: 12 * time.Second}),
		at("stopped and started", Event{What: HandStop}, Event{What: Replicas, N: 4, At: minutes(1)}, Event{What: HandStart, At: minutes(3)}),
		at("a machine is deleted by hand", Event{What: HandTerminate, N: 1}),
		at("count changed by hand", Event{What: HandResize, N: 5}),
		at("pool deleted by hand", Event{What: HandDropGroup}),
		at("deletion", Event{What: Delete}),
		with(at("deletion", Event{What: Delete}), manifest),
		at("deletion in the midst of a size change", size, Event{What: Delete, At: 15 * time.Second}),
	}
}
