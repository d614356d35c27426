package azure

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// pass is one call of Observe or Start for one pool.
type pass struct {
	c      *session.Session
	t      target
	now    time.Time
	memory *memory
	// fresh is true if the scale set was read by a request of this call.
	fresh bool
	// lookups are the look-ups that pools share.
	lookups *cache.Lookups
}

// observe reads what is out of date, and returns the observation.
func (p *pass) observe(ctx context.Context) (pool.Observed, error) {
	if err := p.read(ctx); err != nil {
		return pool.Observed{}, err
	}
	if err := p.readNamed(ctx); err != nil {
		return pool.Observed{}, err
	}
	if foreign := p.t.ownership(p.memory.set).Conflict(); foreign != nil {
		return pool.Observed{OwnershipConflict: foreign, Unowned: p.t.unowned(p.memory.set), ResolvedLookups: p.t.Remembered, Fresh: p.fresh}, nil
	}
	want, failed := p.want(ctx)
	out := pool.Observed{
		Wanted: want.template, ResolvedLookups: want.remember, ShortNotice: p.t.spot(), Operations: p.memory.operations.list, Fresh: p.fresh,
		Capacity: want.capacity,
	}
	role, err := p.role().Observe(ctx, out.ResolvedLookups)
	if err != nil {
		return pool.Observed{}, err
	}
	out.MissingPrerequisites, out.Leftovers, out.Issues, out.ResolvedLookups = role.Missing, role.Leftovers, role.Issues, role.Remember
	is := p.memory.set.is
	out.Shared = p.t.shares(is)
	if is == nil {
		out.InstancesBelow = p.t.instancesBelow()
		if failed != nil {
			return out, &cloud.SpecUnsatisfiableError{Err: failed}
		}
		return out, nil
	}
	if failed != nil {
		out.Issues = append(out.Issues, driverkit.CauseOf(failed))
	}
	issues := p.t.redactIssues(p.scaleSetIssues(ctx))
	out.Operations = p.memory.operations.list
	version := p.memory.set.version(want)
	out.Versions, out.Group = []pool.Template{version}, p.group(want, version, issues)
	out.TaggedFor = cloud.TaggedFor(func(name string) string { return model.Tag(p.memory.set.is.Tags, model.OwnTag(name)) })
	out.Instances = p.memory.set.instances(p.t, want, p.memory.extended)
	out.ExternalStandby = p.memory.set.attached.providerIDs(p.t)
	out.Issues = p.t.redactIssues(append(out.Issues, unique(mergeIssues(issues, p.memory.set.machineIssues(p.t.spot())))...))
	out.Issues = append(out.Issues, p.memory.set.attached.issues()...)
	if refused := p.memory.protection.refused; refused != nil {
		out.Issues = append(out.Issues, *refused)
	}
	return out, nil
}

// group returns the scale set as package pool describes groups.
func (p *pass) group(want wanted, version pool.Template, issues []pool.Cause) *pool.Group {
	is := p.memory.set.is
	state, surge, operations := stateOf(is), p.memory.surge(), &p.memory.operations
	g := &pool.Group{
		ID: p.t.groupID(), Size: p.memory.set.size(), Surge: surge.count(), Template: version.Ref,
		Deleting: state == stateDeleting, Busy: cmp.Or(busy(state), p.memory.set.extending(want)), State: state, Created: p.memory.set.created,
		ScaleUpFailedAt: operations.growFailed, DeleteFailedAt: operations.deleteFailed,
	}
	if !g.DeleteFailedAt.IsZero() {
		g.Failed = &pool.Cause{Reason: "DeleteFailed", Message: "Azure could not delete the scale set"}
		for k, c := range issues {
			if k == 0 {
				g.Failed.Reason = c.Reason
			}
			g.Failed.Message += "; " + c.Message
		}
	}
	if !g.Deleting && want.against != nil {
		g.Drift, g.Unchangeable = want.against.State.Drift, want.unchangeable
	}
	if p.memory.set.lacking() && !operations.unsettled(p.now) {
		g.UnfulfilledCapacity = p.memory.set.capacity() - g.Size
	}
	g.SurgeRecordStale, g.SurgePlanned = !g.Deleting && surge.stale(), pool.PlannedSurge(surge.planned())
	return g
}

// busy returns what Azure does to the scale set while it takes no other write: it creates or deletes it. While a scale set is being
// changed others of its machines can be removed and changed, and it can be given another size and model. Two writes that reach Azure
// at the same moment conflict; the refused one is retried.
func busy(state string) *pool.Cause {
	switch state {
	case stateCreating:
		return &pool.Cause{Reason: state, Message: "Azure is creating the scale set"}
	case stateDeleting:
		return &pool.Cause{Reason: state, Message: "Azure is deleting the scale set"}
	}
	return nil
}

// unique returns the causes without duplicates.
func unique(causes []pool.Cause) []pool.Cause {
	var out []pool.Cause
	for _, c := range causes {
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}
