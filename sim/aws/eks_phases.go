package aws

import (
	"maps"
	"slices"
	"time"

	"github.com/muster-project/muster/sim/aws/shapes/eks"
)

// advanceRoll takes an update of the version a step further. It goes through its phases in the order of the documentation; what
// nobody documents is what becomes of a group whose update has failed: here it goes back to the version from before, as its
// description says, and to its size, by the newest nodes.
func (r *realm) advanceRoll(n *nodegroup, g *group, u *update) {
	if g == nil || g.Deleting {
		r.finish(n, u, []eks.ErrorDetail{{ErrorCode: "Unknown", ErrorMessage: missingGroup(n).Message, ResourceIds: []string{n.Behind}}})
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
func (r *realm) setUp(n *nodegroup, g *group, u *update) {
	roll, c, t := n.Roll, r.clusters.Get(n.cluster()), r.templates.Get(n.Template)
	if issue := r.sourceIssue(roll.Goal); issue != nil {
		r.abort(n, g, u, eks.ErrorDetail{ErrorCode: "Unknown", ErrorMessage: issue.Message, ResourceIds: issue.ResourceIds})
		return
	}
	if t == nil {
		r.abort(n, g, u, eks.ErrorDetail{ErrorCode: "Unknown", ErrorMessage: ptr("The launch template of the Auto Scaling group could not be found."), ResourceIds: []string{n.Template}})
		return
	}
	roll.To = r.versionFor(n, roll.Goal)
	if roll.To == "" {
		roll.To = itoa(r.addVersion(t, r.merged(c, n, roll.Goal), "").Number)
		n.Launched[roll.To] = roll.Goal
	}
	r.launchFromVersion(n, g, roll.To)
	roll.Phase = rollUpgrade
	roll.Until = r.now.Add(r.life(lifeJoinLimit))
	roll.Desired = *g.Spec.DesiredCapacity
	if n.Shape.UpdateConfig.UpdateStrategy != "MINIMAL" && len(r.old(n, g)) > 0 {
		roll.Phase = rollScaleUp
		roll.Extra = int32(max(2*len(g.Spec.AvailabilityZones), r.parallel(n)))
		r.resizeBehind(g, roll.Min, roll.Desired+roll.Extra, max(roll.Max, roll.Desired+roll.Extra))
	}
}

// versionFor is the version of EKS's template that makes such machines, "" where there is none yet. Nodes that an update has brought
// before it failed are thus not replaced by the next.
func (r *realm) versionFor(n *nodegroup, facts nodeFacts) string {
	for _, number := range slices.Sorted(maps.Keys(n.Launched)) {
		if n.Launched[number] == facts && r.versions.Get(versionKey(n.Template, int64(atoi(number)))) != nil {
			return number
		}
	}
	return ""
}

// parallel is how many nodes may be missing at a time.
func (r *realm) parallel(n *nodegroup) int {
	c := n.Shape.UpdateConfig
	count := int(val(c.MaxUnavailable))
	if p := c.MaxUnavailablePercentage; p != nil {
		count = int(n.Roll.Desired) * int(*p) / 100
	}
	return min(max(1, count), maxUnavailableNodes)
}

// old are the members of other versions than the wanted one, by chance: "It randomly selects a node".
func (r *realm) old(n *nodegroup, g *group) []*member {
	out := slices.DeleteFunc(r.membersOf(g), func(m *member) bool { return m.leaving() || r.isOf(n, m, n.Roll.To) })
	slices.SortStableFunc(out, func(a, b *member) int {
		if r.lot(a) < r.lot(b) {
			return -1
		}
		return 1
	})
	return out
}

// scaleUp waits until the new nodes are Ready, and then closes the old ones to new pods.
func (r *realm) scaleUp(n *nodegroup, g *group, u *update) {
	if r.fresh(n, g) < int(n.Roll.Extra) {
		if due(n.Roll.Until, r.now) {
			r.abort(n, g, u, r.notCreated(n, g))
		}
		return
	}
	for _, m := range r.old(n, g) {
		r.cordon(m.Instance, true)
	}
	n.Roll.Phase, n.Roll.Until = rollUpgrade, r.now.Add(r.life(lifeJoinLimit))
}

// fresh counts the Ready nodes of the wanted version.
func (r *realm) fresh(n *nodegroup, g *group) int { return r.readyMembers(n, g, n.Roll.To) }

// notCreated is what EKS says of new nodes that did not come.
func (r *realm) notCreated(n *nodegroup, g *group) eks.ErrorDetail {
	var ids []string
	for _, m := range r.membersOf(g) {
		if r.isOf(n, m, n.Roll.To) && !r.ready(n, m) {
			ids = append(ids, m.Instance)
		}
	}
	why := "Couldn't proceed with upgrade process as new nodes are not joining node group " + n.name()
	if launch := r.launchFailure(g); launch != "" {
		why += ": " + launch
	}
	return eks.ErrorDetail{ErrorCode: "NodeCreationFailure", ErrorMessage: ptr(why), ResourceIds: ids}
}

// upgrade drains and ends old nodes, a few at a time.
func (r *realm) upgrade(n *nodegroup, g *group, u *update) {
	roll, old := n.Roll, r.old(n, g)
	leaving := 0
	for _, m := range r.membersOf(g) {
		if m.leaving() {
			leaving++
		}
	}
	if len(old) == 0 {
		r.upgraded(n, g, u, leaving)
		return
	}
	for _, m := range old {
		since, draining := n.Drains[m.Instance]
		switch {
		case draining && !since.IsZero():
			if blocked := r.drainStep(n, g, m, since); blocked {
				r.abort(n, g, u, eks.ErrorDetail{
					ErrorCode: "PodEvictionFailure", ErrorMessage: ptr("Reached max retries while trying to evict pods from nodes in node group " + n.name()), ResourceIds: []string{m.Instance},
				})
				return
			}
		case r.missing(n, g) < r.parallel(n):
			n.Drains[m.Instance] = r.now
			r.cordon(m.Instance, true)
			r.drained(m.Instance, r.now, roll.Force)
		}
	}
}

// missing counts the nodes that the update keeps from serving: those that drain or leave, and those that have not come back yet.
func (r *realm) missing(n *nodegroup, g *group) int {
	count := int(*g.Spec.DesiredCapacity)
	for _, m := range r.membersOf(g) {
		_, draining := n.Drains[m.Instance]
		if m.State == memberInService && !draining && (!r.isOf(n, m, n.Roll.To) || r.ready(n, m)) {
			count--
		}
	}
	return count
}

// drainStep goes on with a node that drains, and ends it a minute after it is empty. blocked says that its pods did not leave in
// time.
func (r *realm) drainStep(n *nodegroup, g *group, m *member, since time.Time) (blocked bool) {
	roll := n.Roll
	cool, empty := roll.Cooling[m.Instance]
	if !empty {
		if r.drained(m.Instance, since, roll.Force) {
			roll.Cooling[m.Instance] = r.now
			return false
		}
		late := !r.now.Before(since.Add(r.life(lifeEviction)))
		if late && roll.Force {
			roll.Cooling[m.Instance] = r.now
		}
		return late && !roll.Force
	}
	if r.now.Before(cool.Add(r.life(lifeCool))) {
		return false
	}
	delete(n.Drains, m.Instance)
	// As long as enough new nodes are there none has to take its place.
	lower := roll.Extra > 0 && *g.Spec.DesiredCapacity > roll.Desired
	if m.Protected {
		m.Protected = false
	}
	r.terminateMember(g, m, lower)
	return false
}

// upgraded goes on when no old node is left: to the size from before, once what was to come has come.
func (r *realm) upgraded(n *nodegroup, g *group, u *update, leaving int) {
	want := int(*g.Spec.DesiredCapacity)
	if r.fresh(n, g) < want {
		if due(n.Roll.Until, r.now) {
			r.abort(n, g, u, r.notCreated(n, g))
		}
		return
	}
	if leaving == 0 {
		n.Roll.Phase = rollScaleDown
	}
}

// scaleDown takes off, one by one, what the group grew by, unless somebody lets it grow meanwhile, and ends the update.
func (r *realm) scaleDown(n *nodegroup, g *group, u *update) {
	roll := n.Roll
	want := *g.Spec.DesiredCapacity
	if want > roll.Desired && want <= roll.Desired+roll.Extra {
		r.resizeBehind(g, roll.Min, want-1, max(roll.Max, want-1))
		return
	}
	for _, m := range r.membersOf(g) {
		if m.leaving() {
			return
		}
	}
	r.resizeBehind(g, roll.Min, want, max(roll.Max, want))
	r.succeed(n, u)
}

// succeed makes the wanted version the one that the node group stands on.
func (r *realm) succeed(n *nodegroup, u *update) {
	goal := n.Roll.Goal
	if t := r.templates.Get(n.Template); t != nil {
		t.Default = int64(atoi(n.Roll.To))
		r.templates.Touch(t.ID)
	}
	n.Shape.Version, n.Shape.ReleaseVersion = opt(goal.Version), opt(goal.Release)
	if n.Shape.LaunchTemplate != nil {
		spec := *n.Shape.LaunchTemplate
		spec.Version = ptr(goal.SourceVersion)
		n.Shape.LaunchTemplate = &spec
	}
	r.finish(n, u, nil)
}

// abort ends an update that failed: what is to be launched is what was launched before it, old nodes take pods again, and new ones
// go as far as there are too many.
func (r *realm) abort(n *nodegroup, g *group, u *update, why eks.ErrorDetail) {
	roll := n.Roll
	if roll.To != "" {
		r.launchFromVersion(n, g, roll.From)
		for _, m := range r.old(n, g) {
			r.cordon(m.Instance, false)
			delete(n.Drains, m.Instance)
		}
		surplus := int(*g.Spec.DesiredCapacity - roll.Desired)
		for _, m := range slices.Backward(r.membersOf(g)) {
			if surplus > 0 && r.isOf(n, m, roll.To) && !m.leaving() {
				r.terminateMember(g, m, true)
				surplus--
			}
		}
		r.resizeBehind(g, roll.Min, max(roll.Min, min(*g.Spec.DesiredCapacity, roll.Desired)), max(roll.Max, roll.Desired))
		g.Failures, g.Retry = 0, time.Time{}
	}
	for _, id := range slices.Sorted(maps.Keys(n.Drains)) {
		if r.instances.Get(id) == nil {
			delete(n.Drains, id)
		}
	}
	r.finish(n, u, []eks.ErrorDetail{why})
}
