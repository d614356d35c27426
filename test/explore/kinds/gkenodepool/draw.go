package gkenodepool

import (
	"net/http"
	"time"

	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/world"
)

// happenings are those of node pools.
var happenings = append([]world.What{
	world.Replicas, world.Replicas, world.Replicas, world.Replicas, world.Replicas, world.Bounds, world.Template, world.Template,
	world.Template,
	world.Back, world.GroupEdit, world.GroupEdit, world.GroupEdit, world.GroupEdit, world.GroupEdit, world.External, world.Autoscaler,
	world.Autoscaler,
	world.BadTemplate, world.RestartNow, world.RestartNow, world.Hold, world.Upgrade, world.Upgrade, world.Upgrade, world.Mark, world.Mark,
	world.HandTerminate, world.HandTerminate, world.HandFail, world.HandUnhealthy, world.HandResize, world.HandResize, world.HandTags,
	world.HandDisown,
	world.HandDisown, world.HandDropGroup, HandUpgrade, HandUpgrade, HandUpgrade, HandCancel, HandCancel, HandCancel, HandRepair, HandDelete,
	HandBusy, HandBusy, gcp.HandQuota,
}, world.Mishaps()...)

const (
	ofClusters = "projects.locations.clusters."
	ofPools    = ofClusters + "nodePools."
)

// actions are the calls that a fault may be for where node pools are.
var actions = []string{
	"*", "*", "projects.*", "instanceGroupManagers.*", ofPools + "*", ofPools + "create", ofPools + "update", ofPools + "update",
	ofPools + "setSize",
	ofPools + "setAutoscaling", ofPools + "delete", ofPools + "rollback", ofClusters + "get", ofClusters + "list",
	"projects.locations.operations.*",
	"instanceGroupManagers.resize", "instanceGroupManagers.deleteInstances", "instanceGroupManagers.deleteInstances",
	"instanceGroupManagers.*ist*",
	"*nstanceTemplates.get", "machineTypes.get",
}

// reads are calls that only read.
var reads = append([]string{ofClusters + "get", ofClusters + "list", "projects.locations.operations.*"}, gcp.Reads...)

// refusals are those of Compute Engine, and that of GKE while another operation runs.
func refusals() []world.Refusal {
	return append(gcp.Refusals(), world.Refusal{Code: "failedPrecondition", Status: http.StatusBadRequest})
}

// secondary is a read without which the rest of a node pool can be observed.
func secondary(s world.Scenario) string {
	return []string{"machineTypes.get", "*nstanceTemplates.get", "projects.locations.operations.*"}[s.Seed%3]
}

// drawn draws a scenario.
func drawn(d *world.Drawing) {
	s := &d.Scenario
	d.DrawManaged(func() { s.Own = Own{Zones: 1 + d.IntN(3), Upgrades: d.IntN(len(upgrades))} }, func() int { return d.IntN(3) }, func() {
		if d.IntN(8) == 0 {
			s.Add(world.Event{What: world.HandForeign})
			s.Add(world.Event{What: world.HandDropForeign, At: time.Minute + d.Moment()})
		}
	})
}

// Edit makes a scenario in which nothing goes wrong: a pool that has come to rest, and one edit by its users.
func Edit(seed uint64) world.Scenario { return Kind.DrawAs(seed, 0x65646974, oneEdit) }

func oneEdit(d *world.Drawing) {
	s := &d.Scenario
	s.Own, s.Speed = Own{Zones: 1 + d.IntN(3), Upgrades: d.IntN(len(upgrades))}, []float64{3, 5, 10}[d.IntN(3)]
	s.Most, s.Replicas, s.Pods, s.Ends = 8, d.IntN(8), d.IntN(4), world.Edited+world.After
	edits := []world.Event{
		{What: world.Template}, {What: world.Template, N: 2}, {What: world.Template, N: 5}, {What: world.Template, N: 7},
		{What: world.RestartNow}, {What: world.RestartNow, N: 1},
	}
	if d.IntN(3) == 0 {
		edits = []world.Event{{What: world.Replicas, N: d.IntN(9), M: 1}}
	}
	e := edits[d.IntN(len(edits))]
	e.At = world.Edited
	s.Add(e)
}
