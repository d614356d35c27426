package asg

import (
	"time"

	"github.com/muster-project/muster/test/explore/kinds/aws"
	"github.com/muster-project/muster/test/explore/world"
)

// happenings are what people, programs and bad luck do, each as often as it is named.
var happenings = append([]world.What{
	world.Replicas, world.Replicas, world.Replicas, world.Replicas, world.Bounds, world.Template, world.Template, world.Template,
	world.Template,
	world.Back, world.GroupEdit, world.GroupEdit, world.Token, world.Token, world.External, world.Autoscaler, world.Strategy, world.Strategy,
	world.BadTemplate, world.Hold, world.RestartNow, world.HandInterrupt, world.HandUnhealthy, HandRefresh, world.Mark, world.Mark,
	world.HandTerminate, world.HandTerminate, world.HandFail, world.HandResize, world.HandResize, world.HandTags, world.HandDisown,
	world.HandDisown,
	world.HandDisown, world.HandDropGroup, world.HandDropTemplate, world.HandBounds,
}, world.Mishaps()...)

// actions are the calls that a fault may be for.
var actions = []string{
	"*", "*", "Describe*", "Create*", "Update*", "Terminate*", "Set*", "Delete*", "CreateLaunchTemplate*",
	"DescribeAutoScalingGroups", "DescribeLaunchTemplate*", "CreateAutoScalingGroup",
}

// drawn draws a scenario.
func drawn(d *world.Drawing) {
	d.DrawRolled(func() {
		if d.IntN(5) == 0 {
			d.Scenario.Add(world.Event{What: world.HandForeign, N: d.IntN(3)})
			d.Scenario.Add(world.Event{What: world.HandDropForeign, At: time.Minute + d.Moment()})
		}
	}, func() { aws.Versions(d, true) })
}

// follow has a user cancel a refresh that a user has begun.
func follow(d *world.Drawing, e world.Event) {
	if e.What == HandRefresh {
		d.Scenario.Add(world.Event{What: HandCancel, At: d.Later(e, 5, 300)})
	}
}

// Edit makes a scenario in which nothing goes wrong: a pool that has come to rest, and one edit by its users.
func Edit(seed uint64) world.Scenario { return Kind.DrawAs(seed, 0x65646974, edit) }

func edit(d *world.Drawing) {
	s := &d.Scenario
	s.Most, s.Speed, s.Ends = 8, []float64{1, 2, 5}[d.IntN(3)], world.Edited+world.After
	s.Replicas, s.Pods = d.IntN(8), d.IntN(4)
	s.External, s.SkipModel = d.IntN(6) == 0, d.IntN(12) == 0
	if d.IntN(4) > 0 {
		s.Strategy = d.Limits()
	} else {
		s.Refresh = []world.Refresh{world.Plain, world.Surplus, world.Disabled}[d.IntN(3)]
		s.ByGroup = s.Refresh != world.Disabled && d.IntN(2) == 0
	}
	edits := []world.Event{{What: world.Template, N: 2}, {What: world.Template, N: 4}, {What: world.Template, N: 7}, {What: world.RestartNow},
		{What: world.RestartNow, N: 1}, {What: world.Token}}
	if d.IntN(4) == 0 && !s.External {
		edits = []world.Event{{What: world.Replicas, N: d.IntN(9), M: 1}}
	}
	e := edits[d.IntN(len(edits))]
	e.At = world.Edited
	s.Add(e)
}
