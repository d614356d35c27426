package instancepool

import (
	"cmp"
	"context"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/oci/launch"
	"github.com/muster-project/muster/pool"
)

// desired is the pool that the specification asks for.
type desired struct {
	template launch.Template
	settings settings
	capacity *pool.NodeCapacity
	// unknown is why the capacity is not known.
	unknown error
	// remember are the look-ups that the specification rests on.
	remember map[string]string
}

// observer returns the observation of the pool.
type observer struct{ p *pass }

// desire translates the specification. In addition to an error it returns what does not depend on what has failed.
func (r observer) desire(ctx context.Context) (desired, error) {
	want := desired{settings: settings{name: r.p.t.name, tags: launch.Tags(&r.p.t.cluster, r.p.t.Owner),
		definedTags: launch.DefinedTags(&r.p.t.cluster)}}
	look := shaper(r).resolver()
	want.remember = look.Remember
	template, err := r.p.t.source().Build()
	if err == nil {
		want.settings.places, err = r.p.t.places()
	}
	if err == nil {
		want.capacity, want.unknown = shaper(r).capacity(ctx, look)
		exists := r.p.memory.read.is != nil
		// Without the permission to look the shape up a pool is created all the same: what its instances offer stays unknown.
		if !exists && cloud.KindOf(want.unknown) != cloud.Denied || cloud.KindOf(want.unknown) == cloud.Invalid {
			err = want.unknown
		}
	}
	if err != nil || want.unknown != nil {
		look.Keep()
	}
	if err == nil {
		want.template = template
	}
	return want, err
}

// observe reads what is out of date, and returns the observation.
func (r observer) observe(ctx context.Context) (pool.Observed, error) {
	if err := finder(r).read(ctx); err != nil {
		return pool.Observed{}, err
	}
	if err := finder(r).former(ctx); err != nil {
		return pool.Observed{}, err
	}
	read := r.p.memory.read
	own := r.p.t.ownership(read)
	if own.Conflict() != nil {
		return r.foreign(ctx, own)
	}
	want, failed := r.desire(ctx)
	if err := configurator(r).readConfigurations(ctx, want.template); err != nil {
		return pool.Observed{}, err
	}
	fresh := !read.at.Before(r.p.now)
	out := pool.Observed{
		Cache: pool.CacheStatus{Fresh: fresh, GroupFresh: fresh, Shared: true}, ResolvedLookups: want.remember,
		Versions: configurator(r).versions(want.template), FormerGroup: read.former.Deleting, TaggedFor: r.taggedFor(own),
	}
	if r.p.memory.unread != nil {
		out.Issues = append(out.Issues, driverkit.CauseOf(r.p.memory.unread))
	}
	exists := read.is != nil
	switch {
	case failed == nil:
		r.addDesired(want, &out)
	case !exists && driverkit.KeepsFromCreation(failed, len(out.Versions) == 0):
		return out, &cloud.SpecUnsatisfiableError{Err: failed}
	default:
		driverkit.AddUnresolved(&out, failed)
	}
	if !exists {
		return out, nil
	}
	r.observePool(want, &out)
	return out, launcher(r).addFailures(ctx, want, &out)
}

// addDesired adds what the specification asks for to an observation.
func (r observer) addDesired(want desired, out *pool.Observed) {
	out.Capacity = want.capacity
	if !r.p.t.Bootstrap.Empty() {
		out.Wanted = want.template.Template
	}
	if want.unknown != nil {
		out.Issues = append(out.Issues, driverkit.CauseOf(want.unknown))
	}
}

// foreign returns what is observed while a pool of the name is not the target's.
func (r observer) foreign(ctx context.Context, own driverkit.Ownership) (pool.Observed, error) {
	if err := configurator(r).readConfigurations(ctx, launch.Template{}); err != nil {
		return pool.Observed{}, err
	}
	out := own.Observed(r.unowned(), r.p.t.Remembered)
	out.Versions = configurator(r).versions(launch.Template{})
	out.Cache.GroupFresh = !r.p.memory.read.at.Before(r.p.now)
	out.TaggedFor = r.taggedFor(own)
	return out, nil
}

// taggedFor returns the object that the tags of the pool name, or those of its newest configuration.
func (r observer) taggedFor(own driverkit.Ownership) string {
	if own.Claim.SameID() {
		return own.Claim.TaggedFor
	}
	if list := r.p.memory.configurations.own; len(list) > 0 {
		return r.p.t.claim(list[0].Tags).TaggedFor
	}
	return ""
}

// unowned returns the pool that has the target's name and lacks its owner tag; nil if there is none.
func (r observer) unowned() *pool.Unowned {
	read := r.p.memory.read
	out := r.p.t.ownership(read).Unowned(r.p.t.name)
	if out == nil {
		return nil
	}
	is := read.is
	launched, _, _ := r.p.memory.configurations.find(value(is.InstanceConfigurationId)) // What can't be read names no cluster.
	out.OtherCluster = cmp.Or(r.p.t.otherCluster(is.FreeformTags), r.p.t.otherCluster(launched.Tags))
	out.OfCluster = r.p.t.byProvider(is.FreeformTags)
	out.Resources = []string{out.Group}
	if r.p.memory.unread != nil && !launched.Known() {
		out.Unread = new(driverkit.CauseOf(r.p.memory.unread))
	}
	if named := r.p.t.named(); named != "" && named != value(is.Id) {
		out.NamedInstead = r.p.t.GroupID
	}
	return out
}

// observePool adds the pool and its instances to the observation.
func (r observer) observePool(want desired, out *pool.Observed) {
	read := r.p.memory.read
	out.Group = r.group(want)
	for _, m := range read.members {
		template := configurator(r).templateOf(m.configuration, want.template)
		i := pool.Instance{
			ID: m.id, ProviderID: r.p.t.cluster.ProviderID(m.id), Zone: m.domain, Template: template, State: m.state, RemovalAssumed: m.assumed,
			CloudState: m.word, Created: m.created, LifecycleHook: r.p.memory.holds.of(read.is, m.id),
			DeletionRequested: unwantedDomain(want, out.Group, m),
		}
		if m.state == pool.Failed {
			i.Stopped = m.word
		}
		if existing, _, known := r.p.memory.configurations.find(m.configuration); known && want.template.Content != "" &&
			!template.Same(want.template.Template) {
			i.TemplateDiff = existing.Differs(want.template)
		}
		out.Instances = append(out.Instances, i)
	}
	driverkit.SortByAge(out.Instances)
	out.ShortNotice = r.p.t.spec.InstanceConfiguration.PreemptibleInstanceConfig != nil
	if state := value(read.is.LifecycleState); state == stateStopped || state == stateStopping {
		out.Issues = append(out.Issues, pool.Cause{Reason: "PoolStopped", Message: r.p.t.labelOf(r.p.t.name) + " is " + state +
			": it launches no instances until it is started"})
	}
}

// unwantedDomain returns why an instance goes whose availability domain is not one of the specification any more: the pool is changed
// first.
func unwantedDomain(want desired, group *pool.Group, m member) *pool.Cause {
	places := want.settings.places
	if m.domain == "" || places == nil || len(group.Drift) > 0 || m.state == pool.Terminating {
		return nil
	}
	for _, p := range places {
		if p.domain == m.domain {
			return nil
		}
	}
	return &pool.Cause{Reason: "DomainNotWanted",
		Message: "the instance is in availability domain " + m.domain + ", which is not one of the pool's"}
}

// group returns the pool as package pool describes groups.
func (r observer) group(want desired) *pool.Group {
	read := r.p.memory.read
	is, surge := read.is, r.p.surge()
	g := &pool.Group{
		ID: groupID(value(is.Id)), Size: value(is.Size), Template: value(is.InstanceConfigurationId), State: value(is.LifecycleState),
		Created: timeOf(is.TimeCreated, read.skew), Deleting: value(is.LifecycleState) == stateTerminating,
		Surge: surge.Count(), SurgeRecordStale: staleSurge(surge), SurgePlanned: surge.Planned,
	}
	if !g.Deleting {
		g.Drift = rows.Differing(want.settings, settings{is: is}, fields.InPlace).Specs()
	}
	return g
}
