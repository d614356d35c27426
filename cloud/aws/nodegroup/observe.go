package nodegroup

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// pass is one call of Observe or Start for one pool.
type pass struct {
	driver *Driver
	c      *session.Session
	t      target
	now    time.Time
	memory *memory
	// reused is true if the group was not read although the pass wants it as it is now.
	reused bool
	// slow paces the reads that are repeated once in a period.
	slow session.SlowReads
	// brought are the instances that an update has brought that has not succeeded, or not yet: its ID, by theirs.
	brought map[string]string
}

// observe reads what is not known any more and puts it into pool's words.
func (p *pass) observe(ctx context.Context) (pool.Observed, error) {
	if err := p.readGroupAndTemplate(ctx); err != nil {
		return pool.Observed{}, err
	}
	if foreign := p.foreign(); foreign != nil {
		out := pool.Observed{OwnershipConflict: foreign, Unowned: unowned(p), Versions: p.versionsToDelete(), ResolvedLookups: p.t.Remembered}
		return p.observeConflict(ctx, out)
	}
	is := p.memory.group.is
	want, failed := p.want(ctx)
	if failed == nil {
		failed = p.orphan()
	}
	out := pool.Observed{Versions: p.versions(want), Wanted: want.template, ResolvedLookups: want.remember, Reused: p.reused,
		GroupFresh: !p.memory.group.at.Before(p.now), Capacity: want.capacity(),
		TaggedFor: p.memory.template.TaggedFor(),
	}
	if failed != nil {
		out.Wanted = pool.Template{}
	}
	if err := p.observeNeeds(ctx, &failed, &out); err != nil {
		return pool.Observed{}, err
	}
	if template := p.foreignTemplate(); template != nil {
		out.Issues = append(out.Issues, *template)
	}
	if failed != nil && p.nothingMade() {
		out.Versions = nil
		return out, &cloud.SpecUnsatisfiableError{Err: failed}
	}
	if failed != nil {
		out.Issues = append(out.Issues, driverkit.CauseOf(failed))
	}
	if is == nil {
		return out, nil
	}
	return out, p.observeGroup(ctx, is, want, &out)
}

// readGroupAndTemplate reads the pool's node group, the one that the object names, and the launch template, each as far as what is known of
// it is out of date.
func (p *pass) readGroupAndTemplate(ctx context.Context) error {
	if err := p.readGroup(ctx); err != nil {
		return err
	}
	if err := p.readNamed(ctx); err != nil {
		return err
	}
	followTemplate(p)
	return p.readTemplate(ctx)
}

// nothingMade reports whether neither the group nor a version of the pool's template exists.
func (p *pass) nothingMade() bool {
	return p.memory.group.is == nil && (p.t.template == "" || len(p.memory.template.Versions()) == 0)
}

// observeGroup puts the node group and its instances into the observation.
func (p *pass) observeGroup(ctx context.Context, is *ekstypes.Nodegroup, want wanted, out *pool.Observed) error {
	if err := p.memory.members.observe(ctx, p.c, p.memory.behind, p.now); err != nil {
		return err
	}
	if err := p.readUpdates(ctx, is); err != nil {
		return err
	}
	p.brought = p.memory.members.broughtByUpdates(p.memory.behind, p.memory.updates)
	out.Group = p.group(is, want)
	out.TaggedFor = cloud.TaggedFor(func(name string) string { return is.Tags[session.OwnTag(name)] })
	out.Instances, out.ExternalStandby = p.instances(is, want), asg.Standby(p.memory.behind.is, func(string) bool { return true })
	out.ProviderRollout, out.ProviderRolloutUnknown = p.roll(is, want), p.rollUnknown()
	out.Shared = p.atRest()
	out.Issues = slices.Concat(out.Issues, p.memory.members.issues(), p.groupIssues(is, want))
	issues, err := p.readActivities(ctx)
	if err != nil {
		return err
	}
	for _, issue := range issues {
		if !slices.Contains(out.Issues, issue) {
			out.Issues = append(out.Issues, issue)
		}
	}
	return nil
}

// groupIssues are EKS's words on what is wrong with the node group, and what waits for something.
func (p *pass) groupIssues(is *ekstypes.Nodegroup, want wanted) []pool.Cause {
	issues := healthIssues(is)
	if issue := p.memory.updates.configIssue(p.now); issue != nil {
		issues = append(issues, *issue)
	}
	low := session.Deref(scalingOf(is).MinSize)
	if size := p.memory.size(); is.Status != ekstypes.NodegroupStatusDeleting && want.group.min > size && low != want.group.min {
		issues = append(issues, pool.Cause{Reason: "MinimumWaits", Message: fmt.Sprintf(
			"%s is raised to %d once the node group, which has a size of %d, is as large", fieldMin, want.group.min, size)})
	}
	if want.course.path.WaitsForControlPlane {
		issues = append(issues, pool.Cause{Reason: "WaitingForControlPlane", Message: "nodes run " + want.course.path.String()})
	}
	return issues
}

// readGroup reads the node group and the group behind it, in a call each; at rest the group behind alone, in a call that pools share.
func (p *pass) readGroup(ctx context.Context) error {
	if p.memory.asRead(p.now, p.t.MaxAge) {
		p.reused = p.t.MaxAge == 0
		return nil
	}
	if holds, err := p.holdsStill(ctx); holds || err != nil {
		return err
	}
	found, err := p.c.EKS.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: &p.t.eks, NodegroupName: &p.t.name})
	if err = session.Refusal(err, p.now); err != nil && !session.Absent(err) {
		return err
	}
	if err != nil || found.Nodegroup == nil {
		p.memory.group, p.memory.behind, p.memory.template.Wrote = groupRead{at: p.now, asked: p.now}, behindRead{at: p.now}, false
		if p.now.Sub(p.memory.made) < session.VisibleWithin {
			// To believe it would make the group twice, or let the object of one go that is there.
			p.memory.group = groupRead{}
			return &cloud.Error{Kind: cloud.Conflict, Code: "GroupNotShown", Message: fmt.Sprintf(
				"node group %s was made a moment ago and is not shown yet", p.t.name)}
		}
		return nil
	}
	is := found.Nodegroup
	is.CreatedAt, is.ModifiedAt = session.OurTime(is.CreatedAt, found.ResultMetadata), session.OurTime(is.ModifiedAt, found.ResultMetadata)
	if !p.t.owns(is) {
		p.memory.behind = behindRead{at: p.now}
	} else if err := p.readBehind(ctx, is); err != nil {
		return err
	}
	p.memory.group, p.memory.template.Wrote = groupRead{is: is, at: p.now, asked: p.now, asks: p.t.digest()}, false
	p.memory.noteFailure(is, p.now)
	return nil
}

// readTemplate reads the launch template slowly, and at once when the node group is launched from a version that is not known.
func (p *pass) readTemplate(ctx context.Context) error {
	if p.t.template == "" {
		return nil
	}
	var refs []string
	if is := p.memory.group.is; is != nil && p.t.owns(is) && is.LaunchTemplate != nil {
		refs = append(refs, p.launchRef(is, ""))
	}
	return p.template().Read(ctx, refs)
}

// readNamed reads the node group that the object names, where that is another than ours and ours does not exist: another tool may have
// managed the pool before.
func (p *pass) readNamed(ctx context.Context) error {
	on := p.t.groupNamed()
	group := &p.memory.group
	if group.is != nil || !p.t.namesAnother(on) || group.named.ID == p.t.GroupID {
		return nil
	}
	label := fmt.Sprintf("node group %s of EKS cluster %s", on.name, on.cluster)
	if on.region != "" && p.t.cluster.Region != "" && on.region != p.t.cluster.Region {
		group.named = driverkit.NamedGroup{ID: p.t.GroupID, Conflict: cloud.NamedElsewhere(label, "it is in region "+on.region)}
		return nil
	}
	found, err := p.c.EKS.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: &on.cluster, NodegroupName: &on.name})
	if err = session.Refusal(err, p.now); err != nil && !session.Absent(err) {
		return err
	}
	group.named = driverkit.NamedGroup{ID: p.t.GroupID}
	if err == nil && found.Nodegroup != nil && !p.t.owns(found.Nodegroup) {
		group.named.Conflict = driverkit.NamedConflict(label, on.name, session.TagOwner, found.Nodegroup.Tags[session.TagOwner])
	}
	return nil
}

// foreignGroup returns why a node group that has our name, or that the object names, is refused: it lacks our owner tag.
func (p *pass) foreignGroup() *pool.Cause { return ownership(p).Conflict() }

// foreignTemplate returns the cause of a launch template that has the pool's name without its owner tag.
func (p *pass) foreignTemplate() *pool.Cause {
	if p.t.template == "" {
		return nil
	}
	return p.template().Foreign()
}

// foreign says what keeps the pool from being made, or from being looked after. Once the group exists, a template that is
// not ours is an issue and no more, so that the group can still be sized and deleted.
func (p *pass) foreign() *pool.Cause {
	if group := p.foreignGroup(); group != nil || p.memory.group.is != nil {
		return group
	}
	return p.foreignTemplate()
}

// foreignLaunches reports whether a node group with the pool's name and another owner is launched from the pool's template: it was taken
// over.
func (p *pass) foreignLaunches() bool {
	is := p.memory.group.is
	return is != nil && p.foreignGroup() != nil && is.LaunchTemplate != nil && p.memory.template.Holds(p.launchRef(is, ""))
}

// versionsToDelete are the versions of our template beside a node group that is not ours, unless that is launched from them:
// they are ours to delete with the pool.
func (p *pass) versionsToDelete() []pool.Template {
	if p.t.template == "" || p.foreignLaunches() {
		return nil
	}
	return p.memory.template.Versions()
}

// group is the node group in pool's words.
func (p *pass) group(is *ekstypes.Nodegroup, want wanted) *pool.Group {
	scaling := scalingOf(is)
	g := &pool.Group{
		ID:       session.Deref(is.NodegroupArn),
		Size:     int(p.memory.size()),
		Min:      int(session.Deref(scaling.MinSize)),
		Max:      int(session.Deref(scaling.MaxSize)),
		Template: p.templateNow(is, want).Ref,
		Content:  p.templateNow(is, want).Content,
		Deleting: is.Status == ekstypes.NodegroupStatusDeleting,
		Busy:     busy(is),
		Failed:   failed(is),
		Created:  session.Deref(is.CreatedAt),

		ProviderRolloutSurge: p.memory.behind.surge(),
	}
	if is.Status == ekstypes.NodegroupStatusDeleteFailed {
		g.DeleteFailedAt = p.memory.deleteFailed
	}
	if g.Deleting {
		return g
	}
	g.Drift, g.Unchangeable = want.group.drift(is, p.memory.size()), want.group.unchangeable(p.t, is)
	if p.orphaned(is) {
		g.Unchangeable = session.Unique(append(g.Unchangeable, fieldTemplate))
	}
	if g.Failed != nil {
		p.t.asMade(g, want)
	}
	if p.memory.behind.drifted(want.group, p.memory.members) {
		g.Drift = append(g.Drift, driftPassed)
	}
	return g
}

// asMade says of a group that has failed what differs from what it was made from: EKS changes nothing but the tags of such a group.
func (t target) asMade(g *pool.Group, want wanted) {
	var tags []string
	for _, field := range g.Drift {
		if field == driftTags {
			tags = append(tags, field)
		} else {
			g.Unchangeable = append(g.Unchangeable, field)
		}
	}
	if want.template.Content != "" && g.Content != want.template.Content {
		field := fieldTemplate
		if t.template == "" {
			field = fieldVersion
		}
		g.Unchangeable = append(g.Unchangeable, field)
	}
	g.Drift, g.Unchangeable = tags, session.Unique(g.Unchangeable)
}

// orphaned reports whether the launch template that the node group was made with is there no more: EKS takes no other in its place.
func (p *pass) orphaned(is *ekstypes.Nodegroup) bool {
	return p.t.template != "" && is.LaunchTemplate != nil && session.Deref(is.LaunchTemplate.Id) != p.memory.template.ID()
}

// orphan is orphaned as an error about the specification. What is not shown yet may be shown soon.
func (p *pass) orphan() error {
	is := p.memory.group.is
	if is == nil || !p.t.owns(is) || !p.orphaned(is) {
		return nil
	}
	if p.memory.template.ID() == "" {
		p.memory.template.Forget()
	}
	return cloud.Invalidf(fieldTemplate, "launch template %s, which node group %s was made with, is there no more, and EKS takes no other in its place: its machines stay as they are; make another pool",
		session.Deref(is.LaunchTemplate.Id), p.t.name)
}

// busy says what EKS is doing to the node group.
func busy(is *ekstypes.Nodegroup) *pool.Cause {
	switch is.Status {
	case ekstypes.NodegroupStatusCreating:
		return &pool.Cause{Reason: "Creating", Message: "EKS is making the node group"}
	case ekstypes.NodegroupStatusUpdating:
		return &pool.Cause{Reason: "Updating", Message: "EKS is updating the node group"}
	case ekstypes.NodegroupStatusDeleting:
		return &pool.Cause{Reason: "Deleting", Message: "EKS is deleting the node group"}
	}
	return nil
}

// failed says why the node group's creation or deletion failed, in EKS's words.
func failed(is *ekstypes.Nodegroup) *pool.Cause {
	var what string
	switch is.Status {
	case ekstypes.NodegroupStatusCreateFailed:
		what = "EKS could not make the node group"
	case ekstypes.NodegroupStatusDeleteFailed:
		what = "EKS could not delete the node group"
	default:
		return nil
	}
	cause := &pool.Cause{Reason: string(is.Status), Message: what}
	for k, issue := range healthIssues(is) {
		if k == 0 {
			cause.Reason = issue.Reason
		}
		cause.Message += fmt.Sprintf("; %s: %s", issue.Reason, issue.Message)
	}
	return cause
}
