package aws

import (
	"cmp"
	"context"
	"slices"
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/desired"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// observe reads what is out of date, and returns the observation.
func (r *reader) observe(ctx context.Context) (pool.Observed, error) {
	if err := r.read(ctx); err != nil {
		return pool.Observed{}, err
	}
	group, template := r.memory.group, &r.memory.template
	is, fresh := group.is, !group.at.Before(r.now)
	if conflict := r.conflict(); conflict != nil {
		return pool.Observed{
			OwnershipConflict: conflict, Unowned: r.templates().unowned(r.t, group), Cache: pool.CacheStatus{GroupFresh: fresh},
			Versions: r.templates().toDelete(r.t, group), ResolvedLookups: r.t.Remembered,
			TaggedFor: cmp.Or(r.ownership().Claim.Named(), template.TaggedFor()),
		}, nil
	}
	out := pool.Observed{TaggedFor: template.TaggedFor(), Versions: template.Versions(),
		Cache:       pool.CacheStatus{Reused: r.reused, Shared: true, GroupFresh: fresh},
		FormerGroup: group.former.Deleting}
	if template := r.launch.Foreign(); template != nil && (is == nil || len(r.untagged(is)) == 0) {
		out.Issues = append(out.Issues, *template)
	}
	needs, issues := r.launch.Prerequisites(ctx)
	out.MissingPrerequisites, out.Issues = needs, append(out.Issues, issues...)
	want, err := r.want(ctx)
	// Which versions have the wanted bootstrap data is known once it is known what is wanted.
	out.Versions, out.ResolvedLookups = template.Versions(), want.remember
	if err != nil {
		if is == nil && driverkit.KeepsFromCreation(err, len(out.Versions) == 0) {
			return out, &cloud.SpecUnsatisfiableError{Err: err}
		}
		for _, failed := range want.failed {
			driverkit.AddUnresolved(&out, failed)
		}
	}
	out.Wanted, out.Capacity = want.template.Template, want.template.Capacity
	if is == nil {
		return out, nil
	}
	if err := r.observeGroup(ctx, is, want, &out); err != nil {
		return pool.Observed{}, err
	}
	return out, nil
}

// read reads the group, the one that the object names, and the launch template, as far as they are out of date.
func (r *reader) read(ctx context.Context) error {
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

// conflict returns what prevents the pool from being created, or from being reconciled.
func (r *reader) conflict() *pool.Cause {
	return r.ownership().ConflictWith(r.launch.Foreign())
}

// observeGroup adds the group, its instances, its newest refresh and its issues to an observation.
func (r *reader) observeGroup(ctx context.Context, is *asgtypes.AutoScalingGroup, want wanted, out *pool.Observed) error {
	if err := r.rest(ctx, is); err != nil {
		return err
	}
	m, seen := r.memory, r.templates()
	out.MissingPrerequisites = append(out.MissingPrerequisites, r.untagged(is)...)
	out.Group = m.describe(is, want.group, seen)
	out.TaggedFor = r.t.claim(is).TaggedFor
	out.Cache.Shared = !m.refreshes.Running() // a refresh is read for one pool alone
	out.Instances, out.ExternalStandby = m.instances(is, want, seen, r.now), asg.Standby(is, m.members.External)
	out.ShortNotice = m.members.ShortNotice(is)
	out.ProviderRollout, out.ProviderRolloutUnknown = m.refreshes.Newest(seen.of), m.refreshes.Refused()
	hooks := m.hooks.Refused.Err
	if cloud.KindOf(hooks) == cloud.Denied {
		driverkit.AddUnresolved(out, hooks) // What passes by itself leaves what was compared before.
		hooks = nil
	}
	for _, refused := range []error{hooks, m.members.Refused(), m.holds.Refused()} {
		if refused != nil {
			out.Issues = append(out.Issues, driverkit.CauseOf(refused))
		}
	}
	out.Issues = append(out.Issues, desired.SuspendedIssues(is, out.ProviderRollout)...)
	issues, err := m.activities.Read(ctx, r.c, is, m.resized, r.now)
	out.Issues = append(append(out.Issues, issues...), m.hooks.HeldByOthers(is, m.holds, m.members.Created, r.now)...)
	return err
}

// describe returns the group as package pool describes groups. Protections of Muster's that no refresh needs are drift.
func (m *memory) describe(is *asgtypes.AutoScalingGroup, want desired.Group, seen templates) *pool.Group {
	g := &pool.Group{
		ID:       ptr.Deref(is.AutoScalingGroupARN, ""),
		Size:     int(ptr.Deref(is.DesiredCapacity, 0)),
		Min:      int(ptr.Deref(is.MinSize, 0)),
		Max:      int(ptr.Deref(is.MaxSize, 0)),
		Template: seen.ref(asg.LaunchedFrom(is)),
		Deleting: asg.Deleting(is),
	}
	if g.Deleting {
		return g
	}
	g.Drift = want.Drift(is, m.hooks)
	if m.refreshes.Fixed() {
		g.Drift = slices.DeleteFunc(g.Drift, func(field string) bool { return field == desired.FieldMixed })
	}
	if len(m.leftProtected(is)) > 0 {
		g.Drift = append(g.Drift, desired.FieldProtection)
	}
	return g
}

// leftProtected returns the instances with a protection of Muster's that no refresh needs.
func (m *memory) leftProtected(is *asgtypes.AutoScalingGroup) []string {
	if !m.refreshes.Over() {
		return nil
	}
	return m.members.LeftProtected(is)
}

// instances returns the group's members, in the order in which they were created. Those whose creation is not known yet are the youngest.
// Instances in standby that Muster did not put there are left to the client that did.
func (m *memory) instances(is *asgtypes.AutoScalingGroup, want wanted, seen templates, now time.Time) []pool.Instance {
	var list []pool.Instance
	differs, launched := seen.launch.Differences(want.template), newLaunchedAs(is, want, seen)
	for _, i := range is.Instances {
		id := ptr.Deref(i.InstanceId, "")
		state, member := asg.StateOf(i)
		if !member || asg.InStandby(i) && m.members.External(id) {
			continue
		}
		list = append(list, pool.Instance{
			ID:                id,
			ProviderID:        asg.ProviderID(i),
			Zone:              ptr.Deref(i.AvailabilityZone, ""),
			Template:          launched.template(i),
			State:             state,
			Created:           m.members.Created(id),
			Standby:           asg.InStandby(i),
			EnteringStandby:   !asg.InStandby(i) && m.members.Entering(id, now),
			LifecycleHook:     m.holds.Of(id),
			TerminationNotice: cmp.Or(m.holds.Cause(id), m.members.Interruption(id), asg.Unhealthy(is, i)),
			TemplateDiff:      launched.diff(i, differs(seen.ref(i.LaunchTemplate))),
		})
	}
	driverkit.SortByAge(list)
	return list
}
