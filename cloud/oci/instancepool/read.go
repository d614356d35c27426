package instancepool

import (
	"context"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/cloud/oci/session"
)

// pass is one call of Observe or Start for one pool. Its parts are given what they use of it.
type pass struct {
	c       *session.Session
	t       target
	now     time.Time
	memory  *memory
	lookups *cache.Lookups
	// removals are since when instances are being removed, as this pass has read it; nil if it has not.
	removals map[string]time.Time
}

// finder finds the pool and reads it with its instances.
type finder struct{ p *pass }

// read reads the pool and its instances, unless the last read is new enough for the pass.
func (r finder) read(ctx context.Context) error {
	if driverkit.Reusable(r.p.memory.read.at, r.p.now, r.p.t.Cache.MaxAge) {
		return nil
	}
	return r.readAgain(ctx, r.p.t.Cache.MaxAge)
}

func (r finder) readAgain(ctx context.Context, maxAge time.Duration) error {
	r.p.memory.unread = nil
	read, err := r.readPool(ctx, maxAge)
	if err != nil {
		if cloud.CodeOf(err) == codeUnmanaged {
			r.p.memory.read = poolRead{}
		}
		return err
	}
	if read.is == nil {
		if err := driverkit.NotYetShown(r.p.t.labelOf(r.p.t.name), r.p.memory.created, r.p.now, visibleWithin); err != nil {
			r.p.memory.read = poolRead{}
			return err
		}
		if r.p.memory.known != "" {
			r.p.memory.last = r.p.memory.known
		}
		r.p.memory.read, r.p.memory.known = read, ""
		return nil
	}
	if r.p.owns(read.is) {
		if read, err = r.complete(ctx, maxAge, read); err != nil {
			return err
		}
		r.p.memory.known = value(read.is.Id)
	}
	r.p.memory.read, r.p.memory.created = read, time.Time{}
	return r.behind()
}

// behind returns a conflict if a read shows the pool as it was before a removal of a moment ago: beside the instances from after it, what
// has used the surge up would be taken for a size that another client wants.
func (r finder) behind() error {
	is := r.p.memory.read.is
	if r.p.memory.removal.Shown(surgeTag(is), value(is.Size)) || !r.p.memory.removals.Lately(r.p.now) {
		return nil
	}
	r.p.forget()
	return &cloud.Error{Kind: cloud.Conflict, Code: "RemovalNotShown",
		Message: r.p.t.labelOf(r.p.t.name) + " is not shown without the instances yet that were removed a moment ago"}
}

// readPool reads the pool: by its OCID where the look has to be exact and the OCID is known, and else in the list of the compartment.
func (r finder) readPool(ctx context.Context, maxAge time.Duration) (poolRead, error) {
	known := r.p.memory.known
	if known == "" {
		known = r.p.t.named()
	}
	var refused error
	if known != "" && (maxAge <= 0 || r.p.now.Sub(r.p.memory.wrote) < visibleWithin) {
		read, err := r.p.get(ctx, known)
		if err != nil && !session.NotFound(err) {
			return poolRead{}, err
		}
		if err == nil && r.p.owns(read.is) {
			return read, manageable(read.is)
		}
		refused, maxAge = err, min(maxAge, 0)
	}
	return r.readListed(ctx, maxAge, known, refused)
}

// owns reports whether the pool exists and is the target's.
func (r *pass) owns(is *core.InstancePool) bool {
	return is != nil && r.t.claim(is.FreeformTags).Owned
}

// readListed reads the pool in the list of the compartment. known is its OCID, as far as that is known, and refused the refusal of a read
// by that.
func (r finder) readListed(ctx context.Context, maxAge time.Duration, known string, refused error) (poolRead, error) {
	list, at, err := r.p.c.InstancePools(ctx, r.p.t.cluster.CompartmentID, maxAge)
	if err != nil {
		return poolRead{}, err
	}
	read := poolRead{at: at, skew: list.Skew, named: driverkit.NamedGroup{ID: r.p.t.GroupID}}
	r.p.memory.ended = r.p.t.ended(list.Items)
	chosen := r.p.t.choose(list.Items, known)
	if chosen == nil {
		if last := r.p.memory.known; refused == nil && last != "" && !lists(list.Items, last) {
			return r.unlisted(ctx, read)
		}
		read.named, err = r.readNamed(ctx, list.Items)
		return read, err
	}
	if refused != nil && value(chosen.Id) == known {
		return poolRead{}, refused // it exists and may not be read by itself
	}
	read.is = listed(*chosen)
	return read, manageable(read.is)
}

// unlisted reads a pool by itself that a list does not have: the list may be behind, or not show everything. It returns the read without a
// pool if that does not exist.
func (r finder) unlisted(ctx context.Context, read poolRead) (poolRead, error) {
	is, err := r.p.get(ctx, r.p.memory.known)
	switch {
	case session.NotFound(err):
		return read, nil
	case err != nil:
		return poolRead{}, err
	case !r.p.owns(is.is):
		return read, nil
	}
	return is, manageable(is.is)
}

// codeUnmanaged is the code of the error of a pool that Muster does not manage.
const codeUnmanaged = "GPUMemoryCluster"

// manageable returns an error for a pool that another service of OCI manages.
func manageable(is *core.InstancePool) error {
	if value(is.PoolType) != typeGMC {
		return nil
	}
	return &cloud.Error{Kind: cloud.Conflict, Code: codeUnmanaged, Message: "instance pool " + value(is.DisplayName) +
		" belongs to a GPU memory cluster, which manages it: it is left alone"}
}

// get reads a pool by its OCID; is is nil for one that is terminated.
func (r *pass) get(ctx context.Context, ocid string) (poolRead, error) {
	answer, err := r.c.Core.GetInstancePool(ctx, core.GetInstancePoolRequest{InstancePoolId: &ocid})
	if err != nil {
		return poolRead{}, err
	}
	read := poolRead{at: r.now, skew: r.c.Skew(answer.Headers), named: driverkit.NamedGroup{ID: r.t.GroupID}}
	if value(answer.Body.LifecycleState) != stateTerminated {
		read.is, read.etag, read.detailed = &answer.Body, answer.Etag, r.now
	}
	return read, nil
}

// ended returns the OCIDs of the target's own pools of its name that are terminated, in order.
func (t target) ended(list []core.InstancePoolSummary) (ocids []string) {
	for _, p := range list {
		if !exists(p) && value(p.DisplayName) == t.name && t.claim(p.FreeformTags).Owned {
			ocids = append(ocids, value(p.Id))
		}
	}
	slices.Sort(ocids)
	return ocids
}

func lists(list []core.InstancePoolSummary, ocid string) bool {
	return slices.ContainsFunc(list, func(p core.InstancePoolSummary) bool { return value(p.Id) == ocid })
}

// choose returns the pool of the target in a list: its own of its name, its own that the object names or that was known before, and else
// one of its name that is another's. It is nil if there is none.
func (t target) choose(list []core.InstancePoolSummary, known string) *core.InstancePoolSummary {
	var chosen *core.InstancePoolSummary
	best := 0
	for k := range list {
		p := &list[k]
		if rank := t.rank(p, known); rank > best || rank == best && rank > 0 && older(p, chosen) {
			chosen, best = p, rank
		}
	}
	return chosen
}

// rank orders the pools that could be the target's; zero for one that is not.
func (t target) rank(p *core.InstancePoolSummary, known string) int {
	named, owned := value(p.DisplayName) == t.name, t.claim(p.FreeformTags).Owned
	switch {
	case !exists(*p) || !named && (!owned || value(p.Id) != known):
		return 0
	case !owned:
		return 1
	case value(p.LifecycleState) == stateTerminating:
		return 2
	case !named:
		return 3
	}
	return 4
}

// older orders pools of one rank: the oldest counts.
func older(a, b *core.InstancePoolSummary) bool {
	if at, other := value(a.TimeCreated), value(b.TimeCreated); at != other {
		return at < other
	}
	return value(a.Id) < value(b.Id)
}

// listed returns a listed pool in the form of one that was read by itself.
func listed(p core.InstancePoolSummary) *core.InstancePool {
	return &core.InstancePool{
		Id: p.Id, CompartmentId: p.CompartmentId, DisplayName: p.DisplayName, Size: p.Size, CurrentSize: p.CurrentSize,
		LifecycleState: p.LifecycleState, InstanceConfigurationId: p.InstanceConfigurationId, TimeCreated: p.TimeCreated, PoolType: p.PoolType,
		FreeformTags: p.FreeformTags, DefinedTags: p.DefinedTags, OverridePolicy: p.OverridePolicy,
	}
}

// readNamed looks for the pool that the object names, where the target's own does not exist.
func (r finder) readNamed(ctx context.Context, list []core.InstancePoolSummary) (driverkit.NamedGroup, error) {
	out := driverkit.NamedGroup{ID: r.p.t.GroupID}
	is, err := r.findNamed(ctx, list)
	if err != nil || is == nil {
		return out, err
	}
	name := value(is.DisplayName)
	label := "instance pool " + name + " of compartment " + value(is.CompartmentId)
	switch claim := r.p.t.claim(is.FreeformTags); {
	case claim.Owned:
	case value(is.CompartmentId) != r.p.t.cluster.CompartmentID:
		out.Conflict = cloud.NamedElsewhere(label, "it is in compartment "+value(is.CompartmentId))
	default:
		out.Conflict = driverkit.NamedConflict(label, name, claim)
	}
	return out, nil
}

// findNamed returns the pool that the object names; nil if there is none.
func (r finder) findNamed(ctx context.Context, list []core.InstancePoolSummary) (*core.InstancePool, error) {
	ocid := r.p.t.named()
	for _, p := range list {
		switch {
		case value(p.Id) != ocid:
		case exists(p):
			return listed(p), nil
		default:
			return nil, nil
		}
	}
	if ocid == "" {
		return nil, nil
	}
	read, err := r.p.get(ctx, ocid) // it may be in another compartment
	if session.NotFound(err) {
		return nil, nil
	}
	return read.is, err
}

// former looks for pools of other names that could be the target's, if one is about to be created.
func (r finder) former(ctx context.Context) error {
	if r.p.memory.read.is != nil || !r.p.t.Search.Tagged && !r.p.t.Search.Provider {
		return nil
	}
	list, _, err := r.p.c.InstancePools(ctx, r.p.t.cluster.CompartmentID, driverkit.SearchAge(r.p.t.Search, r.p.now))
	if err != nil {
		return err
	}
	var found []driverkit.Candidate
	for _, p := range list.Items {
		if !exists(p) {
			continue
		}
		name := value(p.DisplayName)
		found = append(found, driverkit.Candidate{
			Name: name, Group: r.p.t.labelOf(name), Claim: r.p.t.claim(p.FreeformTags), Deleting: value(p.LifecycleState) == stateTerminating,
			ByProvider: r.p.t.Search.Provider && name == r.p.t.Owner.Name && r.p.t.byProvider(p.FreeformTags),
		})
	}
	r.p.memory.read.former = driverkit.Former(r.p.t.Owner, found, cloud.Owner.ResourceName)
	return nil
}
