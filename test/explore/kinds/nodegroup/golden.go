package nodegroup

import (
	"time"

	"github.com/muster-project/muster/test/explore/script"
)

// golden returns the golden scenarios of managed node groups.
func golden() []script.Scenario {
	at := func(name string, events ...script.Event) script.Scenario {
		s := script.Scenario{
			Name: "managed: " + name, Own: Own{}, Seed: 7, Replicas: 3, Least: 1, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2, Speed: 5,
		}
		return s.With(events...)
	}
	with := script.Scenario.Changed
	bare := func(s *script.Scenario) { s.Own = Own{Bare: true} }
	roles := func(s *script.Scenario) { s.Own = Own{Roles: true} }
	minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	adopted := func(s *script.Scenario) { s.Adopted = true }
	image := script.Event{What: script.Template, N: 3}
	return []script.Scenario{
		at("create"),
		with(at("create, without a template"), bare),
		with(at("create, with a role"), roles),
		at("scale out", script.Event{What: script.Replicas, N: 6}),
		at("scale in", script.Event{What: script.Replicas, N: 1}),
		at("scale in and out again", script.Event{What: script.Replicas, N: 1}, script.Event{What: script.Replicas, N: 4, At: 4 * time.Second}),
		at("template change", image),
		at("template change, taken back in its midst", image, script.Event{What: script.Back, At: 20 * time.Second}),
		at("template to a bad one, which fails and is taken back", script.Event{What: script.BadTemplate},
			script.Event{What: script.Back, At: minutes(30)}),
		at("labels change", script.Event{What: script.GroupEdit, N: 0, M: 1},
			script.Event{What: script.GroupEdit, N: 2, M: 1, At: time.Second},
			script.Event{What: script.GroupEdit, N: 4, M: 2, At: 2 * time.Second}),
		at("labels and tags of others stay", script.Event{What: HandLabels, N: 0},
			script.Event{What: script.HandTags, N: 1},
			script.Event{What: script.GroupEdit, N: 0, M: 0, At: minutes(1)}),
		at("bounds change", script.Event{What: script.Bounds, N: 3, M: 4}),
		at("bounds left open", script.Event{What: script.GroupEdit, N: 8, M: 0}, script.Event{What: script.GroupEdit, N: 8, M: 1,
			At: minutes(2)}),
		at("version step", script.Event{What: script.Upgrade, M: 1}),
		at("two version steps at once", script.Event{What: script.Upgrade}, script.Event{What: script.Upgrade, M: 1, At: time.Second}),
		with(at("version step without a template", script.Event{What: script.Upgrade, M: 1}), bare),
		at("token rotation", script.Event{What: script.Token}),
		at("restart", script.Event{What: script.RestartNow}),
		at("edits while EKS is busy", image,
			script.Event{What: script.Replicas, N: 5, At: 5 * time.Second},
			script.Event{What: script.GroupEdit, N: 0, M: 1, At: 6 * time.Second}),
		at("update that fails, and the next", image, script.Event{What: HandFailUpdate, At: 30 * time.Second}),
		at("update held by a budget", script.Event{What: script.Block, N: 9}, image),
		at("update forced past a budget", script.Event{What: script.GroupEdit, N: 7, M: 0},
			script.Event{What: script.Block, N: 90, At: minutes(1)},
			script.Event{What: script.Template, N: 3, At: minutes(2)}),
		at("degraded", script.Event{What: HandBreak}, script.Event{What: script.Replicas, N: 5, At: time.Second},
			script.Event{What: script.HandHeal, At: minutes(5)}),
		with(at("role changed by hand", script.Event{What: HandRole, N: 1}, script.Event{What: HandRole, N: 0}), roles),
		at("external: the autoscaler grows the group", script.Event{What: script.External},
			script.Event{What: script.Autoscaler, N: 5, At: minutes(1)}),
		at("deletion", script.Event{What: script.Delete}),
		with(at("deletion, with a role", script.Event{What: script.Delete}), roles),
		at("deletion in the midst of an update", image, script.Event{What: script.Delete, At: 15 * time.Second}),
		at("deletion that fails at first", script.Event{What: HandFailEnding},
			script.Event{What: script.Delete, At: time.Second},
			script.Event{What: script.HandHeal, At: minutes(20)}),
		at("group deleted by hand", script.Event{What: script.HandDropGroup}),
		with(at("adoption of another provider's node group", script.Event{What: script.Adopt}), adopted),
		with(with(at("adoption of another provider's node group, without a template", script.Event{What: script.Adopt, N: 1}), adopted), bare),
	}
}
