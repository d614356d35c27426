package scaleset

import (
	"net/http"
	"time"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/world"
)

// image is an edit of the template that asks for another image.
var image = world.Event{What: world.Template, N: 3}

// elsewhere gives the size of a scenario's pool to an external autoscaler.
func elsewhere(s *world.Scenario) { s.External = true }

// spot makes the machines of a scenario spot machines that are evicted so.
func spot(policy azurev1.SpotEvictionPolicy) func(*world.Scenario) {
	return func(s *world.Scenario) { s.Spot, s.Own = true, Own{Mode: own(*s).Mode, Evicts: policy} }
}

// golden are the golden scenarios of scale sets, those of both modes and those that differ in one.
func golden() []world.Scenario {
	with := world.Scenario.Changed
	at := func(mode azurev1.OrchestrationModeType, name string, events ...world.Event) world.Scenario {
		s := world.Scenario{
			Name: "azure " + string(mode) + ": " + name, Own: Own{Mode: mode}, Seed: 7, Replicas: 3, Most: 8, DrainTimeout: 10 * time.Minute,
			Pods: 2, Speed: 5, Zones: true,
			Strategy: &world.Limits{Surge: "1", Unavailable: "0", Policy: "Oldest"},
		}
		return s.With(events...)
	}
	adopted := func(s *world.Scenario) { s.Adopted = true }
	var list []world.Scenario
	for _, mode := range []azurev1.OrchestrationModeType{azurev1.UniformOrchestrationMode, azurev1.FlexibleOrchestrationMode} {
		list = append(
			list,
			at(mode, "create"),
			at(mode, "scale out", world.Event{What: world.Replicas, N: 6}),
			at(mode, "scale in", world.Event{What: world.Replicas, N: 1}),
			at(mode, "rollout, surge 1", image),
			with(at(mode, "rollout, unavailable 1", image),
				func(s *world.Scenario) { s.Strategy = &world.Limits{Surge: "0", Unavailable: "1", Policy: "Oldest"} }),
			at(mode, "in place: tags and extensions", world.Event{What: world.GroupEdit, N: 0, M: 1},
				world.Event{What: world.GroupEdit, N: 4, M: 1, At: time.Minute}),
			at(mode, "a Machine is deleted", world.Event{What: world.DropMachine, N: 1}),
			with(at(mode, "external: rollout", image, world.Event{What: world.Autoscaler, N: 4, At: 20 * time.Second}), elsewhere),
			at(mode, "deletion", world.Event{What: world.Delete}),
			with(at(mode, "adoption of another provider's scale set", world.Event{What: world.Adopt}), adopted),
		)
	}
	return append(list, particular(at)...)
}

// particular are the scenarios of one orchestration mode each.
func particular(at func(azurev1.OrchestrationModeType, string, ...world.Event) world.Scenario) []world.Scenario {
	with := world.Scenario.Changed
	unread := sim.Fault{Kind: sim.ErrorBefore, Action: "*List*", Code: "InternalError", Status: http.StatusInternalServerError}
	uniform, flexible := azurev1.UniformOrchestrationMode, azurev1.FlexibleOrchestrationMode
	return []world.Scenario{
		at(uniform, "scale in, a node is marked", world.Event{What: world.Mark, N: 1}, world.Event{What: world.Replicas, N: 2}),
		at(flexible, "scale in and out again", world.Event{What: world.Replicas, N: 1},
			world.Event{What: world.Replicas, N: 4, At: 4 * time.Second}),
		at(flexible, "token rotation", world.Event{What: world.Token}),
		at(uniform, "rollout, taken back in its midst", image, world.Event{What: world.Back, At: 20 * time.Second}),
		at(flexible, "rollout, held and let go on", image, world.Event{What: world.Hold, At: 10 * time.Second},
			world.Event{What: world.GoOn, At: time.Minute}),
		at(uniform, "rollout to a bad size, halted and taken back", world.Event{What: world.BadTemplate},
			world.Event{What: world.Back, At: 25 * time.Minute}),
		at(flexible, "restart", world.Event{What: world.RestartNow}),
		with(at(uniform, "external: the autoscaler grows the scale set", world.Event{What: world.Autoscaler, N: 5}), elsewhere),
		with(at(uniform, "spot machine deallocated", world.Event{What: world.HandInterrupt, N: 1}), spot(azurev1.SpotEvictionPolicyDeallocate)),
		with(at(flexible, "spot machine deleted", world.Event{What: world.HandInterrupt, N: 1}), spot(azurev1.SpotEvictionPolicyDelete)),
		at(uniform, "a machine is powered off", world.Event{What: world.HandUnhealthy, N: 1}),
		at(flexible, "an infrastructure machine is deleted", world.Event{What: world.DropInfraMachine, N: 1}),
		at(flexible, "a restored Machine is deleted while the cloud cannot be read", world.Event{What: world.DropInfraMachine, N: 1},
			world.Event{What: world.CloudFault, Fault: unread, At: 500 * time.Millisecond},
			world.Event{What: world.Restored, At: time.Second},
			world.Event{What: world.DropMachine, At: 5 * time.Minute},
			world.Event{What: world.Calm, At: 10 * time.Minute}),
		at(uniform, "protection taken away", world.Event{What: HandExpose, N: 1}),
		at(uniform, "no room, and room again", world.Event{What: azure.HandQuota, N: 3},
			world.Event{What: world.Replicas, N: 6, At: time.Second},
			world.Event{What: world.HandHeal, At: 10 * time.Minute}),
		at(flexible, "scale set deleted by hand", world.Event{What: world.HandDropGroup}),
		at(uniform, "deletion with a budget in the way", world.Event{What: world.Block, N: 1}, world.Event{What: world.Delete, At: time.Second}),
	}
}
