package kapsule

import (
	"cmp"
	"context"

	"github.com/scaleway/scaleway-sdk-go/api/k8s/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// observe reads the pool and returns the observation.
func (r *reader) observe(ctx context.Context) (pool.Observed, error) {
	if err := r.read(ctx); err != nil {
		return pool.Observed{}, err
	}
	read := r.memory.read
	own := r.t.ownership(read)
	if own.Conflict() != nil {
		return own.Observed(r.unowned(), r.t.Remembered), nil
	}
	fresh := !read.at.Before(r.now)
	out := pool.Observed{Cache: pool.CacheStatus{Fresh: fresh, GroupFresh: fresh, Shared: true}, FormerGroup: r.t.former(read).Deleting}
	want, failed := r.desire()
	if err := r.observeCapacity(ctx, &out); failed == nil {
		failed = err
	}
	if failed == nil && read.Doc == nil && !r.t.Deleting {
		failed = r.t.noCluster()
	}
	exists := read.pool != nil
	if err := driverkit.ObserveWanted(&out, want.next, failed, exists); err != nil || !exists {
		return out, err
	}
	r.observePool(want, own.Claim, &out)
	return out, nil
}

// unowned returns the pool that has the target's name and lacks its owner tag; nil if there is none. The ecosystem's provider writes the
// namespace of the object into the pool, and looks for it in the cluster of the object alone: such a pool belongs to the cluster.
func (r *reader) unowned() *pool.Unowned {
	read := r.memory.read
	out := r.t.ownership(read).Unowned(r.t.name)
	if out != nil {
		out.Resources, out.OfCluster = []string{out.Group}, r.t.byProvider(read.pool.Tags)
		out.FormerOwner = cmp.Or(out.FormerOwner, r.t.otherObject(read.pool.Tags))
	}
	return out
}

// observePool adds the pool and its nodes to the observation.
func (r *reader) observePool(want desired, claim cloud.Claim, out *pool.Observed) {
	read := r.memory.read
	out.Versions = driverkit.Configurations(want.next, want.launched, out.Wanted.Content != "")
	out.Group, out.TaggedFor = r.group(want), claim.TaggedFor
	for _, n := range read.nodes {
		out.Instances = append(out.Instances, pool.Instance{
			ID: n.ID, ProviderID: n.ProviderID, Zone: string(read.pool.Zone), Template: want.templateFor(read, n), State: n.state,
			RemovalAssumed: n.assumed, CloudState: string(n.Status), Created: read.ours(n.CreatedAt),
		})
	}
	driverkit.SortByAge(out.Instances)
	out.ProviderRollout = read.rollout(want)
	out.Issues = append(out.Issues, read.statusIssues()...)
	out.Issues = append(out.Issues, want.versionIssues(r.t, read)...)
	out.Caveats = append(out.Caveats, want.caveats(r.t, read.pool)...)
}

// group returns the pool as package pool describes groups.
func (r *reader) group(want desired) *pool.Group {
	read := r.memory.read
	is := read.pool
	g := &pool.Group{
		ID: r.t.groupID(is.Name), Size: int(is.Size), Template: want.launched.Ref, Content: want.launched.Content, State: string(is.Status),
		Created: read.ours(is.CreatedAt), Deleting: is.Status == k8s.PoolStatusDeleting || is.Status == k8s.PoolStatusDeleted,
		ProviderRolloutSurge: policyOf(is, surge),
	}
	if r.t.spec.External() {
		g.Size = read.staying() // its machines join and leave by themselves
	}
	if is.Autoscaling {
		g.Min, g.Max = int(is.MinSize), int(is.MaxSize)
	}
	if !g.Deleting {
		g.Drift, g.Unchangeable = want.drift.Specs(), want.unchangeable
	}
	return g
}

// policyOf returns a part of the upgrade policy.
func policyOf(is *k8s.Pool, part string) int {
	switch policy := is.UpgradePolicy; {
	case policy == nil:
		return 0
	case part == surge:
		return int(policy.MaxSurge)
	default:
		return int(policy.MaxUnavailable)
	}
}

const allPercent = 100

// rollout returns the upgrade that runs; nil for none. Kapsule keeps no record of one that has ended.
func (r poolRead) rollout(want desired) *pool.ProviderRollout {
	if !r.upgrading() {
		return nil
	}
	replaced, all := 0, 0
	for _, n := range r.nodes {
		if !n.staying() {
			continue
		}
		if all++; !r.old(n) {
			replaced++
		}
	}
	out := &pool.ProviderRollout{
		ID: r.pool.ID + "/" + r.pool.Version, Template: want.launched, State: pool.ProviderRolloutRunning, ByOthers: want.ahead,
		Started: r.ours(r.pool.UpdatedAt),
	}
	if all > 0 {
		out.Percent = allPercent * replaced / all
	}
	return out
}
