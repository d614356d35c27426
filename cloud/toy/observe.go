package toy

import (
	"context"
	"fmt"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/toy/session"
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
	look := r.c.Resolver(r.lookups, r.t.Remembered, r.now)
	offers := session.Capacity{Session: r.c.Session, Exists: read.pool != nil, Tolerance: &r.memory.tolerance}
	if err := offers.Observe(ctx, look, r.t.Spec.Pool.MachineType, &out); failed == nil {
		failed = err
	}
	if failed == nil && read.cluster == nil && !r.t.Deleting {
		failed = r.t.noCluster()
	}
	exists := read.pool != nil
	if err := driverkit.ObserveWanted(&out, want.next, failed, exists); err != nil || !exists {
		return out, err
	}
	r.observePool(want, own.Claim, &out)
	return out, nil
}

// unowned returns the pool that has the target's name and lacks its owner tag; nil if there is none.
func (r *reader) unowned() *pool.Unowned {
	out := r.t.ownership(r.memory.read).Unowned(r.t.name)
	if out != nil {
		out.Resources, out.Busy = []string{out.Group}, r.busy()
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
			ID: n.ID, ProviderID: n.ProviderID, Zone: n.Zone, Template: want.configurationOf(n), State: n.state(), CloudState: n.State,
			Created: read.ours(n.CreatedAt),
		})
	}
	driverkit.SortByAge(out.Instances)
	out.ProviderRollout = read.rollout(want)
	if p := read.pool.Problem; p != nil {
		out.Issues = append(out.Issues, driverkit.FailureOf(p.Error()))
	}
	if want.upgrade.Path.WaitsForControlPlane {
		out.Issues = append(out.Issues, pool.Cause{Reason: pool.ControlPlaneUpgradePending,
			Message: "nodes run " + want.upgrade.Path.String()})
	}
	if want.ahead {
		out.Issues = append(out.Issues, pool.Cause{Reason: "NewerVersion", Message: fmt.Sprintf(
			"the pool runs Kubernetes %s, %s asks for %s: the cloud takes no pool back, and the newer version is kept", read.pool.Version,
			rows.SpecOf("version"), r.t.KubernetesVersion)})
	}
}

// group returns the pool as package pool describes groups.
func (r *reader) group(want desired) *pool.Group {
	read := r.memory.read
	is := read.pool
	g := &pool.Group{
		ID: poolID(r.t.Spec.Cluster, is.Name), Size: is.Count, Template: want.launched.Ref, Content: want.launched.Content, State: is.State,
		Image: is.Image, Created: read.ours(is.CreatedAt), Deleting: is.State == stateDeleting, Busy: r.busy(),
		ProviderRolloutSurge: is.surge(),
	}
	if is.Autoscaling.Enabled {
		g.Min, g.Max = is.Autoscaling.Min, is.Autoscaling.Max
	}
	if !g.Deleting {
		g.Drift, g.Unchangeable = want.drift.Specs(), want.unchangeable
	}
	if is.State == stateFailed && len(read.nodes) < is.Count && !is.Autoscaling.Enabled && is.LastOperation != nil {
		g.ScaleUpFailedAt = read.ours(is.LastOperation.EndedAt)
		g.Size, g.UnfulfilledCapacity = len(read.nodes), is.Count-len(read.nodes)
	}
	return g
}

// busy returns why the cloud takes no change of the pool now; nil if it does.
func (r *reader) busy() *pool.Cause {
	read := r.memory.read
	if is := read.pool; is.LastOperation.running() {
		return &pool.Cause{Reason: "OperationRunning", Message: "the cloud works on the pool: " + is.LastOperation.Kind}
	}
	if c := read.cluster; c.State != stateRunning {
		return &pool.Cause{Reason: "ClusterBusy", Message: fmt.Sprintf("the cloud works on cluster %s: %s", c.Name, c.State)}
	}
	return nil
}

const allPercent = 100

// percent returns the share of nodes that have a configuration.
func (r poolRead) percent(want desired, of pool.Template) int {
	if len(r.nodes) == 0 {
		return allPercent
	}
	same := 0
	for _, n := range r.nodes {
		if want.configurationOf(n).Same(of) {
			same++
		}
	}
	return allPercent * same / len(r.nodes)
}

// rollout returns the replacement of nodes that runs, or that ended and left nodes of another configuration.
func (r poolRead) rollout(want desired) *pool.ProviderRollout {
	op := r.pool.LastOperation
	if op == nil || op.Kind != stateUpgrading {
		return nil
	}
	out := &pool.ProviderRollout{ID: op.ID, Template: want.launched, Percent: r.percent(want, want.launched), Started: r.ours(op.StartedAt),
		Ended: r.ours(op.EndedAt)}
	switch {
	case op.running():
		// Another client's leads to a version that the object does not ask for, or replaces nodes that have what it asks for.
		out.State = pool.ProviderRolloutRunning
		out.ByOthers = want.launched.Same(want.next) && (want.ahead || out.Percent == allPercent)
	case out.Percent == allPercent:
		return nil
	case op.State == stateCancelled:
		out.State = pool.ProviderRolloutCancelled
	case op.Error != nil:
		out.State, out.Failures, out.Reason = pool.ProviderRolloutFailed, 1, driverkit.FailureOf(op.Error.Error()).Message
	default:
		return nil
	}
	return out
}
