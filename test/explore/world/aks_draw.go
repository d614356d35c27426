package world

import (
	"math/rand/v2"
	"time"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
)

// The kinds of objects of agent pools.
const (
	kindManaged AgentPoolKind = aksv1.AzureManagedMachinePoolKind
	kindASO     AgentPoolKind = aksv1.AzureASOManagedMachinePoolKind
)

// aksOneIn is of how many seeds one stands for an agent pool of AKS.
const aksOneIn = 8

// drawsAKS reports whether a seed stands for an agent pool of AKS. The scenarios of the other seeds do not depend on it.
func drawsAKS(seed uint64) bool { return rand.New(rand.NewPCG(seed, 0x616b7300)).IntN(aksOneIn) == 0 }

// aksHappenings are those of agent pools.
var aksHappenings = []What{
	Replicas, Replicas, Replicas, Replicas, Replicas, Bounds, Template, Template, Template, Back, GroupEdit, GroupEdit, GroupEdit, GroupEdit, GroupEdit,
	External, Autoscaler, Autoscaler, BadTemplate, RestartNow, RestartNow, Hold, Upgrade, Upgrade, Upgrade,
	Mark, Mark, HandTerminate, HandTerminate, HandFail, HandUnhealthy, HandResize, HandResize, HandTags, HandDisown, HandDisown, HandDropGroup,
	HandUpgrade, HandUpgrade, HandUpgrade, HandStop, HandAbort, HandAbort, HandAbort, HandQuota,
	Restart, Crash, Crash, Crash, Away, Block, Unready, Nudge, Nudge, Lag, Lag, Deaf, Rival, Meet, Meet, Pause,
}

// aksActions are the calls that a fault may be for where agent pools are.
var aksActions = []string{
	"*", "*", "*_Get", "*_List*", "AgentPools_*", "AgentPools_CreateOrUpdate", "AgentPools_CreateOrUpdate", "AgentPools_DeleteMachines", "AgentPools_DeleteMachines",
	"AgentPools_Delete", "AgentPools_AbortLatestOperation", "ManagedClusters_Get", "ManagedClusters_Get", "VirtualMachineScaleSetVMs_List", "VirtualMachineScaleSets_List",
	"Operations_Get", "ResourceSkus_List",
}

// DrawAKS makes the scenario of an agent pool of AKS for a seed.
func DrawAKS(seed uint64) Scenario {
	d := drawing{Rand: rand.New(rand.NewPCG(seed, 0x616b73)), s: Scenario{Seed: seed, AgentPool: kindManaged}, happenings: aksHappenings, actions: aksActions}
	s := &d.s
	if d.IntN(4) == 0 {
		s.AgentPool = kindASO
	}
	d.within = time.Duration([]int{4, 6, 10, 15}[d.IntN(4)]) * time.Minute
	s.Ends = d.within + after
	s.System, s.Speed = d.IntN(4) == 0, []float64{3, 5, 10}[d.IntN(3)]
	s.Least = 1
	s.Most = s.Least + 1 + d.IntN(4)
	s.Replicas = s.Least + d.IntN(s.Most-s.Least+1)
	s.External = d.IntN(6) == 0
	s.DrainTimeout = []time.Duration{0, 2 * time.Minute, 10 * time.Minute}[d.IntN(3)]
	s.Pods = d.IntN(4)
	if d.IntN(2) == 0 {
		s.Strategy = []*Limits{{Surge: "1", Unavailable: "0"}, {Surge: "50%", Unavailable: "0"}, {Surge: "0", Unavailable: "1"}}[d.IntN(3)]
	}
	if d.IntN(8) == 0 && !s.System {
		s.add(Event{What: HandForeign})
		s.add(Event{What: HandDropForeign, At: time.Minute + d.moment()})
	}
	for range 1 + d.IntN(6) {
		d.happening()
	}
	for range 2 + d.IntN(3) {
		d.cloudFault()
	}
	for range d.IntN(4) {
		d.serverFault()
	}
	if d.IntN(4) == 0 {
		s.add(Event{What: Delete, At: []time.Duration{d.moment(), d.moment(), s.Ends}[d.IntN(3)]})
	}
	d.ignored()
	d.outside()
	s.sort()
	return *s
}
