package agentpool

import (
	"math/rand/v2"
	"time"

	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/script"
)

// events are those of agent pools.
var events = append([]script.What{
	script.Replicas, script.Replicas, script.Replicas, script.Replicas, script.Replicas, script.Bounds, script.Template, script.Template,
	script.Template,
	script.Back, script.GroupEdit, script.GroupEdit, script.GroupEdit, script.GroupEdit, script.GroupEdit, script.External, script.Autoscaler,
	script.Autoscaler,
	script.BadTemplate, script.RestartNow, script.RestartNow, script.Hold, script.Upgrade, script.Upgrade, script.Upgrade, script.Mark,
	script.Mark,
	script.HandTerminate, script.HandTerminate, script.HandFail, script.HandUnhealthy, script.HandResize, script.HandResize, script.HandTags,
	script.HandDisown,
	script.HandDisown, script.HandDropGroup, HandUpgrade, HandUpgrade, HandUpgrade, HandStop, HandAbort, HandAbort, HandAbort, azure.HandQuota,
}, script.CommonEvents()...)

// actions are the calls that a fault may be for where agent pools are.
var actions = []string{
	"*", "*", "*_Get", "*_List*", "AgentPools_*", "AgentPools_CreateOrUpdate", "AgentPools_CreateOrUpdate", "AgentPools_DeleteMachines",
	"AgentPools_DeleteMachines",
	"AgentPools_Delete", "AgentPools_AbortLatestOperation", "ManagedClusters_Get", "ManagedClusters_Get", "VirtualMachineScaleSetVMs_List",
	"VirtualMachineScaleSets_List",
	"Operations_Get", "ResourceSkus_List",
}

// drawn draws a scenario.
func drawn(d *script.Drawing) {
	s, of := &d.Scenario, Own{Manifest: d.IntN(4) == 0}
	d.DrawManaged(func() {
		of.System = d.IntN(4) == 0
		s.Own = of
	}, func() int { return 1 }, func() {
		if d.IntN(2) == 0 {
			s.Strategy = []*script.Limits{{Surge: "1", Unavailable: "0"}, {Surge: "50%", Unavailable: "0"},
				{Surge: "0", Unavailable: "1"}}[d.IntN(3)]
		}
		if d.IntN(8) == 0 && !of.System {
			s.Add(script.Event{What: script.HandForeign})
			s.Add(script.Event{What: script.HandDropForeign, At: time.Minute + d.Moment()})
		}
	})
	later(d)
}

// later draws what came later, and changes nothing in scenarios without it: virtual machines by themselves, a newer node image,
// machines that keep their size, and spot machines.
func later(d *script.Drawing) {
	s, of := &d.Scenario, own(d.Scenario)
	r := rand.New(rand.NewPCG(s.Seed, 0x766d73))
	of.VMs = !of.Manifest && !of.System && !s.External && r.IntN(5) == 0
	if r.IntN(4) == 0 {
		s.Add(script.Event{What: NodeImage, At: time.Minute + time.Duration(r.Int64N(int64(d.Within))), N: r.IntN(3)})
	}
	_, _ = r.IntN(3), r.IntN(2) // so that seeds mean what they meant
	of.NoResize = r.IntN(6) == 0 && !of.VMs
	of.Spot = r.IntN(5) == 0 && !of.VMs && !of.System
	s.Own = of
}

// follow has a user start what was stopped, and take back a quota.
func follow(d *script.Drawing, e script.Event) {
	azure.Follow(d, e)
	if e.What == HandStop {
		d.Scenario.Add(script.Event{What: HandStart, At: d.Later(e, 10, 200)})
	}
}
