package asg

import (
	"time"

	"github.com/muster-project/muster/test/explore/script"
)

// golden returns the scenarios in which the manager is ended at every effect, one run an effect: what it was about must be
// there in the end, whenever it died.
func golden() []script.Scenario {
	at := func(name string, external bool, events ...script.Event) script.Scenario {
		s := script.Scenario{Name: name, Seed: 7, Replicas: 3, Least: 1, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2, Speed: 5,
			External: external}
		return s.With(events...)
	}
	adoption := at("adoption of another provider's group", false, script.Event{What: script.Adopt})
	adoption.Adopted = true
	return append(rollouts(at), []script.Scenario{
		at("create", false),
		at("scale out", false, script.Event{What: script.Replicas, N: 6}),
		at("scale in", false, script.Event{What: script.Replicas, N: 1}),
		at("scale in, a node is marked", false, script.Event{What: script.Mark, N: 1}, script.Event{What: script.Replicas, N: 2}),
		at("scale in and out again", false, script.Event{What: script.Replicas, N: 1},
			script.Event{What: script.Replicas, N: 4, At: 4 * time.Second}),
		at("template change", false, script.Event{What: script.Template, N: 3}),
		at("token rotation", false, script.Event{What: script.Token}),
		at("group change", false, script.Event{What: script.GroupEdit, N: 4, M: 2}, script.Event{What: script.GroupEdit, N: 7, M: 3}),
		at("bounds change", false, script.Event{What: script.Bounds, N: 3, M: 4}),
		at("deletion", false, script.Event{What: script.Delete}),
		at("deletion with a budget in the way", false, script.Event{What: script.Block, N: 1}, script.Event{What: script.Delete,
			At: time.Second}),
		at("external: creation", true),
		at("external: the autoscaler grows the group", true, script.Event{What: script.Autoscaler, N: 5}),
		at("external: the autoscaler shrinks the group", true, script.Event{What: script.Autoscaler, N: 2}),
		at("external: template change", true, script.Event{What: script.Template, N: 3}),
		at("external begins", false, script.Event{What: script.External}, script.Event{What: script.Autoscaler, N: 5, At: time.Minute}),
		at("external ends", true, script.Event{What: script.Autoscaler, N: 5},
			script.Event{What: script.External, At: time.Minute},
			script.Event{What: script.Replicas, N: 2, At: 2 * time.Minute}),
		at("external: deletion", true, script.Event{What: script.Delete}),
		at("group deleted by hand", false, script.Event{What: script.HandDropGroup}),
		at("template deleted by hand", false, script.Event{What: script.HandDropTemplate}),
		adoption,
	}...)
}

// rollouts returns the golden scenarios in which machines are replaced.
func rollouts(at func(string, bool, ...script.Event) script.Scenario) []script.Scenario {
	image := script.Event{What: script.Template, N: 3}
	by := func(surge, unavailable string, s script.Scenario) script.Scenario {
		s.Strategy = &script.Limits{Surge: surge, Unavailable: unavailable, Policy: "Oldest"}
		return s
	}
	refreshed := func(r script.Refresh, s script.Scenario) script.Scenario {
		s.Refresh, s.ByGroup = r, true
		return s
	}
	unnamed := func(r script.Refresh, s script.Scenario) script.Scenario {
		s.Refresh = r
		return s
	}
	spot := at("spot interruption", false, script.Event{What: script.HandInterrupt, N: 1})
	spot.Spot = true
	blocked := by("1", "0", at("rollout, a budget in the way of drains until their time is up", false,
		script.Event{What: script.Block, N: 9}, image))
	blocked.DrainTimeout = 2 * time.Minute
	return []script.Scenario{
		by("1", "0", at("rollout, surge 1", false, image)),
		by("0", "1", at("rollout, unavailable 1", false, image)),
		by("50%", "0", at("rollout, surge 50 %", false, image)),
		by("0", "50%", at("rollout, unavailable 50 %", false, image)),
		refreshed(script.Checkpoints, at("refresh with a checkpoint", false, image)),
		refreshed(script.Surplus, at("refresh, cancelled by hand and begun again", false, image,
			script.Event{What: HandCancel, At: 20 * time.Second})),
		by("1", "0", at("rollout, taken back in its midst", false, image, script.Event{What: script.Back, At: 20 * time.Second})),
		by("1", "1", at("rollout, held and let go on", false, image, script.Event{What: script.Hold, At: 10 * time.Second},
			script.Event{What: script.GoOn, At: time.Minute})),
		by("1", "0", at("restart", false, script.Event{What: script.RestartNow})),
		refreshed(script.Surplus, at("restart by refresh", false, script.Event{What: script.RestartNow})),
		by("1", "0", at("external: rollout", true, image, script.Event{What: script.Autoscaler, N: 4, At: 20 * time.Second})),
		unnamed(script.Surplus, at("rollout without a strategy, surge of preferences", false, image)),
		unnamed(script.Plain, at("rollout without a strategy to a bad image, halted and taken back", false,
			script.Event{What: script.BadTemplate},
			script.Event{What: script.Back, At: 45 * time.Minute})),
		spot, blocked,
		by("1", "0", at("rollout whose canary fails, gone back and tried again", false, image)).GoesBack(),
		by("0", "1", at("rollout, a machine goes into quarantine", false, image)).Quarantines(),
		by("1", "0", at("rollout, scaled in meanwhile", false, image, script.Event{What: script.Replicas, N: 1, At: 10 * time.Second})),
		by("1", "1", at("rollout to a bad image, halted and taken back", false, script.Event{What: script.BadTemplate},
			script.Event{What: script.Back, At: 25 * time.Minute})),
		by("2", "0", at("rollout, deleted in its midst", false, image, script.Event{What: script.Delete, At: 15 * time.Second})),
	}
}
