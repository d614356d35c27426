// Package shelf arranges what the oracles see of clouds whose templates never change, so that each change is a template of its own.
package shelf

import (
	"cmp"
	"maps"
	"slices"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/oracle"
)

// Shelves know the templates of an account.
type Shelves struct {
	// OwnerTag is the tag of templates with the owner ID.
	OwnerTag string

	// numbers are those of templates, by their IDs.
	numbers map[string]int64
	// lent are the owners whose groups have used templates that are not theirs, by the templates' numbers.
	lent map[int64]string
}

// New makes empty shelves.
func New(ownerTag string) *Shelves {
	return &Shelves{OwnerTag: ownerTag, numbers: map[string]int64{}, lent: map[int64]string{}}
}

// Arrange has all that belongs to an owner launched from the owner's one template, of which each instance template is a version.
func (s *Shelves) Arrange(is sim.Snapshot, c *oracle.Cloud) {
	s.number(is.Templates)
	gone := map[string]bool{} // the group never creates these again
	for _, g := range is.Groups {
		for _, m := range g.Members {
			gone[cmp.Or(m.ID, m.Name)] = m.Leaving && !m.Replaced
		}
	}
	for k := range c.Groups {
		g := &c.Groups[k]
		for n := range g.Members {
			m := &g.Members[n]
			if m.Version, m.Template = s.numbers[m.Template], shelfOf(g.Owner, m.Template); gone[m.ID] {
				m.Template = ""
			}
		}
		g.Version, g.Template = s.numbers[g.Template], shelfOf(g.Owner, g.Template)
	}
	c.Templates = s.templates(is.Templates, c.Groups)
}

// number gives each template its number, in the order in which they were created.
func (s *Shelves) number(list []sim.Template) {
	list = slices.SortedFunc(slices.Values(list), func(x, y sim.Template) int {
		return cmp.Or(x.Created.Compare(y.Created), cmp.Compare(x.ID, y.ID))
	})
	for _, t := range list {
		if s.numbers[t.ID] == 0 {
			s.numbers[t.ID] = int64(1 + len(s.numbers))
		}
	}
}

// shelfOf returns the key under which the templates of an owner count as versions of one template. A template without an owner has its own.
func shelfOf(owner, path string) string {
	if owner == "" {
		return path
	}
	return "templates of " + owner
}

// templates returns those of each owner as versions of one template, the one that groups launch from first, then the newest. One of another
// owner that a group of the owner has used stands among them as one that can't be deleted.
func (s *Shelves) templates(list []sim.Template, groups []oracle.Group) []oracle.Template {
	shelves := map[string]*oracle.Template{}
	for _, t := range list {
		owner, v := t.Tags[s.OwnerTag], oracle.Version{Number: s.numbers[t.ID], Content: t.Versions[0].Content}
		put(shelves, shelfOf(owner, t.ID), owner, v)
		for _, g := range groups {
			if g.Owner != owner && g.Owner != "" && uses(g, v.Number) {
				s.lent[v.Number] = g.Owner
			}
		}
	}
	for _, t := range list {
		number := s.numbers[t.ID]
		if shelf := shelves[shelfOf(s.lent[number], "")]; shelf != nil {
			shelf.Versions = append(shelf.Versions, oracle.Version{Number: number, Content: t.Versions[0].Content, Default: true})
		}
	}
	var out []oracle.Template
	for _, id := range slices.Sorted(maps.Keys(shelves)) {
		t := shelves[id]
		slices.SortFunc(t.Versions, func(x, y oracle.Version) int {
			return cmp.Or(unlaunched(groups, id, x)-unlaunched(groups, id, y), cmp.Compare(y.Number, x.Number))
		})
		out = append(out, *t)
	}
	return out
}

// put adds a version to a shelf.
func put(shelves map[string]*oracle.Template, id, owner string, v oracle.Version) {
	if shelves[id] == nil {
		shelves[id] = &oracle.Template{ID: id, Name: id, Owner: owner, Tags: map[string]string{}}
	}
	shelves[id].Versions = append(shelves[id].Versions, v)
	shelves[id].Print += v.Content + ";"
}

// uses reports whether a group or one of its members is of a version.
func uses(g oracle.Group, number int64) bool {
	return g.Version == number || slices.ContainsFunc(g.Members, func(m oracle.Member) bool { return m.Version == number })
}

// unlaunched is 0 for the version of a template that a group launches from, 1 for any other.
func unlaunched(groups []oracle.Group, id string, v oracle.Version) int {
	if slices.ContainsFunc(groups, func(g oracle.Group) bool { return g.Template == id && g.Version == v.Number }) {
		return 0
	}
	return 1
}
