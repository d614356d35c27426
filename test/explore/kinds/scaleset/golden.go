package scaleset

import (
	"net/http"
	"time"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/script"
)

// image is an edit of the template that asks for another size.
var image = script.Event{What: script.Template, N: 7}

// elsewhere gives the size of a scenario's pool to an external autoscaler.
func elsewhere(s *script.Scenario) { s.External = true }

// spot makes the machines of a scenario spot machines that are evicted so.
func spot(policy azurev1.SpotEvictionPolicy) func(*script.Scenario) {
	return func(s *script.Scenario) { s.Spot, s.Own = true, Own{Mode: own(*s).Mode, Evicts: policy} }
}

// golden returns the golden scenarios of scale sets, those of both modes and those that differ in one.
func golden() []script.Scenario {
	with := script.Scenario.Changed
	at := func(mode azurev1.OrchestrationModeType, name string, events ...script.Event) script.Scenario {
		s := script.Scenario{
			Name: "azure " + string(mode) + ": " + name, Own: Own{Mode: mode}, Seed: 7, Replicas: 3, Most: 8, DrainTimeout: 10 * time.Minute,
			Pods: 2, Speed: 5, Zones: true,
			Strategy: &script.Limits{Surge: "1", Unavailable: "0", Policy: "Oldest"},
		}
		return s.With(events...)
	}
	adopted := func(s *script.Scenario) { s.Adopted = true }
	var list []script.Scenario
	for _, mode := range []azurev1.OrchestrationModeType{azurev1.UniformOrchestrationMode, azurev1.FlexibleOrchestrationMode} {
		list = append(
			list,
			at(mode, "create"),
			at(mode, "scale out", script.Event{What: script.Replicas, N: 6}),
			at(mode, "scale in", script.Event{What: script.Replicas, N: 1}),
			at(mode, "rollout, surge 1", image),
			with(at(mode, "rollout, unavailable 1", image),
				func(s *script.Scenario) { s.Strategy = &script.Limits{Surge: "0", Unavailable: "1", Policy: "Oldest"} }),
			at(mode, "in place: tags and extensions", script.Event{What: script.GroupEdit, N: 0, M: 1},
				script.Event{What: script.GroupEdit, N: 4, M: 1, At: time.Minute}),
			at(mode, "a Machine is deleted", script.Event{What: script.DropMachine, N: 1}),
			// An autoscaler that sets the size in a surge can't be told from the surge.
			with(at(mode, "external: rollout, then the group grows", image,
				script.Event{What: script.Autoscaler, N: 4, At: 15 * time.Minute}), elsewhere),
			at(mode, "deletion", script.Event{What: script.Delete}),
			with(at(mode, "adoption of another provider's scale set", script.Event{What: script.Adopt}), adopted),
		)
	}
	return append(list, particular(at)...)
}

// particular returns the scenarios of one orchestration mode each.
func particular(at func(azurev1.OrchestrationModeType, string, ...script.Event) script.Scenario) []script.Scenario {
	with := script.Scenario.Changed
	unread := sim.Fault{Kind: sim.ErrorBefore, Action: "*List*", Code: "InternalError", Status: http.StatusInternalServerError}
	uniform, flexible := azurev1.UniformOrchestrationMode, azurev1.FlexibleOrchestrationMode
	return []script.Scenario{
		at(uniform, "scale in, a node is marked", script.Event{What: script.Mark, N: 1}, script.Event{What: script.Replicas, N: 2}),
		at(flexible, "scale in and out again", script.Event{What: script.Replicas, N: 1},
			script.Event{What: script.Replicas, N: 4, At: 4 * time.Second}),
		at(flexible, "token rotation", script.Event{What: script.Token}),
		at(uniform, "rollout, taken back in its midst", image, script.Event{What: script.Back, At: 20 * time.Second}),
		at(flexible, "rollout, held and let go on", image, script.Event{What: script.Hold, At: 10 * time.Second},
			script.Event{What: script.GoOn, At: time.Minute}),
		at(uniform, "rollout to a bad size, halted and taken back", script.Event{What: script.BadTemplate},
			script.Event{What: script.Back, At: 25 * time.Minute}),
		at(uniform, "rollout whose canary fails, gone back and tried again", image).GoesBack(),
		at(flexible, "restart", script.Event{What: script.RestartNow}),
		with(at(uniform, "external: the autoscaler grows the scale set", script.Event{What: script.Autoscaler, N: 5}), elsewhere),
		with(at(uniform, "spot machine deallocated", script.Event{What: script.HandInterrupt, N: 1}), spot(azurev1.SpotEvictionPolicyDeallocate)),
		with(at(flexible, "spot machine deleted", script.Event{What: script.HandInterrupt, N: 1}), spot(azurev1.SpotEvictionPolicyDelete)),
		at(uniform, "a machine is powered off", script.Event{What: script.HandUnhealthy, N: 1}),
		at(flexible, "an infrastructure machine is deleted", script.Event{What: script.DropInfraMachine, N: 1}),
		at(flexible, "a restored Machine is deleted while the cloud cannot be read", script.Event{What: script.DropInfraMachine, N: 1},
			script.Event{What: script.CloudFault, Fault: unread, At: 500 * time.Millisecond},
			script.Event{What: script.Restored, At: time.Second},
			script.Event{What: script.DropMachine, At: 5 * time.Minute},
			script.Event{What: script.Calm, At: 10 * time.Minute}),
		at(uniform, "protection taken away", script.Event{What: HandExpose, N: 1}),
		at(uniform, "no room, and room again", script.Event{What: azure.HandQuota, N: 3},
			script.Event{What: script.Replicas, N: 6, At: time.Second},
			script.Event{What: script.HandHeal, At: 10 * time.Minute}),
		at(flexible, "scale set deleted by hand", script.Event{What: script.HandDropGroup}),
		at(uniform, "deletion with a budget in the way", script.Event{What: script.Block, N: 1}, script.Event{What: script.Delete,
			At: time.Second}),
	}
}
