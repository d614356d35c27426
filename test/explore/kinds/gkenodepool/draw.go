package gkenodepool

import (
	"net/http"
	"time"

	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/script"
)

// events are those of node pools.
var events = append([]script.What{
	script.Replicas, script.Replicas, script.Replicas, script.Replicas, script.Replicas, script.Bounds, script.Template, script.Template,
	script.Template,
	script.Back, script.GroupEdit, script.GroupEdit, script.GroupEdit, script.GroupEdit, script.GroupEdit, script.External, script.Autoscaler,
	script.Autoscaler,
	script.BadTemplate, script.RestartNow, script.RestartNow, script.Hold, script.Upgrade, script.Upgrade, script.Upgrade, script.Mark,
	script.Mark,
	script.HandTerminate, script.HandTerminate, script.HandFail, script.HandUnhealthy, script.HandResize, script.HandResize, script.HandTags,
	script.HandDisown,
	script.HandDisown, script.HandDropGroup, HandUpgrade, HandUpgrade, HandUpgrade, HandCancel, HandCancel, HandCancel, HandRepair, HandDelete,
	HandBusy, HandBusy, gcp.HandQuota,
}, script.CommonEvents()...)

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

// refusals returns the errors of Compute Engine, and that of GKE while another operation runs.
func refusals() []script.Refusal {
	return append(gcp.Refusals(), script.Refusal{Code: "failedPrecondition", Status: http.StatusBadRequest})
}

// secondary returns a read without which the rest of a node pool can be observed.
func secondary(s script.Scenario) string {
	return []string{"machineTypes.get", "*nstanceTemplates.get", "projects.locations.operations.*"}[s.Seed%3]
}

// drawn draws a scenario.
func drawn(d *script.Drawing) {
	s := &d.Scenario
	d.DrawManaged(func() { s.Own = Own{Zones: 1 + d.IntN(3), Upgrades: d.IntN(len(upgrades))} }, func() int { return d.IntN(3) }, func() {
		if d.IntN(8) == 0 {
			s.Add(script.Event{What: script.HandForeign})
			s.Add(script.Event{What: script.HandDropForeign, At: time.Minute + d.Moment()})
		}
	})
}

// Edit makes a scenario in which nothing goes wrong: a pool that has come to rest, and one edit by its users.
func Edit(seed uint64) script.Scenario { return Kind.DrawAs(seed, 0x65646974, oneEdit) }

func oneEdit(d *script.Drawing) {
	s := &d.Scenario
	s.Own, s.Speed = Own{Zones: 1 + d.IntN(3), Upgrades: d.IntN(len(upgrades))}, []float64{3, 5, 10}[d.IntN(3)]
	s.Most, s.Replicas, s.Pods, s.Ends = 8, d.IntN(8), d.IntN(4), script.Edited+script.After
	edits := []script.Event{
		{What: script.Template}, {What: script.Template, N: 2}, {What: script.Template, N: 5}, {What: script.Template, N: 7},
		{What: script.RestartNow}, {What: script.RestartNow, N: 1},
	}
	if d.IntN(3) == 0 {
		edits = []script.Event{{What: script.Replicas, N: d.IntN(9), M: 1}}
	}
	e := edits[d.IntN(len(edits))]
	e.At = script.Edited
	s.Add(e)
}
