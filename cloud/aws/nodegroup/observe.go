package nodegroup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/pool"
)

// pass is one call for one pool.
type pass struct {
	options Options
	c       *session.Session
	t       target
	now     time.Time
	memory  *memory
}

// reader reads one pool for one call of Observe or Start, as far as what is known of it is out of date.
type reader struct {
	*pass
	// reused is true if the group was not read although the call wants it as it is now.
	reused bool
	// slow paces the reads that are repeated once in a period.
	slow session.SlowReads
}

// ownership returns what decides whether the node group may be changed.
func (r *reader) ownership() driverkit.Ownership { return r.t.ownership(r.memory.group) }

// templates returns what the pool's nodes are launched from.
func (r *reader) templates() templates { return templates{t: r.t, launch: r.launch()} }

// observe reads what is out of date, and returns the observation.
func (r *reader) observe(ctx context.Context) (pool.Observed, error) {
	if err := r.groupAndTemplate(ctx); err != nil {
		return pool.Observed{}, err
	}
	if foreign := r.conflict(); foreign != nil {
		out := pool.Observed{OwnershipConflict: foreign, Unowned: r.templates().unowned(r.memory.group),
			Versions:        r.templates().toDelete(r.memory.group),
			ResolvedLookups: r.t.Remembered, TaggedFor: cmp.Or(r.ownership().Claim.Named(), r.memory.template.TaggedFor())}
		return r.observeConflict(ctx, out)
	}
	is := r.memory.group.is
	want, failed := r.want(ctx)
	if failed == nil {
		failed = r.orphan()
	}
	out := pool.Observed{Versions: r.templates().versions(is, want), Wanted: want.template, ResolvedLookups: want.remember,
		Cache: pool.CacheStatus{Reused: r.reused, GroupFresh: !r.memory.group.at.Before(r.now)}, Capacity: want.capacity(),
		TaggedFor: r.memory.template.TaggedFor(), FormerGroup: r.memory.group.former.Deleting,
	}
	if failed != nil {
		out.Wanted = pool.Template{}
	}
	if err := r.observeNeeds(ctx, &failed, &out); err != nil {
		return pool.Observed{}, err
	}
	if template := r.templates().foreign(); template != nil && r.untagged() == "" {
		out.Issues = append(out.Issues, *template)
	}
	if failed != nil && r.keepsFromCreation(failed) {
		out.Versions = r.templates().toDelete(r.memory.group)
		return out, &cloud.SpecUnsatisfiableError{Err: failed}
	}
	if failed != nil {
		driverkit.AddUnresolved(&out, failed)
	}
	if is == nil {
		return out, nil
	}
	return out, r.observeGroup(ctx, is, want, &out)
}

// groupAndTemplate reads the pool's node group, the one that the object names, and the launch template, each as far as what is known of
// it is out of date.
func (r *reader) groupAndTemplate(ctx context.Context) error {
	if err := r.group(ctx); err != nil {
		return err
	}
	if err := r.named(ctx); err != nil {
		return err
	}
	if err := r.former(ctx); err != nil {
		return err
	}
	r.followTemplate()
	return r.template(ctx)
}

// keepsFromCreation reports whether there is no group, and an error keeps it from being created.
func (r *reader) keepsFromCreation(failed error) bool {
	nothing := r.t.template == "" || len(r.memory.template.Versions()) == 0
	return r.memory.group.is == nil && driverkit.KeepsFromCreation(failed, nothing)
}

// observeGroup puts the node group and its instances into the observation.
func (r *reader) observeGroup(ctx context.Context, is *ekstypes.Nodegroup, want wanted, out *pool.Observed) error {
	if err := r.memory.members.observe(ctx, r.c, r.memory.behind, r.now); err != nil {
		return err
	}
	if err := r.updates(ctx, is); err != nil {
		return err
	}
	m, seen := r.memory, r.templates()
	brought := m.members.broughtByUpdates(m.behind, m.updates)
	out.Group = m.describe(is, want, seen)
	out.TaggedFor = r.t.claim(is).TaggedFor
	out.Instances, out.ExternalStandby = m.instances(is, want, seen, brought), asg.Standby(m.behind.is, func(string) bool { return true })
	out.ProviderRollout, out.ProviderRolloutUnknown = m.rollout(is, want, seen, brought), m.rolloutUnknown()
	out.Cache.Shared = m.atRest(r.t)
	out.Issues = slices.Concat(out.Issues, m.members.issues(), m.issues(is, want, r.now))
	issues, err := r.activities(ctx)
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

// issues returns what is wrong with the node group according to EKS, and what waits for something.
func (m *memory) issues(is *ekstypes.Nodegroup, want wanted, now time.Time) []pool.Cause {
	issues := healthIssues(is)
	if issue := m.updates.configIssue(now); issue != nil {
		issues = append(issues, *issue)
	}
	low := ptr.Deref(scalingOf(is).MinSize, 0)
	if size := m.size(); is.Status != ekstypes.NodegroupStatusDeleting && want.group.min > size && low != want.group.min {
		issues = append(issues, pool.Cause{Reason: "MinimumWaits", Message: fmt.Sprintf(
			"%s is raised to %d once the node group, which has a size of %d, is as large", fieldMin, want.group.min, size)})
	}
	if want.course.path.WaitsForControlPlane {
		issues = append(issues, pool.Cause{Reason: pool.ControlPlaneUpgradePending, Message: "nodes run " + want.course.path.String()})
	}
	return issues
}

// group reads the node group and the group behind it, in a call each; at rest the group behind alone, in a call that pools share.
func (r *reader) group(ctx context.Context) error {
	known := r.memory.group
	if driverkit.Reusable(known.at, r.now, r.t.Cache.MaxAge) || r.memory.template.GroupStillKnown(known.asked, r.now, r.t.Cache.MaxAge) {
		r.reused = r.t.Cache.MaxAge == 0
		return nil
	}
	if holds, err := r.holdsStill(ctx); holds || err != nil {
		return err
	}
	found, err := r.c.EKS.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: &r.t.eks, NodegroupName: &r.t.name})
	if err = session.Refusal(err, r.now); err != nil && !session.Absent(err) {
		return err
	}
	if err != nil || found.Nodegroup == nil {
		r.memory.group, r.memory.behind, r.memory.template.Wrote = groupRead{at: r.now, asked: r.now}, behindRead{at: r.now}, false
		if err := driverkit.NotYetShown("node group "+r.t.name, r.memory.made, r.now, session.VisibleWithin); err != nil {
			r.memory.group = groupRead{}
			return err
		}
		return nil
	}
	is := found.Nodegroup
	is.CreatedAt, is.ModifiedAt = session.OurTime(is.CreatedAt, found.ResultMetadata), session.OurTime(is.ModifiedAt, found.ResultMetadata)
	if !r.t.owns(is) {
		r.memory.behind = behindRead{at: r.now}
	} else if err := r.behind(ctx, is); err != nil {
		return err
	}
	r.memory.group, r.memory.template.Wrote = groupRead{is: is, at: r.now, asked: r.now, asks: r.t.digest()}, false
	r.memory.noteFailure(is, r.now)
	return nil
}

// template reads the launch template slowly, and at once when the node group is launched from a version that is not known.
func (r *reader) template(ctx context.Context) error {
	if r.t.template == "" {
		return nil
	}
	var refs []string
	if is := r.memory.group.is; is != nil && r.t.owns(is) && is.LaunchTemplate != nil {
		refs = append(refs, r.templates().ref(is, ""))
	}
	return r.launch().Read(ctx, refs)
}

// named reads the node group that the object names, if that is not the pool's own and the pool's own does not exist: another tool may have
// managed the pool before.
func (r *reader) named(ctx context.Context) error {
	on := r.t.groupNamed()
	group := &r.memory.group
	if group.is != nil || !r.t.namesAnother(on) || group.named.ID == r.t.GroupID {
		return nil
	}
	label := fmt.Sprintf("node group %s of EKS cluster %s", on.name, on.cluster)
	if session.Elsewhere(on.region, r.t.cluster) {
		group.named = driverkit.NamedGroup{ID: r.t.GroupID, Conflict: cloud.NamedElsewhere(label, "it is in region "+on.region)}
		return nil
	}
	found, err := r.c.EKS.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: &on.cluster, NodegroupName: &on.name})
	if err = session.Refusal(err, r.now); err != nil && !session.Absent(err) {
		return err
	}
	group.named = driverkit.NamedGroup{ID: r.t.GroupID}
	if err == nil && found.Nodegroup != nil && !r.t.owns(found.Nodegroup) {
		group.named.Conflict = driverkit.NamedConflict(label, on.name, r.t.claim(found.Nodegroup))
	}
	return nil
}

// foreign returns the cause of a launch template that has the pool's name without its owner tag.
func (l templates) foreign() *pool.Cause {
	if l.t.template == "" {
		return nil
	}
	return l.launch.Foreign()
}

// conflict returns what prevents the pool from being created, or from being reconciled.
func (r *reader) conflict() *pool.Cause {
	return r.ownership().ConflictWith(r.templates().foreign())
}

// foreignLaunches reports whether a node group with the pool's name and another owner is launched from the pool's template: it was taken
// over.
func (l templates) foreignLaunches(group groupRead) bool {
	is := group.is
	return is != nil && l.t.ownership(group).Conflict() != nil && is.LaunchTemplate != nil && l.launch.Memory.Holds(l.ref(is, ""))
}

// toDelete returns the versions of the pool's template beside a node group of another owner, unless that is launched from them: they are
// deleted with the pool.
func (l templates) toDelete(group groupRead) []pool.Template {
	if l.t.template == "" || l.foreignLaunches(group) {
		return nil
	}
	return l.launch.Memory.Versions()
}

// describe returns the node group as package pool describes groups.
func (m *memory) describe(is *ekstypes.Nodegroup, want wanted, seen templates) *pool.Group {
	current := seen.now(is, want)
	scaling := scalingOf(is)
	g := &pool.Group{
		ID:       ptr.Deref(is.NodegroupArn, ""),
		Size:     int(m.size()),
		Min:      int(ptr.Deref(scaling.MinSize, 0)),
		Max:      int(ptr.Deref(scaling.MaxSize, 0)),
		Template: current.Ref,
		Content:  current.Content,
		Deleting: is.Status == ekstypes.NodegroupStatusDeleting,
		Busy:     busy(is),
		Failed:   failed(is),
		Created:  ptr.Deref(is.CreatedAt, time.Time{}),

		ProviderRolloutSurge: m.behind.surge(),
	}
	if is.Status == ekstypes.NodegroupStatusDeleteFailed {
		g.DeleteFailedAt = m.deleteFailed
	}
	if g.Deleting {
		return g
	}
	wants, has := document{groupSpec: want.group, of: seen.t}, document{is: is, size: m.size()}
	g.Drift = groupFields.Differing(wants, has, fields.InPlace).Specs()
	g.Unchangeable = groupFields.Differing(wants, has, fields.Fixed).Specs()
	if seen.orphaned(is) {
		g.Unchangeable = session.Unique(append(g.Unchangeable, fieldTemplate))
	}
	if g.Failed != nil {
		seen.t.asMade(g, want)
	}
	if m.behind.drifted(want.group, m.members) {
		g.Drift = append(g.Drift, driftPassed)
	}
	return g
}

// asMade names what differs from what a failed group was created from as unchangeable: EKS changes only the tags of such a group.
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

// orphaned reports whether the launch template that the node group was created with no longer exists: EKS accepts no other in its place.
func (l templates) orphaned(is *ekstypes.Nodegroup) bool {
	return l.t.template != "" && is.LaunchTemplate != nil && ptr.Deref(is.LaunchTemplate.Id, "") != l.launch.Memory.ID()
}

// orphan is orphaned as an error about the specification. What is not shown yet may be shown soon.
func (r *reader) orphan() error {
	is := r.memory.group.is
	if is == nil || !r.t.owns(is) || !r.templates().orphaned(is) {
		return nil
	}
	if r.memory.template.ID() == "" {
		r.memory.template.Forget()
	}
	return cloud.Invalidf(fieldTemplate, "launch template %s, which node group %s was made with, is there no more, and EKS takes no other "+
		"in its place: its machines stay as they are; make another pool",
		ptr.Deref(is.LaunchTemplate.Id, ""), r.t.name)
}

// busy returns the operation that EKS performs on the node group; nil if there is none.
func busy(is *ekstypes.Nodegroup) *pool.Cause {
	switch is.Status {
	case ekstypes.NodegroupStatusCreating:
		return &pool.Cause{Reason: "Creating", Message: "EKS is creating the node group"}
	case ekstypes.NodegroupStatusUpdating:
		return &pool.Cause{Reason: "Updating", Message: "EKS is updating the node group"}
	case ekstypes.NodegroupStatusDeleting:
		return &pool.Cause{Reason: "Deleting", Message: "EKS is deleting the node group"}
	}
	return nil
}

// failed returns why the node group's creation or deletion failed, in EKS's words.
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
