package asg

import (
	"time"

	"github.com/muster-project/muster/test/explore/world"
)

// golden are the scenarios in which the manager is ended at every effect, one run an effect: what it was about must be
// there in the end, whenever it died.
func golden() []world.Scenario {
	at := func(name string, external bool, events ...world.Event) world.Scenario {
		s := world.Scenario{Name: name, Seed: 7, Replicas: 3, Least: 1, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2, Speed: 5,
			External: external}
		return s.With(events...)
	}
	adoption := at("adoption of another provider's group", false, world.Event{What: world.Adopt})
	adoption.Adopted = true
	return append(rollouts(at), []world.Scenario{
		at("create", false),
		at("scale out", false, world.Event{What: world.Replicas, N: 6}),
		at("scale in", false, world.Event{What: world.Replicas, N: 1}),
		at("scale in, a node is marked", false, world.Event{What: world.Mark, N: 1}, world.Event{What: world.Replicas, N: 2}),
		at("scale in and out again", false, world.Event{What: world.Replicas, N: 1},
			world.Event{What: world.Replicas, N: 4, At: 4 * time.Second}),
		at("template change", false, world.Event{What: world.Template, N: 3}),
		at("token rotation", false, world.Event{What: world.Token}),
		at("group change", false, world.Event{What: world.GroupEdit, N: 4, M: 2}, world.Event{What: world.GroupEdit, N: 7, M: 3}),
		at("bounds change", false, world.Event{What: world.Bounds, N: 3, M: 4}),
		at("deletion", false, world.Event{What: world.Delete}),
		at("deletion with a budget in the way", false, world.Event{What: world.Block, N: 1}, world.Event{What: world.Delete, At: time.Second}),
		at("external: creation", true),
		at("external: the autoscaler grows the group", true, world.Event{What: world.Autoscaler, N: 5}),
		at("external: the autoscaler shrinks the group", true, world.Event{What: world.Autoscaler, N: 2}),
		at("external: template change", true, world.Event{What: world.Template, N: 3}),
		at("external begins", false, world.Event{What: world.External}, world.Event{What: world.Autoscaler, N: 5, At: time.Minute}),
		at("external ends", true, world.Event{What: world.Autoscaler, N: 5},
			world.Event{What: world.External, At: time.Minute},
			world.Event{What: world.Replicas, N: 2, At: 2 * time.Minute}),
		at("external: deletion", true, world.Event{What: world.Delete}),
		at("group deleted by hand", false, world.Event{What: world.HandDropGroup}),
		at("template deleted by hand", false, world.Event{What: world.HandDropTemplate}),
		adoption,
	}...)
}

// rollouts are the golden scenarios in which machines are replaced.
func rollouts(at func(string, bool, ...world.Event) world.Scenario) []world.Scenario {
	image := world.Event{What: world.Template, N: 3}
	by := func(surge, unavailable string, s world.Scenario) world.Scenario {
		s.Strategy = &world.Limits{Surge: surge, Unavailable: unavailable, Policy: "Oldest"}
		return s
	}
	refreshed := func(r world.Refresh, s world.Scenario) world.Scenario {
		s.Refresh, s.ByGroup = r, true
		return s
	}
	unnamed := func(r world.Refresh, s world.Scenario) world.Scenario {
		s.Refresh = r
		return s
	}
	spot := at("spot interruption", false, world.Event{What: world.HandInterrupt, N: 1})
	spot.Spot = true
	blocked := by("1", "0", at("rollout, a budget in the way of drains until their time is up", false,
		world.Event{What: world.Block, N: 9}, image))
	blocked.DrainTimeout = 2 * time.Minute
	return []world.Scenario{
		by("1", "0", at("rollout, surge 1", false, image)),
		by("0", "1", at("rollout, unavailable 1", false, image)),
		by("50%", "0", at("rollout, surge 50 %", false, image)),
		by("0", "50%", at("rollout, unavailable 50 %", false, image)),
		refreshed(world.Checkpoints, at("refresh with a checkpoint", false, image)),
		refreshed(world.Surplus, at("refresh, cancelled by hand and begun again", false, image,
			world.Event{What: HandCancel, At: 20 * time.Second})),
		by("1", "0", at("rollout, taken back in its midst", false, image, world.Event{What: world.Back, At: 20 * time.Second})),
		by("1", "1", at("rollout, held and let go on", false, image, world.Event{What: world.Hold, At: 10 * time.Second},
			world.Event{What: world.GoOn, At: time.Minute})),
		by("1", "0", at("restart", false, world.Event{What: world.RestartNow})),
		refreshed(world.Surplus, at("restart by refresh", false, world.Event{What: world.RestartNow})),
		by("1", "0", at("external: rollout", true, image, world.Event{What: world.Autoscaler, N: 4, At: 20 * time.Second})),
		unnamed(world.Surplus, at("rollout without a strategy, surge of preferences", false, image)),
		unnamed(world.Plain, at("rollout without a strategy to a bad image, halted and taken back", false, world.Event{What: world.BadTemplate},
			world.Event{What: world.Back, At: 45 * time.Minute})),
		spot, blocked,
		by("1", "0", at("rollout, scaled in meanwhile", false, image, world.Event{What: world.Replicas, N: 1, At: 10 * time.Second})),
		by("1", "1", at("rollout to a bad image, halted and taken back", false, world.Event{What: world.BadTemplate},
			world.Event{What: world.Back, At: 25 * time.Minute})),
		by("2", "0", at("rollout, deleted in its midst", false, image, world.Event{What: world.Delete, At: 15 * time.Second})),
	}
}
