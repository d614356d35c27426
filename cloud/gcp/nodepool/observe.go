package nodepool

import (
	"context"
	"strconv"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/nodepool/groups"
	"github.com/muster-project/muster/cloud/gcp/nodepool/request"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
)

// observe reads what is out of date, and returns the observation.
func (r *reader) observe(ctx context.Context) (pool.Observed, error) {
	if err := r.read(ctx); err != nil {
		return pool.Observed{}, err
	}
	read := r.memory.read
	if own := r.t.ownership(read); own.Conflict() != nil {
		return own.Observed(r.unowned(), r.t.Remembered), nil
	}
	want, failed := r.desired()
	fresh, look := !read.at.Before(r.now), r.resolver()
	out := pool.Observed{ResolvedLookups: look.Remember, Cache: pool.CacheStatus{Fresh: fresh, GroupFresh: fresh, Shared: true}}
	if failed == nil {
		failed = r.observeCapacity(ctx, want, look, &out)
	}
	if failed != nil {
		look.Keep()
	}
	if failed == nil && read.cluster == nil && !r.t.Deleting {
		failed = r.t.noCluster()
	}
	exists := read.pool != nil
	if err := driverkit.ObserveWanted(&out, want.next.template(), failed, exists); err != nil || !exists {
		return out, err
	}
	r.observePool(want, &out)
	return out, nil
}

// unowned returns the node pool that has the pool's name and lacks its owner label; nil if there is none.
func (r *reader) unowned() *pool.Unowned {
	read := r.memory.read
	out := r.t.ownership(read).Unowned(r.t.name)
	if out != nil {
		out.OfCluster = template.OwnedByCluster(read.labels(), r.t.cluster.Name, r.t.Owner.Cluster)
		out.CreatedWithCluster = out.Owner == "" && r.t.createdWithCluster(read)
		out.Resources, out.OtherCluster, out.Busy = []string{out.Group}, template.OtherCluster(read.labels(), r.t.Owner, r.t.cluster.Name),
			read.busy()
	}
	return out
}

// observePool puts the node pool and its machines into the observation.
func (r *reader) observePool(want desired, out *pool.Observed) {
	read := r.memory.read
	out.Versions = driverkit.Configurations(want.next.template(), want.launched.template(), want.next.known())
	rolling := want.rolling(read)
	if rolling {
		r.memory.restoreSize(r.t.Remembered)
	}
	if rolling && r.memory.rested > 0 {
		out.ResolvedLookups[keepSize] = strconv.Itoa(r.memory.rested)
	}
	out.Group = r.group(want, r.memory.size(rolling))
	out.TaggedFor = r.t.ownership(read).Claim.TaggedFor
	counted, others := want.members(read)
	for _, m := range others {
		out.Beside = append(out.Beside, m.Instance(r.c.Project, want.templateOf(m, read)))
	}
	for _, m := range counted {
		i := m.Instance(r.c.Project, want.templateOf(m, read))
		i.DeletionRequested = want.zoneRemoved(m)
		out.Instances = append(out.Instances, i)
	}
	driverkit.SortByAge(out.Instances)
	out.ProviderRollout = r.rollout(want)
	out.Issues = append(out.Issues, want.issues(read)...)
	if r.memory.last.operation.Token != "" {
		out.Operations = []pool.Operation{r.memory.last.operation}
	}
}

// templateOf returns what a machine was made with; without content where that is not known.
func (w desired) templateOf(m groups.Instance, read poolRead) pool.Template {
	c := w.configurationOf(m, read)
	if !c.known() {
		return pool.Template{Ref: m.Template}
	}
	return w.kept(c).template()
}

// group returns the node pool as package pool describes groups, with its number of machines.
func (r *reader) group(want desired, machines int) *pool.Group {
	read, launched := r.memory.read, want.launched.template()
	is := read.pool
	g := &pool.Group{
		ID: r.path(), Size: machines, Template: launched.Ref, Content: launched.Content, State: is.Status,
		Deleting: is.Status == statusStopping, Busy: r.memory.busy(r.now), ProviderRolloutSurge: surge(is, machines),
		Unfinished: read.unfinished(),
	}
	if a := is.Autoscaling; a != nil && a.Enabled {
		zones := int64(max(1, len(read.groups)))
		g.Min, g.Max = int(max(a.TotalMinNodeCount, a.MinNodeCount*zones)), int(max(a.TotalMaxNodeCount, a.MaxNodeCount*zones))
	}
	if is.Status == statusError {
		g.Failed = failureOf(is)
	}
	if !g.Deleting {
		g.Unchangeable, g.Drift = want.unchangeable, want.drift.Specs()
	}
	return g
}

// surge returns how many machines GKE adds while it replaces those of the node pool.
func surge(is *container.NodePool, machines int) int {
	s := is.UpgradeSettings
	switch {
	case s == nil:
		return 1
	case s.Strategy == request.BlueGreen:
		return machines
	}
	return int(s.MaxSurge)
}
