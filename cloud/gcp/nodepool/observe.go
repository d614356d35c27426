package nodepool

import (
	"context"
	"strconv"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/nodepool/groups"
	"github.com/muster-project/muster/cloud/gcp/nodepool/request"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
)

// observe reads what is out of date, and returns the observation.
func (p *pass) observe(ctx context.Context) (pool.Observed, error) {
	if err := p.read(ctx); err != nil {
		return pool.Observed{}, err
	}
	read := p.memory.read
	if foreign := p.t.ownership(read).Conflict(); foreign != nil {
		return pool.Observed{OwnershipConflict: foreign, Unowned: p.unowned(), ResolvedLookups: p.t.Remembered}, nil
	}
	w, failed := p.want()
	fresh, look := !read.at.Before(p.now), p.resolver()
	out := pool.Observed{ResolvedLookups: look.Remember, Fresh: fresh, GroupFresh: fresh, Shared: true}
	if failed == nil {
		failed = w.offers(ctx, p, look, &out)
	}
	if failed != nil {
		look.Keep()
	}
	if failed == nil && read.cluster == nil && !p.t.Deleting {
		failed = p.t.noCluster()
	}
	if failed == nil {
		out.Wanted = w.next.template()
		out.Wanted.Ref = ""
	}
	if read.pool == nil {
		if failed != nil {
			return out, &cloud.SpecUnsatisfiableError{Err: failed}
		}
		out.Versions = []pool.Template{w.next.template()}
		return out, nil
	}
	if failed != nil {
		out.Issues = append(out.Issues, driverkit.CauseOf(failed))
	}
	p.observePool(w, &out)
	return out, nil
}

// unowned returns the node pool that has the pool's name and lacks its owner label; nil if there is none.
func (p *pass) unowned() *pool.Unowned {
	read := p.memory.read
	out := p.t.ownership(read).Unowned(p.t.name)
	if out != nil {
		out.CreatedWithCluster = out.Owner == "" && p.t.createdWithCluster(read)
		out.Resources, out.OtherCluster, out.Busy = []string{out.Group}, template.OtherCluster(read.labels(), p.t.Owner, p.t.cluster.Name),
			read.busy()
	}
	return out
}

// observePool puts the node pool and its machines into the observation.
func (p *pass) observePool(w wanted, out *pool.Observed) {
	read := p.memory.read
	out.Versions = driverkit.Configurations(w.next.template(), w.launched.template(), w.next.known())
	rolling := w.rolling(read)
	if rolling {
		p.memory.recallSize(p.t.Remembered)
	}
	if rolling && p.memory.rested > 0 {
		out.ResolvedLookups[keepSize] = strconv.Itoa(p.memory.rested)
	}
	out.Group = p.group(w, p.memory.size(rolling))
	out.TaggedFor = template.TaggedFor(read.labels(), p.t.Owner)
	counted, others := w.members(read)
	for _, m := range others {
		out.Beside = append(out.Beside, m.Instance(p.c.Project, w.templateOf(m, read)))
	}
	for _, m := range counted {
		i := m.Instance(p.c.Project, w.templateOf(m, read))
		i.DeletionRequested = w.zoneRemoved(m)
		out.Instances = append(out.Instances, i)
	}
	driverkit.SortByAge(out.Instances)
	out.ProviderRollout = p.rollout(w)
	out.Issues = append(out.Issues, w.issues(read)...)
	if p.memory.last.operation.Token != "" {
		out.Operations = []pool.Operation{p.memory.last.operation}
	}
}

// templateOf returns what a machine was made with; without content where that is not known.
func (w wanted) templateOf(m groups.Instance, read poolRead) pool.Template {
	c := w.configurationOf(m, read)
	if !c.known() {
		return pool.Template{Ref: m.Template}
	}
	return c.template()
}

// group returns the node pool as package pool describes groups, with its number of machines.
func (p *pass) group(w wanted, machines int) *pool.Group {
	read, launched := p.memory.read, w.launched.template()
	is := read.pool
	g := &pool.Group{
		ID: p.path(), Size: machines, Template: launched.Ref, Content: launched.Content, State: is.Status,
		Deleting: is.Status == statusStopping, Busy: p.memory.busy(p.now), ProviderRolloutSurge: surge(is, machines),
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
		g.Unchangeable = w.unchangeable
		for _, part := range w.drift {
			g.Drift = append(g.Drift, part.Field)
		}
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
