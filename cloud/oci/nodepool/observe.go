package nodepool

import (
	"context"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/oke"
	"github.com/muster-project/muster/pool"
)

func (r *reader) resolver() *cache.Resolver {
	return &cache.Resolver{Place: r.Session.Region, Shared: r.lookups, Now: r.Now, Remembered: r.t.Remembered, Remember: map[string]string{}}
}

// observe reads the node pool and returns the observation.
func (r *reader) observe(ctx context.Context) (pool.Observed, error) {
	if err := r.Read(ctx); err != nil {
		return pool.Observed{}, err
	}
	read := r.last()
	own := r.Ownership()
	if own.Conflict() != nil {
		return own.Observed(r.Unowned(), r.t.Remembered), nil
	}
	look, fresh := r.resolver(), !read.At.Before(r.Now)
	out := pool.Observed{Cache: pool.CacheStatus{Fresh: fresh, GroupFresh: fresh, Shared: true},
		FormerGroup:     own.Former.Deleting,
		ResolvedLookups: look.Remember, Capacity: r.t.capacity()}
	want, failed := r.desire(ctx, look)
	if failed != nil {
		look.Keep()
	}
	exists := read.Pool != nil
	if err := driverkit.ObserveWanted(&out, want.next, failed, exists); err != nil || !exists {
		return out, err
	}
	r.observePool(want, own.Claim, &out)
	return out, nil
}

// observePool adds the node pool and its nodes to the observation.
func (r *reader) observePool(want desired, claim cloud.Claim, out *pool.Observed) {
	read := r.last()
	out.Versions = driverkit.Configurations(want.next, want.launched, out.Wanted.Content != "")
	out.Group, out.TaggedFor = r.group(want), claim.TaggedFor
	for _, n := range read.Nodes {
		i := pool.Instance{
			ID: *n.Id, ProviderID: r.t.cluster.View.ProviderID(*n.Id), Zone: text(n.AvailabilityDomain), Template: want.templateOf(read, n),
			State: n.state, RemovalAssumed: n.assumed, CloudState: text(n.LifecycleState), Updating: text(n.LifecycleState) == oke.StateUpdating,
			Created: n.created,
		}
		if i.CloudState == oke.StateInactive {
			i.Stopped = i.CloudState
		}
		out.Instances = append(out.Instances, i)
	}
	driverkit.SortByAge(out.Instances)
	if unknown := r.memory.Works.Cause(); unknown != nil {
		out.ProviderRolloutUnknown = unknown
	} else {
		out.ProviderRollout = read.rollout(want, r.memory.Reasons)
	}
	out.Issues = append(out.Issues, read.statusIssues(r.t)...)
	out.Issues = append(out.Issues, want.versionIssues(r.t, read)...)
}

// group returns the node pool as package pool describes groups.
func (r *reader) group(want desired) *pool.Group {
	read := r.last()
	is := read.Pool
	g := &pool.Group{
		ID: text(is.Id), Size: read.size(), Template: want.launched.Ref, Content: want.launched.Content, State: text(is.LifecycleState),
		Image: text(is.NodeImageName), Deleting: text(is.LifecycleState) == oke.StateDeleting, ProviderRolloutSurge: r.t.surge(read.size()),
	}
	g.Busy = read.busy(read.rollout(want, nil).Runs())
	if !g.Deleting {
		g.Drift = want.drift.Specs()
	}
	return g
}
