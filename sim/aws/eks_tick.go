package aws

import (
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
)

// lifeHookDrain is how long EKS holds a machine back that leaves its group, until what runs on it has gone.
const lifeHookDrain = 5 * time.Minute

// tickEKS brings clusters and node groups to the present, and returns when something about them is due.
func (r *realm) tickEKS() time.Time {
	next := r.tickClusters()
	for _, n := range r.nodegroups.All() {
		next = earliest(next, r.tickNodegroup(n))
	}
	return next
}

func (r *realm) tickNodegroup(n *nodegroup) time.Time {
	g := r.groups.Get(n.Behind)
	holding := r.tickHooks(n, g)
	if due(n.Next, r.now) {
		n.Next = time.Time{}
		r.touchNodegroup(n)
		r.advance(n, g)
	}
	if r.nodegroups.Get(n.key()) != n {
		return time.Time{}
	}
	r.examine(n, g)
	next := n.Next
	if holding {
		next = earliest(next, r.now.Add(r.life(lifeWatch)))
	}
	return next
}

// advance takes what goes on a step further.
func (r *realm) advance(n *nodegroup, g *group) {
	watch := r.now.Add(r.life(lifeWatch))
	switch n.Shape.Status {
	case eksCreating:
		n.Next = watch
		r.advanceCreation(n, g)
	case eksUpdating:
		n.Next = watch
		r.advanceUpdate(n, g)
	case eksDeleting:
		n.Next = watch
		r.advanceDeletion(n, g)
	}
}

// settled ends what goes on: the node group has a status that it keeps by itself.
func (r *realm) settled(n *nodegroup, status string) {
	n.Shape.Status, n.Shape.ModifiedAt = status, shapes.NewEpoch(r.now)
	n.Next, n.Until = time.Time{}, time.Time{}
	r.touchNodegroup(n)
}

func (r *realm) advanceCreation(n *nodegroup, g *group) {
	c := r.clusters.Get(n.cluster())
	if n.Behind == "" {
		issue := r.sourceIssue(n.Launched["1"])
		if issue == nil {
			if err := r.provide(c, n); err != nil {
				issue = &eks.Issue{Code: issueOf(errorMessage(err)), Message: ptr(errorMessage(err)), ResourceIds: []string{n.name()}}
			}
		}
		if issue != nil {
			n.find([]eks.Issue{*issue})
			r.settled(n, eksCreateFailed)
		}
		return
	}
	if g != nil && r.readyMembers(n, g, "") >= int(*g.Spec.DesiredCapacity) {
		n.find(nil)
		r.settled(n, eksActive)
		return
	}
	if g == nil || due(n.Until, r.now) {
		n.find(r.whyNotReady(n, g))
		r.settled(n, eksCreateFailed)
	}
}

// readyMembers counts the members that serve and are Ready nodes, those of a version of EKS's template where one is named.
func (r *realm) readyMembers(n *nodegroup, g *group, version string) int {
	count := 0
	for _, m := range r.membersOf(g) {
		if m.State == memberInService && (version == "" || r.isOf(n, m, version)) && r.ready(n, m) {
			count++
		}
	}
	return count
}

// isOf reports a member that was launched from that version of EKS's template.
func (r *realm) isOf(n *nodegroup, m *member, version string) bool {
	return str(m.Template.LaunchTemplateId) == n.Template && str(m.Template.Version) == version
}

// whyNotReady are the issues of a group whose nodes did not come.
func (r *realm) whyNotReady(n *nodegroup, g *group) []eks.Issue {
	if g == nil {
		return []eks.Issue{missingGroup(n)}
	}
	var out []eks.Issue
	if why := r.launchFailure(g); why != "" {
		out = append(out, eks.Issue{Code: issueOf(why), Message: ptr(why), ResourceIds: []string{n.Behind}})
	}
	var ids []string
	for _, m := range r.membersOf(g) {
		if m.serving() && !r.ready(n, m) {
			ids = append(ids, m.Instance)
		}
	}
	if len(ids) > 0 || out == nil {
		out = append(out, eks.Issue{Code: "NodeCreationFailure", Message: ptr("Instances failed to join the kubernetes cluster"), ResourceIds: ids})
	}
	return out
}

func missingGroup(n *nodegroup) eks.Issue {
	return eks.Issue{
		Code: "AutoScalingGroupNotFound", Message: ptr("We couldn't find the Auto Scaling group associated with your managed node group. You may be able to recreate an Auto Scaling group with the same settings to recover."),
		ResourceIds: []string{n.Behind},
	}
}

// launchFailure is why the group's last launch failed, "" where it did not.
func (r *realm) launchFailure(g *group) string {
	if g.Failures == 0 {
		return ""
	}
	last := ""
	for _, a := range r.activities.Under(g.name() + ":") {
		if a.StatusCode == "Failed" {
			last = str(a.StatusMessage)
		}
	}
	return last
}

// issueOf is the code that EKS gives to a failed launch.
func issueOf(message string) string {
	for _, known := range []struct{ part, code string }{
		{"free addresses", "InsufficientFreeAddresses"}, {"vCPU", "InstanceLimitExceeded"}, {"The image id", "AmiIdNotFound"},
		{"The subnet ID", "Ec2SubnetNotFound"}, {"launch template", "Ec2LaunchTemplateInvalidConfiguration"},
	} {
		if strings.Contains(message, known.part) {
			return known.code
		}
	}
	return "AsgInstanceLaunchFailures"
}

// tickHooks completes the hooks by which EKS gets to know of machines that come and go, those that go once they are drained. It
// reports whether one is held back.
func (r *realm) tickHooks(n *nodegroup, g *group) bool {
	holding := false
	if g == nil {
		return false
	}
	for _, m := range r.membersOf(g) {
		if _, ok := m.Waits[launchHook]; ok && m.State == memberPendingWait {
			r.complete(g, m, launchHook, "CONTINUE")
			continue
		}
		if _, ok := m.Waits[terminateHook]; !ok || m.State != memberTerminatingWait {
			continue
		}
		if r.released(n, m) {
			r.complete(g, m, terminateHook, "CONTINUE")
			delete(n.Drains, m.Instance)
			r.touchNodegroup(n)
			continue
		}
		holding = true
	}
	return holding
}

// released reports a machine that may go: it has stopped already, or is drained, or has had its time.
func (r *realm) released(n *nodegroup, m *member) bool {
	i := r.instances.Get(m.Instance)
	if i == nil || !i.alive() {
		return true
	}
	if n.Roll != nil && !n.Roll.Cooling[m.Instance].IsZero() {
		return true
	}
	since, ok := n.Drains[m.Instance]
	if !ok {
		if n.Drains == nil {
			n.Drains = map[string]time.Time{}
		}
		since = r.now
		n.Drains[m.Instance] = since
		r.touchNodegroup(n)
	}
	r.cordon(m.Instance, true)
	return r.drained(m.Instance, since, false) || !r.now.Before(since.Add(r.life(lifeHookDrain)))
}

func (r *realm) advanceDeletion(n *nodegroup, g *group) {
	switch {
	case n.Stuck != "":
		n.find([]eks.Issue{{Code: n.Stuck, Message: ptr("The node group could not be deleted: " + n.Stuck), ResourceIds: []string{n.name()}}})
		r.settled(n, eksDeleteFailed)
	case g == nil:
		r.forgetBehind(n)
	case len(r.membersOf(g)) > 0:
		// Protection is EKS's own to lift: a deletion takes every machine.
		for _, m := range r.membersOf(g) {
			if m.Protected {
				m.Protected = false
				r.members.Touch(memberKey(g.name(), m.Instance))
			}
		}
		g.Suspended = map[string]string{}
		r.resizeBehind(g, 0, 0, 0)
		r.wake(g)
	case !g.Deleting:
		g.Deleting = true
		g.Spec.Status = ptr(statusDeleting)
		r.groups.Touch(g.name())
	}
}

// examine looks at the resources behind a node group at rest, and says what is wrong with them.
func (r *realm) examine(n *nodegroup, g *group) {
	if s := n.Shape.Status; s != eksActive && s != eksDegraded {
		return
	}
	issues := append(r.issues(n, g), n.Issues...)
	status := eksActive
	if len(issues) > 0 {
		status = eksDegraded
	}
	same := slices.EqualFunc(issues, n.Shape.Health.Issues, func(a, b eks.Issue) bool {
		return a.Code == b.Code && str(a.Message) == str(b.Message) && slices.Equal(a.ResourceIds, b.ResourceIds)
	})
	if same && status == n.Shape.Status {
		return
	}
	n.find(issues)
	n.Shape.Status = status
	r.touchNodegroup(n)
}

// issues are what EKS finds when it looks.
func (r *realm) issues(n *nodegroup, g *group) []eks.Issue {
	if g == nil || g.Deleting {
		return []eks.Issue{missingGroup(n)}
	}
	var out []eks.Issue
	add := func(code, message string, ids ...string) {
		out = append(out, eks.Issue{Code: code, Message: ptr(message), ResourceIds: ids})
	}
	if r.templates.Get(n.Template) == nil {
		add("Ec2LaunchTemplateNotFound", "We couldn't find the Amazon EC2 launch template for your managed node group.", n.Template)
	} else if s := templateSpec(&g.Spec); str(s.LaunchTemplateId) != n.Template || str(s.Version) != r.present(n) {
		add("Ec2LaunchTemplateVersionMismatch", "The Amazon EC2 launch template version for your managed node group does not match the version that Amazon EKS created.", n.Behind)
	}
	if !r.directory.has(str(n.Shape.NodeRole)) {
		add("IamNodeRoleNotFound", "We couldn't find the IAM role for your managed node group.", str(n.Shape.NodeRole))
	}
	if name := str(r.templateName(n)); name != "" && r.directory.profiles.Get(roleKey(name)) == nil {
		add("IamInstanceProfileNotFound", "We couldn't find the IAM instance profile for your managed node group.", name)
	}
	for _, id := range n.Shape.Subnets {
		if r.subnets.Get(id) == nil {
			add("Ec2SubnetNotFound", "One or more of the subnets of the node group do not exist.", id)
		}
	}
	if why := r.launchFailure(g); why != "" {
		add(issueOf(why), why, n.Behind)
	}
	return out
}
