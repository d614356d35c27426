package world

import (
	"slices"
	"time"
)

// Edited is when what a golden scenario is about happens: the pool has come to rest by then. Its creation happens at once.
const Edited = 10 * time.Minute

// Golden are the scenarios in which the manager is ended at every effect, one run an effect: what it was about must be
// there in the end, whenever it died.
func Golden() []Scenario {
	at := func(name string, external bool, events ...Event) Scenario {
		s := Scenario{
			Name: name, Seed: 7, Replicas: 3, Least: 1, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2, Speed: 5, External: external,
			Events: events, Ends: Edited + after,
		}
		for k := range s.Events {
			s.Events[k].At += Edited
			s.Ends = max(s.Ends, s.Events[k].At+after)
		}
		return s
	}
	adoption := at("adoption of another provider's group", false, Event{What: Adopt})
	adoption.Adopted = true
	return slices.Concat(rollouts(at), managedOnes(), azureOnes(), aksOnes(), []Scenario{
		at("create", false),
		at("scale out", false, Event{What: Replicas, N: 6}),
		at("scale in", false, Event{What: Replicas, N: 1}),
		at("scale in, a node is marked", false, Event{What: Mark, N: 1}, Event{What: Replicas, N: 2}),
		at("scale in and out again", false, Event{What: Replicas, N: 1}, Event{What: Replicas, N: 4, At: 4 * time.Second}),
		at("template change", false, Event{What: Template, N: 3}),
		at("token rotation", false, Event{What: Token}),
		at("group change", false, Event{What: GroupEdit, N: 4, M: 2}, Event{What: GroupEdit, N: 7, M: 3}),
		at("bounds change", false, Event{What: Bounds, N: 3, M: 4}),
		at("deletion", false, Event{What: Delete}),
		at("deletion with a budget in the way", false, Event{What: Block, N: 1}, Event{What: Delete, At: time.Second}),
		at("external: creation", true),
		at("external: the autoscaler grows the group", true, Event{What: Autoscaler, N: 5}),
		at("external: the autoscaler shrinks the group", true, Event{What: Autoscaler, N: 2}),
		at("external: template change", true, Event{What: Template, N: 3}),
		at("external begins", false, Event{What: External}, Event{What: Autoscaler, N: 5, At: time.Minute}),
		at("external ends", true, Event{What: Autoscaler, N: 5}, Event{What: External, At: time.Minute}, Event{What: Replicas, N: 2, At: 2 * time.Minute}),
		at("external: deletion", true, Event{What: Delete}),
		at("group deleted by hand", false, Event{What: HandDropGroup}),
		at("template deleted by hand", false, Event{What: HandDropTemplate}),
		adoption,
	})
}

// rollouts are the golden scenarios in which machines are replaced.
func rollouts(at func(string, bool, ...Event) Scenario) []Scenario {
	image := Event{What: Template, N: 3}
	by := func(surge, unavailable string, s Scenario) Scenario {
		s.Strategy = &Limits{surge, unavailable, "Oldest"}
		return s
	}
	refreshed := func(r Refresh, s Scenario) Scenario {
		s.Refresh = r
		return s
	}
	spot := at("spot interruption", false, Event{What: HandInterrupt, N: 1})
	spot.Spot = true
	blocked := by("1", "0", at("rollout, a budget in the way of drains until their time is up", false, Event{What: Block, N: 9}, image))
	blocked.DrainTimeout = 2 * time.Minute
	return []Scenario{
		by("1", "0", at("rollout, surge 1", false, image)),
		by("0", "1", at("rollout, unavailable 1", false, image)),
		by("50%", "0", at("rollout, surge 50 %", false, image)),
		by("0", "50%", at("rollout, unavailable 50 %", false, image)),
		refreshed(Checkpoints, at("refresh with a checkpoint", false, image)),
		refreshed(Surplus, at("refresh, cancelled by hand and begun again", false, image, Event{What: HandCancel, At: 20 * time.Second})),
		by("1", "0", at("rollout, taken back in its midst", false, image, Event{What: Back, At: 20 * time.Second})),
		by("1", "1", at("rollout, held and let go on", false, image, Event{What: Hold, At: 10 * time.Second}, Event{What: GoOn, At: time.Minute})),
		by("1", "0", at("restart", false, Event{What: RestartNow})),
		refreshed(Surplus, at("restart by refresh", false, Event{What: RestartNow})),
		by("1", "0", at("external: rollout", true, image, Event{What: Autoscaler, N: 4, At: 20 * time.Second})),
		spot, blocked,
		by("1", "0", at("rollout, scaled in meanwhile", false, image, Event{What: Replicas, N: 1, At: 10 * time.Second})),
		by("1", "1", at("rollout to a bad image, halted and taken back", false, Event{What: BadTemplate}, Event{What: Back, At: 25 * time.Minute})),
		by("2", "0", at("rollout, deleted in its midst", false, image, Event{What: Delete, At: 15 * time.Second})),
	}
}

// Counted is from when on the effects of a golden scenario count.
func (s Scenario) Counted() time.Duration {
	if len(s.Events) == 0 {
		return 0
	}
	return Edited
}
