package nodegroup

import (
	"time"

	"github.com/muster-project/muster/test/explore/world"
)

// golden are the golden scenarios of managed node groups.
func golden() []world.Scenario {
	at := func(name string, events ...world.Event) world.Scenario {
		s := world.Scenario{
			Name: "managed: " + name, Own: Own{}, Seed: 7, Replicas: 3, Least: 1, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2, Speed: 5,
		}
		return s.With(events...)
	}
	with := world.Scenario.Changed
	bare := func(s *world.Scenario) { s.Own = Own{Bare: true} }
	roles := func(s *world.Scenario) { s.Own = Own{Roles: true} }
	minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	adopted := func(s *world.Scenario) { s.Adopted = true }
	image := world.Event{What: world.Template, N: 3}
	return []world.Scenario{
		at("create"),
		with(at("create, without a template"), bare),
		with(at("create, with a role"), roles),
		at("scale out", world.Event{What: world.Replicas, N: 6}),
		at("scale in", world.Event{What: world.Replicas, N: 1}),
		at("scale in and out again", world.Event{What: world.Replicas, N: 1}, world.Event{What: world.Replicas, N: 4, At: 4 * time.Second}),
		at("template change", image),
		at("template change, taken back in its midst", image, world.Event{What: world.Back, At: 20 * time.Second}),
		at("template to a bad one, which fails and is taken back", world.Event{What: world.BadTemplate},
			world.Event{What: world.Back, At: minutes(30)}),
		at("labels change", world.Event{What: world.GroupEdit, N: 0, M: 1},
			world.Event{What: world.GroupEdit, N: 2, M: 1, At: time.Second},
			world.Event{What: world.GroupEdit, N: 4, M: 2, At: 2 * time.Second}),
		at("labels and tags of others stay", world.Event{What: HandLabels, N: 0},
			world.Event{What: world.HandTags, N: 1},
			world.Event{What: world.GroupEdit, N: 0, M: 0, At: minutes(1)}),
		at("bounds change", world.Event{What: world.Bounds, N: 3, M: 4}),
		at("bounds left open", world.Event{What: world.GroupEdit, N: 8, M: 0}, world.Event{What: world.GroupEdit, N: 8, M: 1, At: minutes(2)}),
		at("version step", world.Event{What: world.Upgrade, M: 1}),
		at("two version steps at once", world.Event{What: world.Upgrade}, world.Event{What: world.Upgrade, M: 1, At: time.Second}),
		with(at("version step without a template", world.Event{What: world.Upgrade, M: 1}), bare),
		at("token rotation", world.Event{What: world.Token}),
		at("restart", world.Event{What: world.RestartNow}),
		at("edits while EKS is busy", image,
			world.Event{What: world.Replicas, N: 5, At: 5 * time.Second},
			world.Event{What: world.GroupEdit, N: 0, M: 1, At: 6 * time.Second}),
		at("update that fails, and the next", image, world.Event{What: HandFailUpdate, At: 30 * time.Second}),
		at("update held by a budget", world.Event{What: world.Block, N: 9}, image),
		at("update forced past a budget", world.Event{What: world.GroupEdit, N: 7, M: 0},
			world.Event{What: world.Block, N: 90, At: minutes(1)},
			world.Event{What: world.Template, N: 3, At: minutes(2)}),
		at("degraded", world.Event{What: HandBreak}, world.Event{What: world.Replicas, N: 5, At: time.Second},
			world.Event{What: world.HandHeal, At: minutes(5)}),
		with(at("role changed by hand", world.Event{What: HandRole, N: 1}, world.Event{What: HandRole, N: 0}), roles),
		at("external: the autoscaler grows the group", world.Event{What: world.External},
			world.Event{What: world.Autoscaler, N: 5, At: minutes(1)}),
		at("deletion", world.Event{What: world.Delete}),
		with(at("deletion, with a role", world.Event{What: world.Delete}), roles),
		at("deletion in the midst of an update", image, world.Event{What: world.Delete, At: 15 * time.Second}),
		at("deletion that fails at first", world.Event{What: HandFailEnding},
			world.Event{What: world.Delete, At: time.Second},
			world.Event{What: world.HandHeal, At: minutes(20)}),
		at("group deleted by hand", world.Event{What: world.HandDropGroup}),
		with(at("adoption of another provider's node group", world.Event{What: world.Adopt}), adopted),
		with(with(at("adoption of another provider's node group, without a template", world.Event{What: world.Adopt, N: 1}), adopted), bare),
	}
}
