package nodegroup

import (
	"github.com/muster-project/muster/test/explore/kinds/aws"
	"github.com/muster-project/muster/test/explore/world"
)

// happenings are those of managed node groups.
var happenings = append([]world.What{
	world.Replicas, world.Replicas, world.Replicas, world.Replicas, world.Bounds, world.Template, world.Template, world.Template,
	world.Template,
	world.Back, world.GroupEdit, world.GroupEdit, world.GroupEdit, world.Token, world.External, world.Autoscaler, world.Strategy,
	world.BadTemplate,
	world.RestartNow, world.HandInterrupt, world.HandUnhealthy, world.Upgrade, world.Upgrade, world.Mark, world.HandTerminate,
	world.HandTerminate,
	world.HandFail, world.HandResize, world.HandTags, HandLabels, HandLabels, HandRole, world.HandDisown, world.HandDropGroup,
	world.HandBounds, HandBreak, HandFailUpdate, HandFailEnding,
}, world.Mishaps()...)

// actions are the calls that a fault may be for where node groups are managed.
var actions = []string{
	"*", "*", "Describe*", "Create*", "Update*", "Terminate*", "Delete*", "CreateNodegroup", "UpdateNodegroup*", "DescribeNodegroup",
	"TagResource",
	"DescribeAutoScalingGroups", "DescribeLaunchTemplate*", "ListUpdates", "DescribeUpdate", "GetRole", "CreateRole", "AttachRolePolicy",
	"DeleteRole",
}

// drawn draws a scenario.
func drawn(d *world.Drawing) {
	d.DrawRolled(func() {
		d.Scenario.Refresh, d.Scenario.SkipModel = world.Plain, false
		d.Scenario.Own = Own{Bare: d.IntN(3) == 0, Roles: d.IntN(2) == 0}
	}, func() { aws.Versions(d, false) })
}

// follow has a user take back what is wrong with a node group.
func follow(d *world.Drawing, e world.Event) {
	if e.What == HandBreak || e.What == HandFailEnding {
		d.Scenario.Add(world.Event{What: world.HandHeal, At: d.Later(e, 10, 300)})
	}
}
