package instancegroup

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
)

// view makes the observation of a pass.
type view struct{ shelf }

// observe reads what is out of date, and returns the observation.
func (p view) observe(ctx context.Context) (pool.Observed, error) {
	if err := p.read(ctx); err != nil {
		return pool.Observed{}, err
	}
	if err := p.readTemplates(ctx); err != nil {
		return pool.Observed{}, err
	}
	group := p.memory.group
	fresh := !group.at.Before(p.now)
	if conflict := p.t.ownership(group).Conflict(); conflict != nil {
		return pool.Observed{
			OwnershipConflict: conflict, Unowned: p.unowned(), Versions: p.versions(wanted{}), ResolvedLookups: p.t.Remembered, GroupFresh: fresh,
			TaggedFor: p.taggedFor(),
		}, nil
	}
	want, failed := p.want(ctx)
	out := pool.Observed{ResolvedLookups: want.remember, Fresh: fresh, GroupFresh: fresh, Shared: true, Versions: p.versions(want),
		TaggedFor: p.taggedFor()}
	if foreign := p.foreign(want); foreign != nil {
		if group.is == nil {
			return pool.Observed{
				OwnershipConflict: foreign, Versions: out.Versions, ResolvedLookups: p.t.Remembered, GroupFresh: fresh, TaggedFor: out.TaggedFor,
			}, nil
		}
		failed = driverkit.Owned(foreign)
	}
	if want.unknown != nil && failed == nil {
		out.Issues = append(out.Issues, driverkit.CauseOf(want.unknown))
	}
	if failed == nil {
		out.Capacity = want.capacity
		if !p.t.Bootstrap.Empty() {
			out.Wanted = want.template.Template
		}
	}
	out, err := p.withGroup(want, failed, out)
	p.explain(ctx, &out)
	return out, err
}

// withGroup adds the group and what has failed to an observation. What keeps a group from being created is an error.
func (p view) withGroup(want wanted, failed error, out pool.Observed) (pool.Observed, error) {
	exists := p.memory.group.is != nil
	if failed != nil && !exists && driverkit.KeepsFromCreation(failed, len(out.Versions) == 0) {
		return out, &cloud.SpecUnsatisfiableError{Err: failed}
	}
	if failed != nil {
		out.Issues = append(out.Issues, driverkit.CauseOf(failed))
	}
	if exists {
		p.observeGroup(want, &out)
	}
	return out, nil
}

// conflict returns what keeps the pool from being created: a group or a template of its name that is not its own.
func (p shelf) conflict(ctx context.Context) *pool.Cause {
	if conflict := p.t.ownership(p.memory.group).Conflict(); conflict != nil {
		return conflict
	}
	want, _ := p.want(ctx) // Without what is wanted no template is known to be in the way.
	return p.foreign(want)
}

// taggedFor is the object that the labels of the pool's group name, or those of its newest template.
func (p view) taggedFor() string {
	if is := p.memory.group.is; is != nil && p.t.owns(labelsOf(is)) {
		return template.TaggedFor(labelsOf(is), p.t.Owner)
	}
	if own := p.memory.templates.own; len(own) > 0 {
		return template.TaggedFor(own[0].Labels, p.t.Owner)
	}
	return ""
}

// unowned returns the group that has the pool's name and lacks its owner label; nil if there is none.
func (p view) unowned() *pool.Unowned {
	out := p.t.ownership(p.memory.group).Unowned(p.t.group)
	if out == nil {
		return nil
	}
	is := p.memory.group.is
	launched, _ := p.memory.templates.find(p.ref(launchesFrom(is))) // What can't be read names no cluster.
	name := p.t.cluster.ClusterName
	out.OtherCluster = cmp.Or(template.OtherCluster(labelsOf(is), p.t.Owner, name), template.OtherCluster(launched.Labels, p.t.Owner, name))
	if _, other := p.t.namedGroup(); other {
		out.NamedInstead = p.t.GroupID
	}
	out.Resources = []string{out.Group}
	return out
}

// observeGroup puts the group and its instances into the observation.
func (p view) observeGroup(want wanted, out *pool.Observed) {
	is := p.memory.group.is
	out.Group = p.describe(want, is)
	out.Instances = p.describeInstances(want, out.Group)
	out.ShortNotice = p.t.pool.Spot() || p.t.pool.Preemptible
	if p.memory.denied != nil {
		out.Issues = append(out.Issues, driverkit.CauseOf(p.memory.denied))
	}
	out.Issues = append(out.Issues, p.issues()...)
}

// describe returns the group as package pool describes groups.
func (p view) describe(want wanted, is *compute.InstanceGroupManager) *pool.Group {
	g := &pool.Group{
		ID: p.t.groupID(), Size: int(is.TargetSize), Template: p.ref(launchesFrom(is)), Drift: p.drift(want, is),
		Unchangeable: p.unchangeable(is),
		State:        stateOf(is),
	}
	if created := timeOf(is.CreationTimestamp); !created.IsZero() {
		g.Created = created.Add(-p.memory.group.skew)
	}
	if repairsNothing(is) {
		g.LeavesFailed = "spec.instanceLifecyclePolicy.defaultActionOnFailure"
	}
	p.memory.surge().describe(g)
	if p.deleting(is) {
		g.Deleting, g.Drift, g.Unchangeable = true, nil, nil
	}
	return g
}

// deleting reports whether Compute Engine is deleting the group. It has no field that says so: a group that is being deleted deletes all
// its instances and keeps its size, which a deletion of instances lowers.
func (p view) deleting(is *compute.InstanceGroupManager) bool {
	if !p.memory.deleted.IsZero() && p.now.Sub(p.memory.deleted) < visibleWithin {
		return true
	}
	list := p.memory.group.instances
	return is.TargetSize > 0 && len(list) > 0 && !slices.ContainsFunc(list, func(i instance) bool { return i.action != actionDeleting })
}

// stateOf is what the group does, for people.
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
func (p view) describeInstances(want wanted, group *pool.Group) []pool.Instance {
	out := make([]pool.Instance, 0, len(p.memory.group.instances))
	for _, i := range p.memory.group.instances {
		made := p.of(i.template, want)
		m := pool.Instance{
			ID: i.ref(), ProviderID: "gce://" + p.t.project + "/" + i.zone + "/" + i.name, UID: i.uid(), Zone: i.zone, Template: made,
			State: i.state(), RemovalAssumed: i.assumed, CloudState: i.cloudState(), Created: i.created, TerminationNotice: i.notice(),
			InPlaceDrift: p.inPlaceDrift(i, group, want), Updating: i.action == actionRefreshing || p.memory.relabelled(i),
		}
		switch {
		case i.vacant() && repairsNothing(p.memory.group.is):
			m.DeletionRequested = &pool.Cause{Reason: "InstanceDeleted",
				Message: "the instance was deleted, and the group creates none in its place"}
		case m.State == pool.Failed && slices.Contains(stopped, i.status):
			m.Stopped = i.status
		}
		if existing, ok := p.memory.templates.find(m.Template.Ref); ok && !m.Template.Same(want.template.Template) {
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
func (p view) issues() []pool.Cause {
	var out []pool.Cause
	for _, i := range p.memory.group.instances {
		for _, e := range i.failures {
			issue := driverkit.FailureOf(e)
			if e.Where == "" && i.zone != "" {
				issue.Message = "zone " + i.zone + ": " + issue.Message
			}
			issue.Message = cloud.Redact(issue.Message, p.t.Bootstrap)
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
