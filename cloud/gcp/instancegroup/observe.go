package instancegroup

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
)

// reader reads one pool for one call of Observe or Start, as far as what is known of it is out of date.
type reader struct{ templateReader }

// observe reads what is out of date, and returns the observation.
func (r reader) observe(ctx context.Context) (pool.Observed, error) {
	if err := r.read(ctx); err != nil {
		return pool.Observed{}, err
	}
	if err := r.former(ctx); err != nil {
		return pool.Observed{}, err
	}
	if err := r.readTemplates(ctx); err != nil {
		return pool.Observed{}, err
	}
	group := r.memory.group
	fresh := !group.at.Before(r.now)
	if conflict := r.t.ownership(group).Conflict(); conflict != nil {
		return pool.Observed{
			OwnershipConflict: conflict, Unowned: r.unowned(), Versions: r.versions(wanted{}), ResolvedLookups: r.t.Remembered,
			Cache:     pool.CacheStatus{GroupFresh: fresh},
			TaggedFor: r.taggedFor(),
		}, nil
	}
	want, failed := r.want(ctx)
	out := pool.Observed{ResolvedLookups: want.remember,
		Cache: pool.CacheStatus{Fresh: fresh, GroupFresh: fresh, Shared: true}, Versions: r.versions(want),
		TaggedFor: r.taggedFor(), FormerGroup: group.former.Deleting}
	if foreign := r.foreign(want); foreign != nil {
		if group.is == nil {
			return pool.Observed{
				OwnershipConflict: foreign, Versions: out.Versions, ResolvedLookups: r.t.Remembered,
				Cache: pool.CacheStatus{GroupFresh: fresh}, TaggedFor: out.TaggedFor,
			}, nil
		}
		failed = driverkit.Owned(foreign)
	}
	if want.unknown != nil && failed == nil {
		out.Issues = append(out.Issues, driverkit.CauseOf(want.unknown))
	}
	if failed == nil {
		out.Capacity = want.capacity
		if !r.t.Bootstrap.Empty() {
			out.Wanted = want.template.Template
		}
	}
	out, err := r.withGroup(want, failed, out)
	r.explain(ctx, &out)
	return out, err
}

// withGroup adds the group and what has failed to an observation. What keeps a group from being created is an error.
func (r reader) withGroup(want wanted, failed error, out pool.Observed) (pool.Observed, error) {
	exists := r.memory.group.is != nil
	if failed != nil && !exists && driverkit.KeepsFromCreation(failed, len(out.Versions) == 0) {
		return out, &cloud.SpecUnsatisfiableError{Err: failed}
	}
	if failed != nil {
		driverkit.AddUnresolved(&out, failed)
	}
	if exists {
		r.observeGroup(want, &out)
	}
	return out, nil
}

// conflict returns what keeps the pool from being created: a group or a template of its name that is not its own.
func (r templateReader) conflict(ctx context.Context) *pool.Cause {
	if conflict := r.t.ownership(r.memory.group).Conflict(); conflict != nil {
		return conflict
	}
	want, _ := r.want(ctx) // Without what is wanted no template is known to be in the way.
	return r.foreign(want)
}

// taggedFor is the object that the labels of the pool's group name, or those of its newest template.
func (r reader) taggedFor() string {
	if claim := r.t.claim(labelsOf(r.memory.group.is)); claim.SameID() {
		return claim.TaggedFor
	}
	if own := r.memory.templates.own; len(own) > 0 {
		return r.t.claim(own[0].Labels).TaggedFor
	}
	return ""
}

// unowned returns the group that has the pool's name and lacks its owner label; nil if there is none.
func (r reader) unowned() *pool.Unowned {
	out := r.t.ownership(r.memory.group).Unowned(r.t.group)
	if out == nil {
		return nil
	}
	is := r.memory.group.is
	launched, _ := r.memory.templates.find(r.ref(launchesFrom(is))) // What can't be read names no cluster.
	name := r.t.cluster.ClusterName
	out.OtherCluster = cmp.Or(template.OtherCluster(labelsOf(is), r.t.Owner, name), template.OtherCluster(launched.Labels, r.t.Owner, name))
	out.OfCluster = template.OwnedByCluster(labelsOf(is), name, r.t.Owner.Cluster) ||
		template.OwnedByCluster(launched.Labels, name, r.t.Owner.Cluster)
	if r.memory.unread != nil && launched.Ref == "" {
		unread := driverkit.CauseOf(r.memory.unread)
		out.Unread = &unread
	}
	if _, other := r.t.namedGroup(); other {
		out.NamedInstead = r.t.GroupID
	}
	out.Resources = []string{out.Group}
	return out
}

// observeGroup puts the group and its instances into the observation.
func (r reader) observeGroup(want wanted, out *pool.Observed) {
	is := r.memory.group.is
	out.Group = r.describe(want, is)
	out.Instances = r.describeInstances(want, out.Group)
	out.ShortNotice = r.t.pool.Spot() || r.t.pool.Preemptible
	if r.memory.unread != nil {
		out.Issues = append(out.Issues, driverkit.CauseOf(r.memory.unread))
	}
	out.Issues = append(out.Issues, r.issues()...)
}

// describe returns the group as package pool describes groups.
func (r reader) describe(want wanted, is *compute.InstanceGroupManager) *pool.Group {
	rows := r.t.rows(want)
	g := &pool.Group{
		ID: r.t.groupID(), Size: int(is.TargetSize), Template: r.ref(launchesFrom(is)), State: stateOf(is),
		Drift: rows.Differing(nil, is, fields.InPlace).Specs(), Unchangeable: rows.Differing(nil, is, fields.Fixed).Specs(),
	}
	if created := timeOf(is.CreationTimestamp); !created.IsZero() {
		g.Created = created.Add(-r.memory.group.skew)
	}
	if repairsNothing(is) {
		g.LeavesFailed = "spec.instanceLifecyclePolicy.defaultActionOnFailure"
	}
	r.memory.surge().describe(g)
	if r.deleting(is) {
		g.Deleting, g.Drift, g.Unchangeable = true, nil, nil
	}
	return g
}

// deleting reports whether Compute Engine is deleting the group. It has no field that says so: a group that is being deleted deletes all
// its instances and keeps its size, which a deletion of instances lowers.
func (r reader) deleting(is *compute.InstanceGroupManager) bool {
	if !r.memory.deleted.IsZero() && r.now.Sub(r.memory.deleted) < visibleWithin {
		return true
	}
	list := r.memory.group.instances
	return is.TargetSize > 0 && len(list) > 0 && !slices.ContainsFunc(list, func(i instance) bool { return i.action != actionDeleting })
}

// stateOf returns the current action of the group, for messages.
func stateOf(is *compute.InstanceGroupManager) string {
	if stable(is) {
		return "Stable"
	}
	a := is.CurrentActions
	if a == nil {
		return ""
	}
	for _, one := range []struct {
		n    int64
		word string
	}{
		{a.Deleting, "deleting"}, {a.Recreating, "recreating"}, {a.Creating + a.CreatingWithoutRetries, "creating"}, {a.Restarting, "restarting"},
		{a.Refreshing, "refreshing"}, {a.Verifying, "verifying"}, {a.Abandoning, "abandoning"},
	} {
		if one.n > 0 {
			return fmt.Sprintf("%s %d", one.word, one.n)
		}
	}
	return ""
}

// describeInstances returns the instances as package pool describes them.
func (r reader) describeInstances(want wanted, group *pool.Group) []pool.Instance {
	out := make([]pool.Instance, 0, len(r.memory.group.instances))
	for _, i := range r.memory.group.instances {
		made := r.of(i.template, want)
		m := pool.Instance{
			ID: i.ref(), ProviderID: "gce://" + r.t.project + "/" + i.zone + "/" + i.name, UID: i.uid(), Zone: i.zone, Template: made,
			State: i.state(), RemovalAssumed: i.assumed, CloudState: i.cloudState(), Created: i.created, TerminationNotice: i.notice(),
			InPlaceDrift: r.inPlaceDrift(i, group, want), Updating: i.action == actionRefreshing || r.memory.relabelled(i),
		}
		switch {
		case i.vacant() && repairsNothing(r.memory.group.is):
			m.DeletionRequested = &pool.Cause{Reason: "InstanceDeleted",
				Message: "the instance was deleted, and the group creates none in its place"}
		case m.State == pool.Failed && slices.Contains(stopped, i.status):
			m.Stopped = i.status
		}
		if existing, ok := r.memory.templates.find(m.Template.Ref); ok && !m.Template.Same(want.template.Template) {
			m.TemplateDiff = existing.Differs(want.template)
		}
		out = append(out, m)
	}
	return out
}

// cloudState is the instance's state in Compute Engine's words: what it does, and what the group does to it.
func (i instance) cloudState() string {
	if i.action == "" || i.action == actionNone {
		return i.status
	}
	if i.status == "" {
		return i.action
	}
	return i.status + " (" + i.action + ")"
}

// issues are why instances do not come, in Compute Engine's words, each once.
func (r reader) issues() []pool.Cause {
	var out []pool.Cause
	for _, i := range r.memory.group.instances {
		for _, e := range i.failures {
			issue := driverkit.FailureOf(e)
			if e.Where == "" && i.zone != "" {
				issue.Message = "zone " + i.zone + ": " + issue.Message
			}
			issue.Message = cloud.Redact(issue.Message, r.t.Bootstrap)
			if !slices.Contains(out, issue) {
				out = append(out, issue)
			}
		}
	}
	slices.SortFunc(out, func(a, b pool.Cause) int {
		return slices.Compare([]string{a.Reason, a.Message}, []string{b.Reason, b.Message})
	})
	return out
}
