package virtualnodepool

import (
	"context"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/oci/containerengine"
	"github.com/muster-project/muster/cloud/oci/oke"
	"github.com/muster-project/muster/pool"
)

// desired is the virtual node pool that the specification asks for, compared with the one that exists.
type desired struct {
	doc, is doc
	// next and launched are the configurations of new virtual nodes after the next rollout and now.
	next, launched pool.Template
	// drift are the fields that differ and that replace no node.
	drift list
}

// templateKind begins the names of templates: virtual nodes have the version of their cluster.
const templateKind = "virtual"

func templateOf(values map[string]any) pool.Template { return oke.TemplateOf(templateKind, values) }

// desire translates the specification. What could be compared is filled in with an error too.
func (r *reader) desire() (want desired, err error) {
	is := r.Memory.Read.Pool
	if is != nil {
		want.is = docOf(is)
	}
	if want.doc, err = r.t.build(); err != nil {
		want.launched = templateOf(rows.Rolling(want.is, want.is))
		return want, err
	}
	want.next = templateOf(rows.Rolling(want.doc, want.doc))
	if is != nil {
		want.launched = templateOf(rows.Rolling(want.doc, want.is))
		want.drift = rows.Differing(want.doc, want.is, fields.InPlace)
		if len(rows.Differing(want.doc, want.is, fields.Rolls)) == 0 {
			want.next = want.launched // what is compared otherwise than it is written means the same
		}
	}
	return want, nil
}

// templateOf returns the configuration that a virtual node was created from, by its tag. One without a tag is from before Muster changed
// the pool, or lost its tag: it is not known then.
func (d desired) templateOf(read poolRead, n node) pool.Template {
	made, now := n.FreeformTags[oke.TemplateTag], nodeTagsOf(read.Pool)[oke.TemplateTag]
	switch {
	case made == d.next.Content && made != "":
		return d.next
	case made == now:
		return d.launched
	case made != "":
		return oke.Template(templateKind, made)
	case read.Pool.FreeformTags[untaggedTag] != "":
		return templateOf(map[string]any{untaggedTag: "older"})
	}
	return pool.Template{}
}

// untaggedTag is the freeform tag of a pool that had virtual nodes before new ones got a tag: those without one are older.
const untaggedTag = "muster-dev_untagged"

// observe reads the pool and returns the observation.
func (r *reader) observe(ctx context.Context) (pool.Observed, error) {
	if err := r.Read(ctx); err != nil {
		return pool.Observed{}, err
	}
	read := r.last()
	own := r.Ownership()
	if own.Conflict() != nil {
		return own.Observed(r.Unowned(), r.t.Remembered), nil
	}
	fresh := !read.At.Before(r.Now)
	out := pool.Observed{Cache: pool.CacheStatus{Fresh: fresh, GroupFresh: fresh, Shared: true},
		FormerGroup: own.Former.Deleting}
	want, failed := r.desire()
	exists := read.Pool != nil
	if err := driverkit.ObserveWanted(&out, want.next, failed, exists); err != nil || !exists {
		return out, err
	}
	r.observePool(want, own.Claim, &out)
	return out, nil
}

// observePool adds the pool and its virtual nodes to the observation.
func (r *reader) observePool(want desired, claim cloud.Claim, out *pool.Observed) {
	read := r.last()
	out.Versions = driverkit.Configurations(want.next, want.launched, out.Wanted.Content != "")
	for _, n := range read.Nodes {
		out.Instances = append(out.Instances, pool.Instance{
			ID: text(n.Id), ProviderID: r.t.at.Cluster.View.ProviderID(text(n.Id)), Zone: text(n.AvailabilityDomain),
			Template: want.templateOf(read, n), State: stateOf(n), CloudState: text(n.LifecycleState), Created: oke.Ours(n.TimeCreated, read.Skew),
		})
	}
	driverkit.SortByAge(out.Instances)
	if unknown := r.Memory.Works.Cause(); unknown != nil {
		out.ProviderRolloutUnknown = unknown
	} else {
		out.ProviderRollout = read.rollout(want, r.Memory.Reasons)
	}
	out.Group, out.TaggedFor = r.group(want), claim.TaggedFor
	out.Issues = append(out.Issues, read.issues(r.t)...)
}

// group returns the pool as package pool describes groups.
func (r *reader) group(want desired) *pool.Group {
	read := r.last()
	is := read.Pool
	g := &pool.Group{
		ID: text(is.Id), Size: read.size(), Template: want.launched.Ref, Content: want.launched.Content, State: text(is.LifecycleState),
		Deleting: text(is.LifecycleState) == oke.StateDeleting, ProviderRolloutSurge: 1, Created: oke.Ours(is.TimeCreated, read.Skew),
	}
	if state := g.State; (state == oke.StateCreating || state == oke.StateUpdating) && !read.rollout(want, nil).Runs() {
		g.Busy = &pool.Cause{Reason: "NodePoolBusy", Message: "OKE is at work on the virtual node pool: its state is " + state}
	}
	if !g.Deleting {
		g.Drift = want.drift.Specs()
	}
	return g
}

// cycling reports whether the pool is set to cycle virtual nodes, which only updates that begin a cycling leave set.
func cycling(is *containerengine.VirtualNodePool) bool {
	d := is.VirtualNodePoolCyclingDetails
	return d != nil && d.IsVirtualNodeCyclingEnabled != nil && *d.IsVirtualNodeCyclingEnabled
}

// rollout returns the cycling that runs, or that was the last change of the pool and has ended without success; nil for none.
func (r poolRead) rollout(want desired, reasons oke.Reasons) *pool.ProviderRollout {
	out := oke.Rollout(r.Works, func(w oke.Work) bool {
		return text(w.OperationType) == "VIRTUALNODEPOOL_CYCLING" || text(w.OperationType) == "VIRTUALNODEPOOL_UPDATE" && cycling(r.Pool)
	}, reasons, r.Skew)
	if out != nil {
		out.Template, out.Percent = want.launched, r.percent(want)
	}
	return out
}

// percent returns the share of virtual nodes that are as the pool is.
func (r poolRead) percent(want desired) int {
	all, done := 0, 0
	for _, n := range r.Nodes {
		if stateOf(n) == pool.Terminating {
			continue
		}
		if all++; want.templateOf(r, n).Same(want.launched) {
			done++
		}
	}
	return oke.Share(done, all)
}

// issues returns why virtual nodes are not created, in OKE's words.
func (r poolRead) issues(t target) []pool.Cause {
	p := &oke.Problems{}
	for _, n := range r.Nodes {
		p.Places = text(n.AvailabilityDomain)
		p.Add(oke.LaunchFailed, "", text(n.VirtualNodeError))
	}
	var domains []string
	for _, one := range r.Pool.PlacementConfigurations {
		domains = append(domains, text(one.AvailabilityDomain))
	}
	p.Places = strings.Join(domains, ", ")
	p.AddState(t.at, text(r.Pool.LifecycleState), text(r.Pool.LifecycleDetails))
	return p.List
}
