package launch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// Memory is a launch template as it was read last. Losing it costs a few reads and nothing else. Its owner ensures
// that passes of one pool do not overlap.
type Memory struct {
	// Wrote is set by every write to the template, which leaves the group as it was. Reading the group clears it.
	Wrote bool

	identity
	// unproven is true if a list left the template out and EC2 was not asked for its name; doubted if what is known may be wrong.
	unproven, doubted bool
	// versions are newest first; gone are those that something refers to though they do not exist any more.
	versions []version
	gone     map[string]bool
	// at is when the versions were read, seen when the template itself was, for all pools together.
	at, seen time.Time
	// disagree is set while the versions do not show what the template shows of itself.
	disagree disagreement
	// made is when we made the template, or may have; zero when we did not.
	made time.Time
	// wrote is when a version was made last.
	wrote time.Time
	// deleted is when the pass began that deleted the template, zero if the reply did not say so, or if Muster has written to a template of
	// the name since, or has been shown one.
	deleted time.Time
	// given is set for a template that was brought.
	given *given
	// objects are the known objects that versions point to; now is the time of the last pass.
	objects map[object]objectRead
	now     time.Time
}

// identity holds the fields of a template without its versions.
type identity struct {
	// id is empty if there is no template; ours is true if it is the pool's by its tags.
	id   string
	ours bool
	// claim compares the tags of a template of another owner with the pool, otherCluster is the cluster that they name, where that is not the
	// pool's.
	claim        cloud.Claim
	otherCluster string
	// taggedFor is the object that the tags of a template with the pool's owner ID name.
	taggedFor string
	// newest is the number of the newest version, standard that of the default one.
	newest, standard int64
}

// TaggedFor returns the object that the tags of the pool's template name, as cluster/namespace/name; empty if there is none.
func (i identity) TaggedFor() string { return i.taggedFor }

// disagreement is a template whose list of versions does not show its newest or its default version, and since when.
type disagreement struct {
	of    identity
	since time.Time
}

// version is one version of the launch template.
type version struct {
	number int64
	pool.Template
	// parts are the values that it launches with, by field; nil where that was not shown.
	parts parts
	// pointer is set where the user data only points to the bootstrap data.
	pointer *pointer
	// whole is true if the user data is the bootstrap data as it is; otherwise machines get the data in another way than is
	// wanted now.
	whole, otherwise bool
}

// Known reports whether the template has been read, however long ago.
func (m *Memory) Known() bool { return !m.at.IsZero() }

// GroupStillKnown reports whether a group that was read a moment ago, at the given time or zero for never, need not be read again although
// a call wants it as it is now: since then Muster has written to the template alone. maxAge is that of cloud.Target.
func (m *Memory) GroupStillKnown(read, now time.Time, maxAge time.Duration) bool {
	return m.Wrote && !read.IsZero() && maxAge != cloud.NoSharedCache && now.Sub(read) <= session.SameMoment
}

// Forget makes the next pass read everything anew.
func (m *Memory) Forget() { m.at, m.deleted, m.doubted = time.Time{}, time.Time{}, true }

// deletedBefore reports whether Muster had deleted the template when a read began. The name can't be on a later page, nor too new to be
// shown: a list that leaves it out proves the absence as well as a read of the name does.
func (m *Memory) deletedBefore(read time.Time) bool {
	return !m.deleted.IsZero() && read.After(m.deleted)
}

// ID of the template, empty when there is none.
func (m *Memory) ID() string { return m.id }

// Holds reports whether a ref is that of a version of the template, one that is gone included.
func (m *Memory) Holds(ref string) bool { return strings.HasPrefix(ref, m.id+":") }

// Versions of our template, newest first; of one that was brought, those that are wanted or launched from.
func (m *Memory) Versions() []pool.Template {
	if m.given != nil {
		return m.givenVersions()
	}
	var list []pool.Template
	for _, v := range m.versions {
		list = append(list, v.as(m.now))
	}
	return list
}

// as is the version as it is to be taken at a moment. One whose data can't be fetched much longer, or is to come in another way, has
// none that counts, so that another is made.
func (v version) as(now time.Time) pool.Template {
	t := v.Template
	if v.otherwise || v.pointer.ends(now) {
		t.Data = ""
	}
	return t
}

// latest is the newest version, or the zero Template.
func (m *Memory) latest() pool.Template {
	if versions := m.Versions(); len(versions) > 0 {
		return versions[0]
	}
	return pool.Template{}
}

// TemplateOf is the version of the given ref. One that is not known has a ref alone.
func (m *Memory) TemplateOf(ref string) pool.Template {
	for _, v := range m.versions {
		if v.Ref == ref {
			return v.as(m.now)
		}
	}
	if m.given != nil {
		return givenTemplate(ref)
	}
	return pool.Template{Ref: ref}
}

// unknown are those of the refs that are of our template and not known.
func (m *Memory) unknown(refs []string) map[string]bool {
	unknown := map[string]bool{}
	for _, ref := range refs {
		if ref != "" && m.Holds(ref) && m.TemplateOf(ref).Content == "" {
			unknown[ref] = true
		}
	}
	return unknown
}

// touched is called before a write to the template. A reply that tells the outcome mends it.
func (m *Memory) touched() { m.at, m.deleted, m.Wrote = time.Time{}, time.Time{}, true }

// learned puts a version that we have just made to those that are known.
func (m *Memory) learned(id string, v version, now time.Time) {
	m.id, m.ours, m.at, m.seen = id, true, now, now
	m.wrote, m.newest, m.unproven, m.doubted = now, max(m.newest, v.number), false, false
	if v.Undeletable {
		m.standard = v.number
		for k := range m.versions {
			m.versions[k].Undeletable = false
		}
	}
	m.versions = slices.Insert(slices.DeleteFunc(m.versions, func(o version) bool { return o.number == v.number }), 0, v)
	slices.SortFunc(m.versions, func(a, b version) int { return cmp.Compare(b.number, a.number) })
}
