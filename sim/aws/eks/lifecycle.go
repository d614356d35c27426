package eks

import (
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
	"github.com/muster-project/muster/sim/aws/wire"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/managed"
)

// lifeHookDrain is how long EKS holds a machine back that leaves its group, until what runs on it has gone.
const lifeHookDrain = 5 * time.Minute

// Tick brings clusters and node groups to the present, and returns when something about them is due.
func (r *Lifecycle) Tick() time.Time {
	next := r.clusters.tickClusters()
	for _, n := range r.nodegroups.Rows.All() {
		next = core.Earliest(next, r.tickNodegroup(n))
	}
	return next
}

func (r *Lifecycle) tickNodegroup(n *Nodegroup) time.Time {
	g := r.groups.Rows.Get(n.Behind)
	holding := r.tickHooks(n, g)
	if core.Due(n.Next, r.Now) {
		n.Next = time.Time{}
		r.nodegroups.TouchNodegroup(n)
		r.advance(n, g)
	}
	if r.nodegroups.Rows.Get(n.key()) != n {
		return time.Time{}
	}
	r.checkHealth(n, g)
	next := n.Next
	if holding {
		next = core.Earliest(next, r.Now.Add(r.Life(managed.Watch)))
	}
	return next
}

// advance takes what goes on a step further.
func (r *Lifecycle) advance(n *Nodegroup, g *autoscaling.Group) {
	watch := r.Now.Add(r.Life(managed.Watch))
	switch n.Shape.Status {
	case StatusCreating:
		n.Next = watch
		r.advanceCreation(n, g)
	case StatusUpdating:
		n.Next = watch
		r.updates.advanceUpdate(n, g)
	case StatusDeleting:
		n.Next = watch
		r.advanceDeletion(n, g)
	}
}

// settle ends what goes on: the node group has a status that it keeps by itself.
func (r *Lifecycle) settle(n *Nodegroup, status string) {
	n.Shape.Status, n.Shape.ModifiedAt = status, shapes.NewEpoch(r.Now)
	n.Next, n.Until = time.Time{}, time.Time{}
	r.nodegroups.TouchNodegroup(n)
}

func (r *Lifecycle) advanceCreation(n *Nodegroup, g *autoscaling.Group) {
	c := r.clusters.Rows.Get(n.Cluster())
	if n.Behind == "" {
		issue := r.nodegroups.sourceIssue(n.Launched["1"])
		if issue == nil {
			if err := r.backing.createBacking(c, n); err != nil {
				issue = &eks.Issue{Code: issueOf(wire.ErrorMessage(err)), Message: new(wire.ErrorMessage(err)), ResourceIds: []string{n.Name()}}
			}
		}
		if issue != nil {
			n.find([]eks.Issue{*issue})
			r.settle(n, StatusCreateFailed)
		}
		return
	}
	if g != nil && r.readyMembers(n, g, "") >= int(*g.Spec.DesiredCapacity) {
		n.find(nil)
		r.settle(n, StatusActive)
		return
	}
	if g == nil || core.Due(n.Until, r.Now) {
		n.find(r.whyNotReady(n, g))
		r.settle(n, StatusCreateFailed)
	}
}

// readyMembers counts the members that serve and are Ready nodes, those of a version of EKS's template where one is named.
func (r *Lifecycle) readyMembers(n *Nodegroup, g *autoscaling.Group, version string) int {
	count := 0
	for _, m := range r.members.MembersOf(g) {
		if m.State == autoscaling.MemberInService && (version == "" || r.isOf(n, m, version)) && r.backing.ready(n, m) {
			count++
		}
	}
	return count
}

// isOf reports a member that was launched from that version of EKS's template.
func (r *Lifecycle) isOf(n *Nodegroup, m *autoscaling.Member, version string) bool {
	return shapes.Str(m.Template.LaunchTemplateId) == n.Template && shapes.Str(m.Template.Version) == version
}

// whyNotReady are the issues of a group whose nodes did not come.
func (r *Lifecycle) whyNotReady(n *Nodegroup, g *autoscaling.Group) []eks.Issue {
	if g == nil {
		return []eks.Issue{missingGroup(n)}
	}
	var out []eks.Issue
	if why := r.launchFailure(g); why != "" {
		out = append(out, eks.Issue{Code: issueOf(why), Message: new(why), ResourceIds: []string{n.Behind}})
	}
	var ids []string
	for _, m := range r.members.MembersOf(g) {
		if m.Serving() && !r.backing.ready(n, m) {
			ids = append(ids, m.Instance)
		}
	}
	if len(ids) > 0 || out == nil {
		out = append(out, eks.Issue{Code: "NodeCreationFailure", Message: new("Instances failed to join the kubernetes cluster"),
			ResourceIds: ids})
	}
	return out
}

func missingGroup(n *Nodegroup) eks.Issue {
	return eks.Issue{
		Code: "AutoScalingGroupNotFound", Message: new(
			"We couldn't find the Auto Scaling group associated with your managed node group. You may be able to recreate an Auto Scaling group " +
				"with the same settings to recover."),
		ResourceIds: []string{n.Behind},
	}
}

// launchFailure is why the group's last launch failed, "" where it did not.
func (r *Lifecycle) launchFailure(g *autoscaling.Group) string {
	if g.Failures == 0 {
		return ""
	}
	last := ""
	for _, a := range r.activities.Rows.Under(g.Name() + ":") {
		if a.StatusCode == "Failed" {
			last = shapes.Str(a.StatusMessage)
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
func (r *Lifecycle) tickHooks(n *Nodegroup, g *autoscaling.Group) bool {
	holding := false
	if g == nil {
		return false
	}
	for _, m := range r.members.MembersOf(g) {
		if _, ok := m.Waits[launchHook]; ok && m.State == autoscaling.MemberPendingWait {
			r.hooks.Complete(g, m, launchHook, "CONTINUE")
			continue
		}
		if _, ok := m.Waits[terminateHook]; !ok || m.State != autoscaling.MemberTerminatingWait {
			continue
		}
		if r.released(n, m) {
			r.hooks.Complete(g, m, terminateHook, "CONTINUE")
			delete(n.Drains, m.Instance)
			r.nodegroups.TouchNodegroup(n)
			continue
		}
		holding = true
	}
	return holding
}

// released reports a machine that may go: it has stopped already, or is drained, or has had its time.
func (r *Lifecycle) released(n *Nodegroup, m *autoscaling.Member) bool {
	i := r.instances.Rows.Get(m.Instance)
	if i == nil || !i.Alive() {
		return true
	}
	if n.Drains[m.Instance] == nil {
		if n.Drains == nil {
			n.Drains = managed.Departures{}
		}
		r.nodes.Leave(n.Drains, machineOf(m))
		r.nodegroups.TouchNodegroup(n)
	}
	r.nodes.Cordon(m.Instance)
	return r.nodes.Drain(n.Drains[m.Instance], managed.Drain{Limit: lifeHookDrain, Late: managed.LateGoes}) == managed.Drained
}

func (r *Lifecycle) advanceDeletion(n *Nodegroup, g *autoscaling.Group) {
	switch {
	case n.Stuck != "":
		n.find([]eks.Issue{{Code: n.Stuck, Message: new("The node group could not be deleted: " + n.Stuck), ResourceIds: []string{n.Name()}}})
		r.settle(n, StatusDeleteFailed)
	case g == nil:
		r.backing.deleteBacking(n)
	case len(r.members.MembersOf(g)) > 0:
		// Protection is EKS's own to lift: a deletion takes every machine.
		for _, m := range r.members.MembersOf(g) {
			if m.Protected {
				m.Protected = false
				r.members.Rows.Touch(autoscaling.MemberKey(g.Name(), m.Instance))
			}
		}
		g.Suspended = map[string]string{}
		r.backing.resizeGroup(g, 0, 0, 0)
		r.members.WakeUp(g)
	case !g.Deleting:
		g.Deleting = true
		g.Spec.Status = new(autoscaling.StatusDeleting)
		r.groups.Rows.Touch(g.Name())
	}
}

// checkHealth looks at the resources behind a node group at rest, and says what is wrong with them.
func (r *Lifecycle) checkHealth(n *Nodegroup, g *autoscaling.Group) {
	if s := n.Shape.Status; s != StatusActive && s != StatusDegraded {
		return
	}
	issues := append(r.issues(n, g), n.Issues...)
	status := StatusActive
	if len(issues) > 0 {
		status = StatusDegraded
	}
	same := slices.EqualFunc(issues, n.Shape.Health.Issues, func(a, b eks.Issue) bool {
		return a.Code == b.Code && shapes.Str(a.Message) == shapes.Str(b.Message) && slices.Equal(a.ResourceIds, b.ResourceIds)
	})
	if same && status == n.Shape.Status {
		return
	}
	n.find(issues)
	n.Shape.Status = status
	r.nodegroups.TouchNodegroup(n)
}

// issues returns the health issues that EKS finds.
func (r *Lifecycle) issues(n *Nodegroup, g *autoscaling.Group) []eks.Issue {
	if g == nil || g.Deleting {
		return []eks.Issue{missingGroup(n)}
	}
	var out []eks.Issue
	add := func(code, message string, ids ...string) {
		out = append(out, eks.Issue{Code: code, Message: new(message), ResourceIds: ids})
	}
	if r.templates.Rows.Get(n.Template) == nil {
		add("Ec2LaunchTemplateNotFound", "We couldn't find the Amazon EC2 launch template for your managed node group.", n.Template)
	} else if s := autoscaling.TemplateSpec(&g.Spec); shapes.Str(s.LaunchTemplateId) != n.Template ||
		shapes.Str(s.Version) != r.backing.present(n) {
		add("Ec2LaunchTemplateVersionMismatch",
			"The Amazon EC2 launch template version for your managed node group does not match the version that Amazon EKS created.", n.Behind)
	}
	if !r.directory.Has(shapes.Str(n.Shape.NodeRole)) {
		add("IamNodeRoleNotFound", "We couldn't find the IAM role for your managed node group.", shapes.Str(n.Shape.NodeRole))
	}
	if name := shapes.Str(r.backing.templateName(n)); name != "" && r.directory.Profiles.Get(iam.RoleKey(name)) == nil {
		add("IamInstanceProfileNotFound", "We couldn't find the IAM instance profile for your managed node group.", name)
	}
	for _, id := range n.Shape.Subnets {
		if r.network.Subnets.Get(id) == nil {
			add("Ec2SubnetNotFound", "One or more of the subnets of the node group do not exist.", id)
		}
	}
	if why := r.launchFailure(g); why != "" {
		add(issueOf(why), why, n.Behind)
	}
	return out
}
