package aws

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// pass is one call of Observe or Start for one pool.
type pass struct {
	c      *session.Session
	t      target
	now    time.Time
	memory *memory
	// reused is true if the group was not read although the pass wants it as it is now.
	reused bool
	// launch is the pass over the pool's launch template.
	launch launch.Pass
}

// wanted is what the specification asks for now.
type wanted struct {
	group    groupSpec
	template launch.Want
	remember map[string]string
}

// observe reads what is not known any more and puts it into pool's words.
func (p *pass) observe(ctx context.Context) (pool.Observed, error) {
	if err := p.readGroup(ctx); err != nil {
		return pool.Observed{}, err
	}
	if err := p.readNamed(ctx); err != nil {
		return pool.Observed{}, err
	}
	followTemplate(p)
	if err := p.readTemplate(ctx); err != nil {
		return pool.Observed{}, err
	}
	if foreign := p.foreign(); foreign != nil {
		return pool.Observed{OwnershipConflict: foreign, Unowned: unowned(p), GroupFresh: p.fresh(), Versions: p.versionsToDelete(), ResolvedLookups: p.t.Remembered}, nil
	}
	out := pool.Observed{TaggedFor: p.memory.template.TaggedFor(), Versions: p.memory.template.Versions(), Reused: p.reused, Shared: true, GroupFresh: p.fresh()}
	if template := p.launch.Foreign(); template != nil {
		out.Issues = append(out.Issues, *template)
	}
	p.readObjects(ctx, &out)
	is := p.memory.group.is
	want, err := p.want(ctx)
	// What is wanted tells which versions bring their data as it is wanted.
	out.Versions, out.ResolvedLookups = p.memory.template.Versions(), want.remember
	if err != nil {
		if is == nil && len(out.Versions) == 0 {
			return out, &cloud.SpecUnsatisfiableError{Err: err}
		}
		out.Issues = append(out.Issues, driverkit.CauseOf(err))
	}
	out.Wanted, out.Capacity = want.template.Template, want.template.Capacity
	if is == nil {
		return out, nil
	}
	if err := p.observeGroup(ctx, is, want, &out); err != nil {
		return pool.Observed{}, err
	}
	return out, nil
}

// fresh reports whether the group was read in this pass.
func (p *pass) fresh() bool { return !p.memory.group.at.Before(p.now) }

// observeGroup adds the group, its instances, its roll and its issues to an observation.
func (p *pass) observeGroup(ctx context.Context, is *asgtypes.AutoScalingGroup, want wanted, out *pool.Observed) error {
	if err := p.readRest(ctx, is); err != nil {
		return err
	}
	out.Group = p.group(is, want.group)
	out.TaggedFor = cloud.TaggedFor(func(name string) string { return tagOf(is, session.OwnTag(name)) })
	out.Shared = !p.memory.rolls.running() // a refresh is read for one pool alone
	out.Instances, out.ExternalStandby = p.instances(is, want), p.externalStandby(is)
	out.ShortNotice = p.atShortNotice(is)
	out.ProviderRollout, out.ProviderRolloutUnknown = p.roll(), p.memory.rolls.refused
	for _, refused := range []error{p.memory.hooks.refused, p.memory.membersRefused.Err} {
		if refused != nil {
			out.Issues = append(out.Issues, driverkit.CauseOf(refused))
		}
	}
	out.Issues = append(out.Issues, suspendedIssues(is, out.ProviderRollout)...)
	issues, err := p.memory.activities.Read(ctx, p.c, is, p.memory.resized, p.now)
	out.Issues = append(out.Issues, issues...)
	return err
}

// readGroup reads the group with its instances, in one call that pools share.
func (p *pass) readGroup(ctx context.Context) error {
	if p.memory.groupAsRead(p.now, p.t.MaxAge) {
		p.reused = p.t.MaxAge == 0
		return nil
	}
	is, at, err := p.c.Group(ctx, p.t.group, p.t.MaxAge)
	if err != nil {
		return err
	}
	p.memory.group = groupRead{is: is, at: at}
	p.memory.template.Wrote = false
	if is != nil {
		return nil
	}
	if at.Sub(p.memory.made) < session.VisibleWithin {
		// To believe it would make the group twice, or let the object of one go that is there.
		p.memory.group = groupRead{}
		return &cloud.Error{Kind: cloud.Conflict, Code: "GroupNotShown", Message: fmt.Sprintf(
			"Auto Scaling group %s was made a moment ago and is not shown yet", p.t.group)}
	}
	return nil
}

// readNamed reads the group that the object names, where that is another than ours and ours does not exist: another tool may have
// managed the pool before.
func (p *pass) readNamed(ctx context.Context) error {
	region, name := p.t.groupNamed()
	group := &p.memory.group
	if group.is != nil || name == "" || name == p.t.group || group.named.ID == p.t.GroupID {
		return nil
	}
	label := "Auto Scaling group " + name
	if region != "" && p.t.cluster.Region != "" && region != p.t.cluster.Region {
		group.named = driverkit.NamedGroup{ID: p.t.GroupID, Conflict: cloud.NamedElsewhere(label, "it is in region "+region)}
		return nil
	}
	is, _, err := p.c.Group(ctx, name, p.t.MaxAge)
	if err != nil {
		return err
	}
	group.named = driverkit.NamedGroup{ID: p.t.GroupID}
	if is != nil && !p.ours(is) {
		group.named.Conflict = driverkit.NamedConflict(label, name, session.TagOwner, tagOf(is, session.TagOwner))
	}
	return nil
}

// ours reports whether the group carries our owner tag.
func (p *pass) ours(is *asgtypes.AutoScalingGroup) bool {
	owner := tagOf(is, session.TagOwner)
	return owner == p.t.Owner.ID || owner == "" && p.t.AssumeOwned
}

// foreignGroup returns why a group that has our name, or that the object names, is refused: it lacks our owner tag.
func (p *pass) foreignGroup() *pool.Cause { return ownership(p).Conflict() }

// ownership is what decides whether the group may be changed.
func ownership(p *pass) driverkit.Ownership {
	is := p.memory.group.is
	o := driverkit.Ownership{
		Exists: is != nil, Named: p.memory.group.named, GroupID: p.t.GroupID, Tag: session.TagOwner,
		Group: "Auto Scaling group " + p.t.group, Kind: "group", Rename: "by the annotation muster.dev/group-name",
	}
	if is != nil {
		o.Owned, o.Owner = p.ours(is), tagOf(is, session.TagOwner)
	}
	return o
}

// foreign says what keeps the pool from being made, or from being looked after. Once the group exists, a template that is
// not ours is an issue and no more, so that the group can still be sized and deleted.
func (p *pass) foreign() *pool.Cause {
	if group := p.foreignGroup(); group != nil || p.memory.group.is != nil {
		return group
	}
	return p.launch.Foreign()
}

// versionsToDelete are the versions of our template beside a group that is not ours, unless that group launches from them:
// they are ours to delete with the pool.
func (p *pass) versionsToDelete() []pool.Template {
	if p.foreignLaunches() {
		return nil
	}
	return p.memory.template.Versions()
}

// foreignLaunches reports whether a group with the pool's name and another owner launches from the pool's template: it was taken over.
func (p *pass) foreignLaunches() bool {
	is := p.memory.group.is
	return is != nil && p.foreignGroup() != nil && p.memory.template.Holds(p.refOf(launchedFrom(is)))
}

// want translates the specification, with whatever look-ups that takes. What does not depend on a look-up that failed is
// there even so.
func (p *pass) want(ctx context.Context) (wanted, error) {
	look := p.c.Resolver(p.t.Remembered, p.now)
	w := wanted{group: groupSpecOf(p.t), remember: look.Remember}
	session.KeepAdopted(p.t.Remembered, look.Remember)
	var failed []error
	subnets, err := launch.Subnets(ctx, look, p.t.cluster, p.t.places())
	if err == nil {
		err = p.launch.Source.FitsIn(subnets)
	}
	if err == nil {
		err = hookNameFree(p.t)
	}
	if err != nil {
		failed = append(failed, err)
	} else {
		w.group.subnets = subnets
	}
	if w.template, err = p.launch.Want(ctx, look); err != nil {
		failed = append(failed, err)
	}
	if len(failed) > 0 {
		look.Keep()
		return w, failed[0]
	}
	return w, nil
}

// launchedFrom is the template that the group launches from, wherever it says so.
func launchedFrom(is *asgtypes.AutoScalingGroup) *asgtypes.LaunchTemplateSpecification {
	if m := is.MixedInstancesPolicy; m != nil && m.LaunchTemplate != nil {
		return m.LaunchTemplate.LaunchTemplateSpecification
	}
	return is.LaunchTemplate
}

// refOf is the ref of what a group or an instance says about its template.
func (p *pass) refOf(s *asgtypes.LaunchTemplateSpecification) string {
	if s == nil {
		return ""
	}
	return p.launch.RefOf(s.LaunchTemplateId, s.LaunchTemplateName, s.Version)
}

func (p *pass) group(is *asgtypes.AutoScalingGroup, want groupSpec) *pool.Group {
	g := &pool.Group{
		ID:       session.Deref(is.AutoScalingGroupARN),
		Size:     int(session.Deref(is.DesiredCapacity)),
		Min:      int(session.Deref(is.MinSize)),
		Max:      int(session.Deref(is.MaxSize)),
		Template: p.refOf(launchedFrom(is)),
		Deleting: strings.HasPrefix(session.Deref(is.Status), asg.StatusDeleting),
	}
	if !g.Deleting {
		g.Drift = want.drift(is, p.memory.hooks)
		if p.memory.rolls.fixed() {
			g.Drift = slices.DeleteFunc(g.Drift, func(field string) bool { return field == driftMixed })
		}
		if len(p.leftProtected(is)) > 0 {
			g.Drift = append(g.Drift, driftKept)
		}
	}
	return g
}

// readRest reads what is not known of a group and its instances and does not change with them.
func (p *pass) readRest(ctx context.Context, is *asgtypes.AutoScalingGroup) error {
	if err := p.readHooks(ctx); err != nil {
		return err
	}
	if err := p.observeMembers(ctx, is); err != nil {
		return err
	}
	if err := p.readRolls(ctx, is); err != nil {
		return err
	}
	if err := p.readMarks(ctx, is); err != nil {
		return err
	}
	return p.readHolds(ctx, is)
}

// readHooks reads the group's lifecycle hooks when the group's configuration has changed, and once in a while, because a hook can be
// removed without a trace in the group. A group that is being deleted has none.
func (p *pass) readHooks(ctx context.Context) error {
	is := p.memory.group.is
	if p.memory.hooks.made {
		p.memory.hooks.of, p.memory.hooks.made = is, false
	}
	if p.hooksAsRead(is) || strings.HasPrefix(session.Deref(is.Status), asg.StatusDeleting) {
		return nil
	}
	found, err := p.c.AutoScaling.DescribeLifecycleHooks(ctx, &autoscaling.DescribeLifecycleHooksInput{AutoScalingGroupName: &p.t.group})
	if err = session.Refusal(err, p.now); session.Absent(err) || beingDeleted(err) {
		// The group as it was read is older than its deletion.
		return nil
	}
	if err != nil && cloud.KindOf(err) == cloud.Denied {
		p.memory.hooks = hooksRead{at: p.now, refused: err}
		return nil
	}
	if err != nil {
		return err
	}
	p.memory.hooks = hooksRead{list: found.LifecycleHooks, at: p.now, of: is}
	return nil
}

// hooksAsRead reports whether the lifecycle hooks need not be read again.
func (p *pass) hooksAsRead(is *asgtypes.AutoScalingGroup) bool {
	known := p.memory.hooks
	age := p.now.Sub(known.at)
	switch {
	case known.at.IsZero():
		return false
	case known.refused != nil:
		return age < session.RefusedPeriod
	default:
		return age < session.DetailPeriod && sameConfiguration(known.of, is)
	}
}

// sameConfiguration reports whether a group is configured as it was: its instances, its size and what it launches come and go.
func sameConfiguration(was, is *asgtypes.AutoScalingGroup) bool {
	return was == is || was != nil && is != nil && reflect.DeepEqual(configuration(*was), configuration(*is))
}

// configuration returns a group without what comes and goes.
func configuration(g asgtypes.AutoScalingGroup) asgtypes.AutoScalingGroup {
	g.Instances, g.LaunchTemplate, g.MixedInstancesPolicy, g.Status = nil, nil, nil, nil
	g.DesiredCapacity, g.PredictedCapacity, g.WarmPoolSize = nil, nil, nil
	g.Tags = slices.SortedFunc(slices.Values(g.Tags), func(a, b asgtypes.TagDescription) int {
		return strings.Compare(session.Deref(a.Key), session.Deref(b.Key))
	})
	return g
}
