package asg

import (
	"time"

	"github.com/muster-project/muster/test/explore/kinds/aws"
	"github.com/muster-project/muster/test/explore/script"
)

// events lists the events of the kind. An event is drawn as often as it is listed.
var events = append([]script.What{
	script.Replicas, script.Replicas, script.Replicas, script.Replicas, script.Bounds, script.Template, script.Template, script.Template,
	script.Template,
	script.Back, script.GroupEdit, script.GroupEdit, script.Token, script.Token, script.External, script.Autoscaler, script.Strategy,
	script.Strategy,
	script.BadTemplate, script.Hold, script.RestartNow, script.HandInterrupt, script.HandUnhealthy, HandRefresh, script.Mark, script.Mark,
	script.HandTerminate, script.HandTerminate, script.HandFail, script.HandResize, script.HandResize, script.HandTags, script.HandDisown,
	script.HandDisown,
	script.HandDisown, script.HandDropGroup, script.HandDropTemplate, script.HandBounds,
}, script.CommonEvents()...)

// actions are the calls that a fault may be for.
var actions = []string{
	"*", "*", "Describe*", "Create*", "Update*", "Terminate*", "Set*", "Delete*", "CreateLaunchTemplate*",
	"DescribeAutoScalingGroups", "DescribeLaunchTemplate*", "CreateAutoScalingGroup",
}

// drawn draws a scenario.
func drawn(d *script.Drawing) {
	d.DrawRolled(func() {
		if d.IntN(5) == 0 {
			d.Scenario.Add(script.Event{What: script.HandForeign, N: d.IntN(3)})
			d.Scenario.Add(script.Event{What: script.HandDropForeign, At: time.Minute + d.Moment()})
		}
	}, func() { aws.Versions(d, true) })
}

// follow has a user cancel a refresh that a user has begun.
func follow(d *script.Drawing, e script.Event) {
	if e.What == HandRefresh {
		d.Scenario.Add(script.Event{What: HandCancel, At: d.Later(e, 5, 300)})
	}
}

// Edit makes a scenario in which nothing goes wrong: a pool that has come to rest, and one edit by its users.
func Edit(seed uint64) script.Scenario { return Kind.DrawAs(seed, 0x65646974, edit) }

func edit(d *script.Drawing) {
	s := &d.Scenario
	s.Most, s.Speed, s.Ends = 8, []float64{1, 2, 5}[d.IntN(3)], script.Edited+script.After
	s.Replicas, s.Pods = d.IntN(8), d.IntN(4)
	s.External, s.SkipModel = d.IntN(6) == 0, d.IntN(12) == 0
	if d.IntN(4) > 0 {
		s.Strategy = d.Limits()
	} else {
		s.Refresh = []script.Refresh{script.Plain, script.Surplus, script.Disabled}[d.IntN(3)]
		s.ByGroup = s.Refresh != script.Disabled && d.IntN(2) == 0
	}
	edits := []script.Event{{What: script.Template, N: 2}, {What: script.Template, N: 4}, {What: script.Template, N: 7},
		{What: script.RestartNow},
		{What: script.RestartNow, N: 1}, {What: script.Token}}
	if d.IntN(4) == 0 && !s.External {
		edits = []script.Event{{What: script.Replicas, N: d.IntN(9), M: 1}}
	}
	e := edits[d.IntN(len(edits))]
	e.At = script.Edited
	s.Add(e)
}
