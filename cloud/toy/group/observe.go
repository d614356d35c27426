package group

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/sweep"
	"github.com/muster-project/muster/cloud/toy/session"
	"github.com/muster-project/muster/pool"
)

// memory holds the last reads of one group. Losing it costs a few reads.
type memory struct {
	read groupRead
	// created is when the cloud accepted the creation of the group.
	created   time.Time
	tolerance driverkit.Tolerance
}

// accountRead is all groups of the account with their templates and machines, shared by all pools. It must not be changed.
type accountRead struct {
	groups    []*groupDoc
	templates []*templateDoc
	machines  []*machineDoc
	skew      time.Duration
}

// groups reads the groups of the account for all pools.
type groups struct {
	*session.Session
	sweep *sweep.Sweep[accountRead]
}

func newGroups(s *session.Session) *groups {
	g := &groups{Session: s}
	g.sweep = sweep.New(sweep.Options[accountRead]{Some: g.readGroups, Now: s.Now})
	return g
}

// allGroups is the key of the one read that serves all groups.
const allGroups = "groups"

// readGroups reads all groups. The templates come last, so that those which the groups show are among them.
func (s *groups) readGroups(ctx context.Context, keys []string, found func(string, accountRead)) error {
	var read accountRead
	var header http.Header
	for _, list := range []struct {
		operation, path string
		add             func(page []byte) error
	}{
		{"ListMachines", "/v1/machines", into("machines", &read.machines)},
		{"ListGroups", "/v1/groups", into("groups", &read.groups)},
		{"ListTemplates", "/v1/templates", into("templates", &read.templates)},
	} {
		var err error
		if header, err = s.Listed(ctx, list.operation, list.path, list.add); err != nil {
			return err
		}
	}
	read.skew = driverkit.ClockSkew(header, s.Now())
	for _, key := range keys {
		found(key, read)
	}
	return nil
}

// into returns a function that adds the items of a page to a list.
func into[T any](member string, list *[]T) func(page []byte) error {
	return func(page []byte) error {
		var is map[string]json.RawMessage
		if err := json.Unmarshal(page, &is); err != nil || is[member] == nil {
			return err
		}
		var items []T
		err := json.Unmarshal(is[member], &items)
		*list = append(*list, items...)
		return err
	}
}

// groupRead is one group of the account.
type groupRead struct {
	accountRead
	at time.Time
	// is is nil if the group does not exist; members are its machines.
	is      *groupDoc
	members []*machineDoc
	named   driverkit.NamedGroup
}

// template returns the template of a name; nil if there is none.
func (r groupRead) template(name string) *templateDoc {
	for _, t := range r.templates {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// group returns the group of a name; nil if there is none.
func (r accountRead) group(name string) *groupDoc {
	for _, g := range r.groups {
		if g.Name == name {
			return g
		}
	}
	return nil
}

// ours returns a moment of the cloud's clock by Muster's.
func (r accountRead) ours(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(-r.skew)
}

// reader reads one group for one pass.
type reader struct {
	c       *groups
	t       target
	now     time.Time
	memory  *memory
	lookups *cache.Lookups
}

// forget drops the last read.
func (r *reader) forget() {
	r.c.sweep.Touch(allGroups)
	r.memory.read = groupRead{}
}

func (r *reader) read(ctx context.Context) error {
	answer, err := r.c.sweep.Get(ctx, allGroups, r.t.Cache.MaxAge)
	if err != nil {
		return err
	}
	read := groupRead{accountRead: answer.Value, at: answer.At, is: answer.Value.group(r.t.name), named: driverkit.NamedGroup{ID: r.t.GroupID}}
	for _, m := range read.machines {
		if m.Group == r.t.name {
			read.members = append(read.members, m)
		}
	}
	if read.is == nil {
		if other := read.group(r.t.namedGroup()); other != nil {
			if claim := r.t.Claim(session.Spelling, other.tag); !claim.Owned {
				read.named.Conflict = driverkit.NamedConflict("group "+other.Name, other.Name, claim)
			}
		}
		if err := driverkit.NotYetShown("group "+r.t.name, r.memory.created, r.now, visibleWithin); err != nil {
			r.memory.read = groupRead{}
			return err
		}
	} else {
		r.memory.created = time.Time{}
	}
	r.memory.read = read
	return nil
}

// observe reads the group and returns the observation.
func (r *reader) observe(ctx context.Context) (pool.Observed, error) {
	if !driverkit.Reusable(r.memory.read.at, r.now, r.t.Cache.MaxAge) {
		if err := r.read(ctx); err != nil {
			return pool.Observed{}, err
		}
	}
	read, fresh := r.memory.read, !r.memory.read.at.Before(r.now)
	own, exists := r.t.ownership(read), read.is != nil
	want, failed := r.t.desire()
	out := pool.Observed{Versions: r.versions(want), TaggedFor: r.taggedFor(own), FormerGroup: own.Former.Deleting,
		Cache: pool.CacheStatus{Fresh: fresh, GroupFresh: fresh, Shared: true}}
	foreign := want.foreign(r.t, read)
	if conflict := own.ConflictWith(foreign); conflict != nil {
		out.OwnershipConflict, out.Unowned, out.ResolvedLookups = conflict, r.unowned(), r.t.Remembered
		return out, nil
	}
	look := r.c.Resolver(r.lookups, r.t.Remembered, r.now)
	offers := session.Capacity{Session: r.c.Session, Exists: exists, Tolerance: &r.memory.tolerance}
	failed = cmp.Or(failed, offers.Observe(ctx, look, r.t.Spec.MachineType, &out), driverkit.Owned(foreign))
	if failed == nil && !r.t.Bootstrap.Empty() {
		out.Wanted = want.made
		out.Wanted.Ref = ""
	}
	if failed != nil && !exists && driverkit.KeepsFromCreation(failed, len(out.Versions) == 0) {
		return out, &cloud.SpecUnsatisfiableError{Err: failed}
	}
	if failed != nil {
		driverkit.AddUnresolved(&out, failed)
	}
	if exists {
		r.observeGroup(want, &out)
	}
	return out, nil
}

// taggedFor returns the object that the tags of the group name, or those of the pool's templates.
func (r *reader) taggedFor(own driverkit.Ownership) string {
	if name := own.Claim.Named(); name != "" {
		return name
	}
	for _, t := range r.own() {
		return r.t.Claim(session.Spelling, t.tag).TaggedFor
	}
	return ""
}

// unowned returns the group that has the pool's name and lacks its owner tag; nil if there is none.
func (r *reader) unowned() *pool.Unowned {
	out := r.t.ownership(r.memory.read).Unowned(r.t.name)
	if out == nil {
		return nil
	}
	if r.t.namedGroup() != "" {
		out.NamedInstead = r.t.GroupID
	}
	out.Resources = []string{out.Group}
	return out
}

// own returns the pool's own templates, the newest first.
func (r *reader) own() []*templateDoc {
	var list []*templateDoc
	for _, t := range r.memory.read.templates {
		if r.t.Claim(session.Spelling, t.tag).Owned {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b *templateDoc) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return list
}

// versions returns the pool's own templates, the wanted one first and then the newest, and another's that the group launches from.
func (r *reader) versions(want desired) []pool.Template {
	var list []pool.Template
	for _, t := range r.own() {
		if is := want.templateOf(r.t, t); t.Name == want.made.Ref {
			list = slices.Insert(list, 0, is)
		} else {
			list = append(list, is)
		}
	}
	if g := r.memory.read.is; g != nil && r.t.Claim(session.Spelling, g.tag).Owned {
		if t := r.memory.read.template(g.Template); t != nil && !r.t.Claim(session.Spelling, t.tag).Owned {
			list = append(list, want.templateOf(r.t, t))
		}
	}
	return list
}

// observeGroup adds the group and its machines to an observation.
func (r *reader) observeGroup(want desired, out *pool.Observed) {
	read := r.memory.read
	is, launched := read.is, want.launchedFrom(r.t, read, read.is.Template)
	out.Group = &pool.Group{ID: idPrefix + is.Name, Size: is.Count, Template: launched.Ref, Content: launched.Content, State: is.State,
		Created: read.ours(is.CreatedAt), Deleting: is.State == stateDeleting}
	if has := (shape{is, want.template}); !out.Group.Deleting {
		out.Group.Drift = rows.Differing(want.shape, has, fields.InPlace).Specs()
		out.Group.Unchangeable = rows.Differing(want.shape, has, fields.Fixed).Specs()
	}
	for _, m := range read.members {
		i := pool.Instance{ID: m.ID, ProviderID: m.ProviderID, Zone: m.Zone, Template: want.launchedFrom(r.t, read, m.Template),
			State: m.instanceState(), CloudState: m.State, Created: read.ours(m.CreatedAt)}
		if t := read.template(m.Template); t != nil {
			i.TemplateDiff = want.differing(t, i.Template)
		}
		out.Instances = append(out.Instances, i)
	}
	driverkit.SortByAge(out.Instances)
	out.Issues = append(out.Issues, is.problem()...)
}
