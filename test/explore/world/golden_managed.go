package world

import "time"

// managedOnes are the golden scenarios of managed node groups.
func managedOnes() []Scenario {
	at := func(name string, events ...Event) Scenario {
		s := Scenario{
			Name: "managed: " + name, Managed: true, Seed: 7, Replicas: 3, Least: 1, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2, Speed: 5,
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
	bare := func(s *Scenario) { s.Bare = true }
	roles := func(s *Scenario) { s.Roles = true }
	minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	adopted := func(s *Scenario) { s.Adopted = true }
	image := Event{What: Template, N: 3}
	return []Scenario{
		at("create"),
		with(at("create, without a template"), bare),
		with(at("create, with a role"), roles),
		at("scale out", Event{What: Replicas, N: 6}),
		at("scale in", Event{What: Replicas, N: 1}),
		at("scale in and out again", Event{What: Replicas, N: 1}, Event{What: Replicas, N: 4, At: 4 * time.Second}),
		at("template change", image),
		at("template change, taken back in its midst", image, Event{What: Back, At: 20 * time.Second}),
		at("template to a bad one, which fails and is taken back", Event{What: BadTemplate}, Event{What: Back, At: minutes(30)}),
		at("labels change", Event{What: GroupEdit, N: 0, M: 1}, Event{What: GroupEdit, N: 2, M: 1, At: time.Second}, Event{What: GroupEdit, N: 4, M: 2, At: 2 * time.Second}),
		at("labels and tags of others stay", Event{What: HandLabels, N: 0}, Event{What: HandTags, N: 1}, Event{What: GroupEdit, N: 0, M: 0, At: minutes(1)}),
		at("bounds change", Event{What: Bounds, N: 3, M: 4}),
		at("bounds left open", Event{What: GroupEdit, N: 8, M: 0}, Event{What: GroupEdit, N: 8, M: 1, At: minutes(2)}),
		at("version step", Event{What: Upgrade, M: 1}),
		at("two version steps at once", Event{What: Upgrade}, Event{What: Upgrade, M: 1, At: time.Second}),
		with(at("version step without a template", Event{What: Upgrade, M: 1}), bare),
		at("token rotation", Event{What: Token}),
		at("restart", Event{What: RestartNow}),
		at("edits while EKS is busy", image, Event{What: Replicas, N: 5, At: 5 * time.Second}, Event{What: GroupEdit, N: 0, M: 1, At: 6 * time.Second}),
		at("update that fails, and the next", image, Event{What: HandFailUpdate, At: 30 * time.Second}),
		at("update held by a budget", Event{What: Block, N: 9}, image),
		at("update forced past a budget", Event{What: GroupEdit, N: 7, M: 0}, Event{What: Block, N: 90, At: minutes(1)}, Event{What: Template, N: 3, At: minutes(2)}),
		at("degraded", Event{What: HandBreak}, Event{What: Replicas, N: 5, At: time.Second}, Event{What: HandHeal, At: minutes(5)}),
		with(at("role changed by hand", Event{What: HandRole, N: 1}, Event{What: HandRole, N: 0}), roles),
		at("external: the autoscaler grows the group", Event{What: External}, Event{What: Autoscaler, N: 5, At: minutes(1)}),
		at("deletion", Event{What: Delete}),
		with(at("deletion, with a role", Event{What: Delete}), roles),
		at("deletion in the midst of an update", image, Event{What: Delete, At: 15 * time.Second}),
		at("deletion that fails at first", Event{What: HandFailEnding}, Event{What: Delete, At: time.Second}, Event{What: HandHeal, At: minutes(20)}),
		at("group deleted by hand", Event{What: HandDropGroup}),
		with(at("adoption of another provider's node group", Event{What: Adopt}), adopted),
		with(with(at("adoption of another provider's node group, without a template", Event{What: Adopt, N: 1}), adopted), bare),
	}
}
