package gcp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/document"
	simgcp "github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/world"
)

// Snapshot is what exists, in the oracles' words.
func (a *Account) Snapshot() oracle.Cloud {
	state := a.Cloud.State()
	var c oracle.Cloud
	a.number(state)
	for _, g := range state.Groups {
		c.Groups = append(c.Groups, a.group(g, state.Templates))
		for _, m := range g.Instances {
			if m.ID != "" {
				c.Instances = append(c.Instances, oracle.Instance{ID: m.ID, Owner: m.Labels[LabelOwner], Group: g.Name, Leaving: Leaves(m)})
			}
		}
	}
	c.Templates = a.templates(state.Templates, c.Groups)
	return c
}

// Leaves reports whether an instance is on its way out: it is deleted, abandoned, or about to be created again, as another one.
func Leaves(m compute.Instance) bool {
	return m.Action == "DELETING" || m.Action == "ABANDONING" || yields(m)
}

// yields reports whether another instance is about to come in the place of one.
func yields(m compute.Instance) bool {
	return m.Action == "RECREATING" && m.ID != "" && !slices.Contains([]string{"PROVISIONING", "STAGING"}, m.State)
}

// running reports whether an instance runs, or is about to for the first time.
func running(m compute.Instance) bool {
	return slices.Contains([]string{"", "PROVISIONING", "STAGING", "RUNNING"}, m.State)
}

// coming reports whether the group creates an instance that is not there: it leaves some that were deleted out of band as they are.
func coming(m compute.Instance) bool { return m.Action == "CREATING" || m.Action == "RECREATING" }

// number gives each template its number, in the order in which they were created.
func (a *Account) number(state simgcp.State) {
	list := slices.SortedFunc(slices.Values(state.Templates), func(x, y compute.Template) int {
		return cmp.Or(x.Created.Compare(y.Created), cmp.Compare(x.Path, y.Path))
	})
	for _, t := range list {
		if a.numbers[t.Path] == 0 {
			a.numbers[t.Path] = int64(1 + len(a.numbers))
		}
	}
}

// group is one group. What belongs to an owner counts as launched from the owner's one template, of which each instance template is a
// version.
func (a *Account) group(g compute.Group, templates []compute.Template) oracle.Group {
	owner := g.Labels[LabelOwner]
	from := g.Templates[len(g.Templates)-1]
	out := oracle.Group{
		Name: g.Name, Owner: owner, Max: world.Plenty, Size: g.Size, Surge: surgeLeft(g), Deleting: g.Deleting, Tags: g.Labels,
		Template: shelfOf(owner, from), Version: a.numbers[from], Untagged: fmt.Sprintf("%d %v %v", g.Size, g.Templates, g.Doc),
	}
	for _, t := range templates {
		if t.Path == from {
			out.Content = a.content(t.Content, t.Properties)
		}
	}
	out.Print = fmt.Sprintf("%s %v", out.Untagged, g.Labels)
	a.World.Secrets("a group's labels", fmt.Sprint(g.Labels))
	for _, m := range g.Instances {
		is := oracle.Member{
			ID: cmp.Or(m.ID, m.Name), Leaving: Leaves(m), Launched: m.Created, Failed: !running(m), Template: shelfOf(owner, m.Template),
			Version: a.numbers[m.Template],
			Content: a.content(m.Content, m.Properties),
		}
		if m.ID == "" {
			is.Launched, is.Failed = time.Now(), is.Failed || !coming(m) // it is still to be created
		}
		if m.Action == "DELETING" || m.Action == "ABANDONING" {
			is.Template = "" // the group never creates it again
		}
		out.Members = append(out.Members, is)
		if yields(m) { // its place stays, for another one
			out.Members = append(out.Members, oracle.Member{ID: m.Name, Launched: time.Now(), Template: shelfOf(owner, from), Version: out.Version,
				Content: out.Content})
		}
		a.World.Secrets("an instance's labels", fmt.Sprint(m.Labels))
	}
	return out
}

// shelfOf is what an owner's templates are versions of; a template without an owner stands alone.
func shelfOf(owner, path string) string {
	if owner == "" {
		return path
	}
	return "templates of " + owner
}

// templates are those of each owner as versions of one template, the one that groups launch from first, then the newest. One of another
// owner that a group of the owner has used stands among them as one that can't be deleted.
func (a *Account) templates(list []compute.Template, groups []oracle.Group) []oracle.Template {
	shelves := map[string]*oracle.Template{}
	for _, t := range list {
		a.World.Secrets("a template's labels", fmt.Sprint(t.Labels))
		owner, v := t.Labels[LabelOwner], oracle.Version{Number: a.numbers[t.Path], Content: a.content(t.Content, t.Properties)}
		put(shelves, shelfOf(owner, t.Path), owner, v)
		for _, g := range groups {
			if g.Owner != owner && g.Owner != "" && uses(g, v.Number) {
				a.lent[v.Number] = g.Owner
			}
		}
	}
	for _, t := range list {
		number := a.numbers[t.Path]
		if shelf := shelves[shelfOf(a.lent[number], "")]; shelf != nil {
			shelf.Versions = append(shelf.Versions, oracle.Version{Number: number, Content: a.content(t.Content, t.Properties), Default: true})
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

// content is what properties make machines of: bootstrap data and labels aside.
func (a *Account) content(fingerprint string, p document.Object) string {
	if text, known := a.contents[fingerprint]; known {
		return text
	}
	if len(p) == 0 {
		return ""
	}
	rest := document.Copied(p)
	delete(rest, "labels")
	delete(rest, "metadata")
	delete(document.Under(rest, "tags"), "fingerprint")
	for _, d := range document.Objects(rest, "disks") {
		delete(document.Under(d, "initializeParams"), "labels")
	}
	metadata := map[string]string{}
	for _, item := range document.Objects(p, "metadata.items") {
		if key := document.Text(item, "key"); key != "user-data" {
			metadata[key] = document.Text(item, "value")
		}
	}
	a.contents[fingerprint] = document.Written(rest) + fmt.Sprint(metadata)
	return a.contents[fingerprint]
}

// UserData returns the bootstrap data in the properties of a template.
func UserData(p document.Object) []byte {
	for _, item := range document.Objects(p, "metadata.items") {
		if document.Text(item, "key") == "user-data" {
			return []byte(document.Text(item, "value"))
		}
	}
	return nil
}

// surgeLeft is how much of a size that an autoscaler owns was added for a rollout and has not been used up.
func surgeLeft(g compute.Group) int {
	recorded, _, _ := strings.Cut(g.Labels[LabelSurge], "_")
	surge, size := 0, 0
	if _, err := fmt.Sscanf(recorded, "%d-%d", &surge, &size); err != nil {
		return 0
	}
	return max(0, surge-max(0, size-g.Size))
}

// NamedBy reports whether a request names an instance among others, by any URL of it: requests leave out the project, and what is before
// it.
func NamedBy(urls []string, zone, name string) bool {
	return slices.ContainsFunc(urls, func(url string) bool { return strings.HasSuffix("/"+url, "/zones/"+zone+"/instances/"+name) })
}
