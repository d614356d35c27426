package aws

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/oracle"
)

// snapshot is what exists, in the oracles' words.
func (a *Account) snapshot() oracle.Cloud {
	state := a.State()
	there, groupOf := newThere(state), map[string]string{}
	var c oracle.Cloud
	c.Groups, c.Roles = a.nodegroups(state, there), a.roles(state)
	eks := ofEKS(state)
	for _, g := range state.Groups {
		if !eks[g.Name] {
			c.Groups = append(c.Groups, a.group(g, there))
		}
	}
	for _, g := range c.Groups {
		for _, m := range g.Members {
			groupOf[m.ID] = g.Name
		}
	}
	for _, t := range state.Templates {
		if eks[t.ID] {
			continue
		}
		print := fmt.Sprintf("%v %v", t.Tags, t.Versions)
		c.Templates = append(c.Templates, oracle.Template{ID: t.ID, Name: t.Name, Owner: t.Tags[TagOwner], Print: print, Tags: t.Tags,
			Untagged: fmt.Sprint(t.Versions), Versions: a.versions(t, there)})
		a.World.Secrets("a launch template's tags and descriptions", print)
	}
	for _, i := range state.Instances {
		if i.State == "terminated" {
			continue
		}
		c.Instances = append(c.Instances, oracle.Instance{
			ID: i.ID, Owner: i.Tags[TagOwner], Group: groupOf[i.ID], Leaving: i.State == "shutting-down",
		})
	}
	return c
}

func (a *Account) group(g simaws.Group, there there) oracle.Group {
	out := oracle.Group{
		Content: a.content(there, g.Template, there.numbered(g.Template, g.Version)), Version: number(g.Version),
		Name: g.Name, Owner: g.Tags[TagOwner], Template: g.Template, Min: g.Min, Max: g.Max, Size: g.Desired, Deleting: g.Deleting,
		Print: fmt.Sprintf("%d..%d=%d %s:%s %v %v %v %v", g.Min, g.Max, g.Desired, g.Template, g.Version, g.Subnets, g.Tags, g.Suspended,
			g.Deleting),
		Tags: g.Tags, Untagged: fmt.Sprintf("%d..%d=%d %s:%s %v %v %v", g.Min, g.Max, g.Desired, g.Template, g.Version, g.Subnets, g.Suspended,
			g.Deleting),
	}
	for _, m := range g.Members {
		out.Members = append(out.Members, oracle.Member{
			ID: m.Instance, Leaving: strings.HasPrefix(m.State, "Terminating"), Held: held(m), Launched: there.instances[m.Instance].Launched,
			Aside: strings.HasSuffix(m.State, "Standby"), Doomed: m.AtRisk || there.instances[m.Instance].Noticed || m.Health != "Healthy",
			Template: m.Template, Version: number(m.Version), Content: a.content(there, m.Template, m.Version),
		})
	}
	a.World.Secrets("a group's tags", out.Print)
	return out
}

// versions are those of a template, the newest first.
func (a *Account) versions(t simaws.Template, is there) []oracle.Version {
	list := make([]oracle.Version, 0, len(t.Versions))
	for n, says := range t.Versions {
		list = append(list, oracle.Version{Number: n, Says: says, Default: n == t.Default,
			Content: a.content(is, t.ID, strconv.FormatInt(n, 10))})
	}
	slices.SortFunc(list, func(a, b oracle.Version) int { return cmp.Compare(b.Number, a.Number) })
	return list
}

// number is a version's, zero for one that the cloud chooses.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// held is since when a hook keeps a member that is to go.
func held(m simaws.Member) time.Time {
	if m.State == "Terminating:Wait" {
		return m.Since
	}
	return time.Time{}
}

// there is what exists, by what it is called.
type there struct {
	instances map[string]simaws.Instance
	versions  map[string]bool
	// latest is the number of each template's newest version, by the template's ID.
	latest map[string]string
}

// numbered returns the number of the version that a group launches from.
func (t there) numbered(template, version string) string {
	if version == "$Latest" {
		return t.latest[template]
	}
	return version
}

func newThere(state simaws.State) there {
	t := there{map[string]simaws.Instance{}, map[string]bool{}, map[string]string{}}
	for _, i := range state.Instances {
		t.instances[i.ID] = i
	}
	for _, template := range state.Templates {
		t.latest[template.ID] = strconv.FormatInt(slices.Max(slices.Collect(maps.Keys(template.Versions))), 10)
		for n := range template.Versions {
			t.versions[template.ID+":"+strconv.FormatInt(n, 10)] = true
		}
	}
	return t
}

// content is what a version of a template makes, read once; empty for one that does not exist any more.
func (a *Account) content(is there, template, number string) string {
	key := template + ":" + number
	if !is.versions[key] {
		return ""
	}
	if text, ok := a.contents[key]; ok {
		return text
	}
	a.contents[key] = a.Server.Content(template, number)
	return a.contents[key]
}
