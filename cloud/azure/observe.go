package azure

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// reader reads one pool for one call of Observe or Start, as far as what is known of it is out of date.
type reader struct {
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
func (r *reader) observe(ctx context.Context) (pool.Observed, error) {
	if err := r.read(ctx); err != nil {
		return pool.Observed{}, err
	}
	if err := r.readNamed(ctx); err != nil {
		return pool.Observed{}, err
	}
	if err := r.former(ctx); err != nil {
		return pool.Observed{}, err
	}
	if own := r.t.ownership(r.memory.set); own.Conflict() != nil {
		out := own.Observed(r.t.unowned(r.memory.set), r.t.Remembered)
		out.Cache.Fresh = r.fresh
		return out, nil
	}
	want, failed := r.desired(ctx)
	out := pool.Observed{
		Wanted: want.template, ResolvedLookups: want.remember, ShortNotice: r.t.spot(), Operations: r.memory.operations.list,
		Cache:    pool.CacheStatus{Fresh: r.fresh},
		Capacity: want.capacity, FormerGroup: r.memory.set.former.Deleting,
	}
	role, err := r.role().Observe(ctx, out.ResolvedLookups)
	if err != nil {
		return pool.Observed{}, err
	}
	out.MissingPrerequisites, out.Leftovers, out.Issues, out.ResolvedLookups = role.Missing, role.Leftovers, role.Issues, role.Remember
	is := r.memory.set.is
	out.Cache.Shared = r.t.shares(is)
	if is == nil {
		out.InstancesBelow = r.t.instancesBelow()
		if failed != nil {
			return out, &cloud.SpecUnsatisfiableError{Err: failed}
		}
		return out, nil
	}
	if failed != nil {
		driverkit.AddUnresolved(&out, failed)
	}
	if want.imageStays != "" {
		out.Issues = append(out.Issues, pool.Cause{Reason: "ImageSourceUnchangeable", Message: want.imageStays})
	}
	issues := r.t.redactIssues(r.scaleSetIssues(ctx))
	out.Operations = r.memory.operations.list
	version := r.memory.set.version(want)
	out.Versions, out.Group = []pool.Template{version}, r.group(want, version, issues)
	out.TaggedFor = r.t.claim(is.Tags).TaggedFor
	out.Instances = r.memory.set.instances(r.t, want, r.memory.extended)
	out.ExternalStandby = r.memory.set.attached.providerIDs(r.t)
	out.Issues = r.t.redactIssues(append(out.Issues, unique(mergeIssues(issues, r.memory.set.machineIssues(r.t.spot())))...))
	out.Issues = append(out.Issues, r.memory.set.attached.issues()...)
	if refused := r.memory.protection.refused.Cause(); refused != nil {
		out.Issues = append(out.Issues, *refused)
	}
	return out, nil
}

// group returns the scale set as package pool describes groups.
func (r *reader) group(want desired, version pool.Template, issues []pool.Cause) *pool.Group {
	is := r.memory.set.is
	state, surge, operations := stateOf(is), r.memory.surge(), &r.memory.operations
	g := &pool.Group{
		ID: r.t.groupID(), Size: r.memory.set.size(), Surge: surge.Count(), Template: version.Ref,
		Deleting: state == stateDeleting, Busy: cmp.Or(busy(state), r.memory.set.extending(want)), State: state, Created: r.memory.set.created,
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
	if r.memory.set.lacking() && !operations.unsettled(r.now) {
		g.UnfulfilledCapacity = r.memory.set.capacity() - g.Size
	}
	g.SurgeRecordStale, g.SurgePlanned = !g.Deleting && surge.Stale(), surge.Planned
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
