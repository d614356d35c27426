package nodegroup

import (
	"github.com/muster-project/muster/test/explore/kinds/aws"
	"github.com/muster-project/muster/test/explore/script"
)

// events are those of managed node groups.
var events = append([]script.What{
	script.Replicas, script.Replicas, script.Replicas, script.Replicas, script.Bounds, script.Template, script.Template, script.Template,
	script.Template,
	script.Back, script.GroupEdit, script.GroupEdit, script.GroupEdit, script.Token, script.External, script.Autoscaler, script.Strategy,
	script.BadTemplate,
	script.RestartNow, script.HandInterrupt, script.HandUnhealthy, script.Upgrade, script.Upgrade, script.Mark, script.HandTerminate,
	script.HandTerminate,
	script.HandFail, script.HandResize, script.HandTags, HandLabels, HandLabels, HandRole, script.HandDisown, script.HandDropGroup,
	script.HandBounds, HandBreak, HandFailUpdate, HandFailEnding,
}, script.CommonEvents()...)

// actions are the calls that a fault may be for where node groups are managed.
var actions = []string{
	"*", "*", "Describe*", "Create*", "Update*", "Terminate*", "Delete*", "CreateNodegroup", "UpdateNodegroup*", "DescribeNodegroup",
	"TagResource",
	"DescribeAutoScalingGroups", "DescribeLaunchTemplate*", "ListUpdates", "DescribeUpdate", "GetRole", "CreateRole", "AttachRolePolicy",
	"DeleteRole",
}

// drawn draws a scenario.
func drawn(d *script.Drawing) {
	d.DrawRolled(func() {
		d.Scenario.Refresh, d.Scenario.SkipModel = script.Plain, false
		d.Scenario.Own = Own{Bare: d.IntN(3) == 0, Roles: d.IntN(2) == 0}
	}, func() { aws.Versions(d, false) })
}

// follow draws the event in which a user clears a node group's issue.
func follow(d *script.Drawing, e script.Event) {
	if e.What == HandBreak || e.What == HandFailEnding {
		d.Scenario.Add(script.Event{What: script.HandHeal, At: d.Later(e, 10, 300)})
	}
}
