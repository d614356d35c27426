package world

import (
	"net/http"
	"time"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/sim"
)

// azureOnes are the golden scenarios of scale sets, those of both modes and those that differ in one.
func azureOnes() []Scenario {
	at := func(mode azurev1.OrchestrationModeType, name string, events ...Event) Scenario {
		s := Scenario{
			Name: "azure " + string(mode) + ": " + name, Mode: mode, Seed: 7, Replicas: 3, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2, Speed: 5, Zones: true,
			Strategy: &Limits{"1", "0", "Oldest"}, Events: events, Ends: Edited + after,
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
	elsewhere := func(s *Scenario) { s.External = true }
	spot := func(policy azurev1.SpotEvictionPolicy) func(*Scenario) {
		return func(s *Scenario) { s.Spot, s.Evicts = true, policy }
	}
	adopted := func(s *Scenario) { s.Adopted = true }
	image := Event{What: Template, N: 3}
	var list []Scenario
	for _, mode := range []azurev1.OrchestrationModeType{azurev1.UniformOrchestrationMode, azurev1.FlexibleOrchestrationMode} {
		list = append(
			list,
			at(mode, "create"),
			at(mode, "scale out", Event{What: Replicas, N: 6}),
			at(mode, "scale in", Event{What: Replicas, N: 1}),
			at(mode, "rollout, surge 1", image),
			with(at(mode, "rollout, unavailable 1", image), func(s *Scenario) { s.Strategy = &Limits{"0", "1", "Oldest"} }),
			at(mode, "in place: tags and extensions", Event{What: GroupEdit, N: 0, M: 1}, Event{What: GroupEdit, N: 4, M: 1, At: time.Minute}),
			at(mode, "a Machine is deleted", Event{What: DropMachine, N: 1}),
			with(at(mode, "external: rollout", image, Event{What: Autoscaler, N: 4, At: 20 * time.Second}), elsewhere),
			at(mode, "deletion", Event{What: Delete}),
			with(at(mode, "adoption of another provider's scale set", Event{What: Adopt}), adopted),
		)
	}
	unread := sim.Fault{Kind: sim.ErrorBefore, Action: "*List*", Code: "InternalError", Status: http.StatusInternalServerError}
	uniform, flexible := azurev1.UniformOrchestrationMode, azurev1.FlexibleOrchestrationMode
	return append(
		list,
		at(uniform, "scale in, a node is marked", Event{What: Mark, N: 1}, Event{What: Replicas, N: 2}),
		at(flexible, "scale in and out again", Event{What: Replicas, N: 1}, Event{What: Replicas, N: 4, At: 4 * time.Second}),
		at(flexible, "token rotation", Event{What: Token}),
		at(uniform, "rollout, taken back in its midst", image, Event{What: Back, At: 20 * time.Second}),
		at(flexible, "rollout, held and let go on", image, Event{What: Hold, At: 10 * time.Second}, Event{What: GoOn, At: time.Minute}),
		at(uniform, "rollout to a bad size, halted and taken back", Event{What: BadTemplate}, Event{What: Back, At: 25 * time.Minute}),
		at(flexible, "restart", Event{What: RestartNow}),
		with(at(uniform, "external: the autoscaler grows the scale set", Event{What: Autoscaler, N: 5}), elsewhere),
		with(at(uniform, "spot machine deallocated", Event{What: HandInterrupt, N: 1}), spot(azurev1.SpotEvictionPolicyDeallocate)),
		with(at(flexible, "spot machine deleted", Event{What: HandInterrupt, N: 1}), spot(azurev1.SpotEvictionPolicyDelete)),
		at(uniform, "a machine is powered off", Event{What: HandUnhealthy, N: 1}),
		at(flexible, "an infrastructure machine is deleted", Event{What: DropInfraMachine, N: 1}),
		at(flexible, "a restored Machine is deleted while the cloud cannot be read", Event{What: DropInfraMachine, N: 1}, Event{What: CloudFault, Fault: unread, At: 500 * time.Millisecond},
			Event{What: Restored, At: time.Second}, Event{What: DropMachine, At: 5 * time.Minute}, Event{What: Calm, At: 10 * time.Minute}),
		at(uniform, "protection taken away", Event{What: HandExpose, N: 1}),
		at(uniform, "no room, and room again", Event{What: HandQuota, N: 3}, Event{What: Replicas, N: 6, At: time.Second}, Event{What: HandHeal, At: 10 * time.Minute}),
		at(flexible, "scale set deleted by hand", Event{What: HandDropGroup}),
		at(uniform, "deletion with a budget in the way", Event{What: Block, N: 1}, Event{What: Delete, At: time.Second}),
	)
}
