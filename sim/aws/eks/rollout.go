package eks

import (
	"maps"
	"slices"
	"time"

	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/managed"
)

// advanceRoll takes an update of the version a step further. It goes through its phases in the order of the documentation; what
// becomes of a group whose update has failed is not documented: here it goes back to the version from before, as its
// description says, and to its size, by the newest nodes.
func (r *Rollouts) advanceRoll(n *Nodegroup, g *autoscaling.Group, u *Update) {
	if g == nil || g.Deleting {
		r.updates.finish(n, u, []eks.ErrorDetail{{ErrorCode: "Unknown", ErrorMessage: missingGroup(n).Message, ResourceIds: []string{n.Behind}}})
		return
	}
	switch n.Roll.Phase {
	case rollSetUp:
		r.setUp(n, g, u)
	case rollScaleUp:
		r.scaleUp(n, g, u)
	case rollUpgrade:
		r.upgrade(n, g, u)
	case rollScaleDown:
		r.scaleDown(n, g, u)
	}
}

// setUp makes the version of EKS's template that is wanted, lets the group launch from it and, where new nodes come first, grow.
func (r *Rollouts) setUp(n *Nodegroup, g *autoscaling.Group, u *Update) {
	roll, c, t := n.Roll, r.clusters.Rows.Get(n.Cluster()), r.templates.Rows.Get(n.Template)
	if issue := r.nodegroups.sourceIssue(roll.Goal); issue != nil {
		r.Abort(n, g, u, eks.ErrorDetail{ErrorCode: "Unknown", ErrorMessage: issue.Message, ResourceIds: issue.ResourceIds})
		return
	}
	if t == nil {
		r.Abort(n, g, u, eks.ErrorDetail{ErrorCode: "Unknown",
			ErrorMessage: new("The launch template of the Auto Scaling group could not be found."), ResourceIds: []string{n.Template}})
		return
	}
	roll.To = r.versionFor(n, roll.Goal)
	if roll.To == "" {
		roll.To = shapes.Itoa(r.templates.AddVersion(t, r.backing.merged(c, n, roll.Goal), "").Number)
		n.Launched[roll.To] = roll.Goal
	}
	r.backing.launchFromVersion(n, g, roll.To)
	roll.Phase = rollUpgrade
	roll.Until = r.Now.Add(r.Life(lifeJoinLimit))
	roll.Desired = *g.Spec.DesiredCapacity
	if n.Shape.UpdateConfig.UpdateStrategy != "MINIMAL" && len(r.old(n, g)) > 0 {
		roll.Phase = rollScaleUp
		roll.Extra = int32(max(2*len(g.Spec.AvailabilityZones), r.parallel(n)))
		r.backing.resizeGroup(g, roll.Min, roll.Desired+roll.Extra, max(roll.Max, roll.Desired+roll.Extra))
	}
}

// versionFor is the version of EKS's template that makes such machines, "" where there is none yet. Nodes that an update has brought
// before it failed are thus not replaced by the next.
func (r *Rollouts) versionFor(n *Nodegroup, spec machineSpec) string {
	for _, number := range slices.Sorted(maps.Keys(n.Launched)) {
		if n.Launched[number] == spec && r.templates.Versions.Get(ec2.VersionKey(n.Template, int64(shapes.Atoi(number)))) != nil {
			return number
		}
	}
	return ""
}

// parallel returns the number of nodes that may be missing at a time.
func (r *Rollouts) parallel(n *Nodegroup) int {
	c := n.Shape.UpdateConfig
	count := int(shapes.Val(c.MaxUnavailable))
	if p := c.MaxUnavailablePercentage; p != nil {
		count = int(n.Roll.Desired) * int(*p) / 100
	}
	return min(max(1, count), maxUnavailableNodes)
}

// old are the members of other versions than the wanted one, by chance: "It randomly selects a node".
func (r *Rollouts) old(n *Nodegroup, g *autoscaling.Group) []*autoscaling.Member {
	out := slices.DeleteFunc(r.members.MembersOf(g),
		func(m *autoscaling.Member) bool { return m.Leaving() || r.lifecycle.isOf(n, m, n.Roll.To) })
	slices.SortStableFunc(out, func(a, b *autoscaling.Member) int {
		if r.scaling.Lot(a) < r.scaling.Lot(b) {
			return -1
		}
		return 1
	})
	return out
}

// scaleUp waits until the new nodes are Ready, and then closes the old ones to new pods.
func (r *Rollouts) scaleUp(n *Nodegroup, g *autoscaling.Group, u *Update) {
	if r.fresh(n, g) < int(n.Roll.Extra) {
		if core.Due(n.Roll.Until, r.Now) {
			r.Abort(n, g, u, r.NotCreated(n, g))
		}
		return
	}
	for _, m := range r.old(n, g) {
		r.nodes.Cordon(m.Instance)
	}
	n.Roll.Phase, n.Roll.Until = rollUpgrade, r.Now.Add(r.Life(lifeJoinLimit))
}

// fresh counts the Ready nodes of the wanted version.
func (r *Rollouts) fresh(n *Nodegroup, g *autoscaling.Group) int {
	return r.lifecycle.readyMembers(n, g, n.Roll.To)
}

// NotCreated is the issue of an update whose new nodes did not come.
func (r *Rollouts) NotCreated(n *Nodegroup, g *autoscaling.Group) eks.ErrorDetail {
	var ids []string
	for _, m := range r.members.MembersOf(g) {
		if r.lifecycle.isOf(n, m, n.Roll.To) && !r.backing.ready(n, m) {
			ids = append(ids, m.Instance)
		}
	}
	why := "Couldn't proceed with upgrade process as new nodes are not joining node group " + n.Name()
	if launch := r.lifecycle.launchFailure(g); launch != "" {
		why += ": " + launch
	}
	return eks.ErrorDetail{ErrorCode: "NodeCreationFailure", ErrorMessage: new(why), ResourceIds: ids}
}

// upgrade drains and ends old nodes, a few at a time.
func (r *Rollouts) upgrade(n *Nodegroup, g *autoscaling.Group, u *Update) {
	old, leaving := r.old(n, g), 0
	for _, m := range r.members.MembersOf(g) {
		if m.Leaving() {
			leaving++
		}
	}
	if len(old) == 0 {
		r.upgraded(n, g, u, leaving)
		return
	}
	for _, m := range old {
		switch d := n.Drains[m.Instance]; {
		case d != nil:
			if blocked := r.drainStep(n, g, m, d); blocked {
				r.Abort(n, g, u, eks.ErrorDetail{
					ErrorCode: "PodEvictionFailure", ErrorMessage: new("Reached max retries while trying to evict pods from nodes in node group " +
						n.Name()), ResourceIds: []string{m.Instance},
				})
				return
			}
		case r.missing(n, g) < r.parallel(n):
			r.nodes.Leave(n.Drains, machineOf(m))
			r.nodes.Evict(m.Instance, r.Now, n.Roll.Force)
		}
	}
}

// missing counts the nodes that the update keeps from serving: those that drain or leave, and those that have not come back yet.
func (r *Rollouts) missing(n *Nodegroup, g *autoscaling.Group) int {
	count := int(*g.Spec.DesiredCapacity)
	for _, m := range r.members.MembersOf(g) {
		if m.State == autoscaling.MemberInService && n.Drains[m.Instance] == nil &&
			(!r.lifecycle.isOf(n, m, n.Roll.To) || r.backing.ready(n, m)) {
			count--
		}
	}
	return count
}

// drainStep goes on with a node that drains, and ends it a minute after it is empty. blocked is true if its pods did not leave in
// time.
func (r *Rollouts) drainStep(n *Nodegroup, g *autoscaling.Group, m *autoscaling.Member, d *managed.Departure) (blocked bool) {
	how := managed.Drain{Limit: lifeEviction, Soak: lifeCool, Force: n.Roll.Force}
	if how.Force {
		how.Late = managed.LateGoes
	}
	switch r.nodes.Drain(d, how) {
	case managed.Stuck:
		return true
	case managed.Draining:
		return false
	}
	// As long as enough new nodes are there none has to take its place.
	lower := n.Roll.Extra > 0 && *g.Spec.DesiredCapacity > n.Roll.Desired
	if m.Protected {
		m.Protected = false
	}
	r.members.TerminateMember(g, m, lower)
	return false
}

// upgraded goes on when no old node is left: to the size from before, once what was to come has come.
func (r *Rollouts) upgraded(n *Nodegroup, g *autoscaling.Group, u *Update, leaving int) {
	want := int(*g.Spec.DesiredCapacity)
	if r.fresh(n, g) < want {
		if core.Due(n.Roll.Until, r.Now) {
			r.Abort(n, g, u, r.NotCreated(n, g))
		}
		return
	}
	if leaving == 0 {
		n.Roll.Phase = rollScaleDown
	}
}

// scaleDown takes off, one by one, what the group grew by, unless a user or the autoscaler lets it grow meanwhile, and ends the update.
func (r *Rollouts) scaleDown(n *Nodegroup, g *autoscaling.Group, u *Update) {
	roll := n.Roll
	want := *g.Spec.DesiredCapacity
	if want > roll.Desired && want <= roll.Desired+roll.Extra {
		r.backing.resizeGroup(g, roll.Min, want-1, max(roll.Max, want-1))
		return
	}
	for _, m := range r.members.MembersOf(g) {
		if m.Leaving() {
			return
		}
	}
	r.backing.resizeGroup(g, roll.Min, want, max(roll.Max, want))
	r.succeed(n, u)
}

// succeed makes the wanted version the one that the node group stands on.
func (r *Rollouts) succeed(n *Nodegroup, u *Update) {
	r.adopt(n)
	r.updates.finish(n, u, nil)
}

// adopt makes the wanted version that of the node group.
func (r *Rollouts) adopt(n *Nodegroup) {
	goal := n.Roll.Goal
	if t := r.templates.Rows.Get(n.Template); t != nil {
		t.Default = int64(shapes.Atoi(n.Roll.To))
		r.templates.Rows.Touch(t.ID)
	}
	n.Shape.Version, n.Shape.ReleaseVersion = shapes.Opt(goal.Version), shapes.Opt(goal.Release)
	if n.Shape.LaunchTemplate != nil {
		spec := *n.Shape.LaunchTemplate
		spec.Version = new(goal.SourceVersion)
		n.Shape.LaunchTemplate = &spec
	}
}

// Abort ends an update that failed: what is to be launched is what was launched before it, old nodes take pods again, and new ones
// go as far as there are too many.
func (r *Rollouts) Abort(n *Nodegroup, g *autoscaling.Group, u *Update, why eks.ErrorDetail) {
	roll := n.Roll
	if roll.To != "" {
		if r.Switches.On(FailedStays) {
			r.adopt(n)
		} else {
			r.backing.launchFromVersion(n, g, roll.From)
		}
		for _, m := range r.old(n, g) {
			r.nodes.Uncordon(m.Instance)
			delete(n.Drains, m.Instance)
		}
		surplus := int(*g.Spec.DesiredCapacity - roll.Desired)
		for _, m := range slices.Backward(r.members.MembersOf(g)) {
			if surplus > 0 && r.lifecycle.isOf(n, m, roll.To) && !m.Leaving() {
				r.members.TerminateMember(g, m, true)
				surplus--
			}
		}
		r.backing.resizeGroup(g, roll.Min, max(roll.Min, min(*g.Spec.DesiredCapacity, roll.Desired)), max(roll.Max, roll.Desired))
		g.Failures, g.Retry = 0, time.Time{}
	}
	r.updates.finish(n, u, []eks.ErrorDetail{why})
}
