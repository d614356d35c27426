package world

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/oracle"
)

// Snapshot returns what exists in the form that the oracles read.
func (w *World) Snapshot() oracle.Cloud {
	is, tag := w.Cloud.Snapshot(), w.Scenario.Kind.OwnerTag
	var c oracle.Cloud
	for _, g := range is.Groups {
		c.Groups = append(c.Groups, groupOf(w, g))
	}
	for _, t := range is.Templates {
		shown := oracle.Template{ID: t.ID, Name: t.Name, Owner: t.Tags[tag], Tags: t.Tags}
		for _, v := range t.Versions {
			shown.Versions = append(shown.Versions, oracle.Version{
				Number: v.Number, Default: v.Default, Description: v.Description, Content: v.Content,
			})
			shown.Untagged += fmt.Sprintf("%d:%s ", v.Number, v.Description)
		}
		shown.Print = fmt.Sprintf("%v %s", t.Tags, shown.Untagged)
		w.Secrets("a template's tags and descriptions", shown.Print)
		c.Templates = append(c.Templates, shown)
	}
	for _, i := range is.Instances {
		c.Instances = append(c.Instances, oracle.Instance{ID: i.ID, Owner: i.Tags[tag], Group: i.Group, Leaving: i.Leaving})
	}
	for _, r := range is.Roles {
		shown := oracle.Role{Name: r.Name, Owner: r.Tags[tag], Print: fmt.Sprintf("%v %v", r.Attached, r.Tags)}
		if theirs := w.Scenario.Kind.TheirPolicy; slices.Contains(r.Attached, theirs) {
			shown.Theirs = []string{theirs}
		}
		c.Roles = append(c.Roles, shown)
	}
	if w.pool.Arrange != nil {
		w.pool.Arrange(is, &c)
	}
	return c
}

// groupOf returns a group in the form that the oracles read.
func groupOf(w *World, g sim.Group) oracle.Group {
	out := oracle.Group{
		Name: g.Name, Owner: g.Tags[w.Scenario.Kind.OwnerTag], Template: g.Template, Version: g.Version, Content: g.Content, Min: g.Min,
		Max: cmp.Or(g.Max, Plenty), Size: g.Size, Requested: g.Requested, Surge: surgeLeft(g, g.Tags[w.Scenario.Kind.SurgeTag]),
		Deleting: g.Deleting, Failed: g.Failed, Tags: g.Tags, Untagged: g.Settings, Print: fmt.Sprintf("%s %v", g.Settings, g.Tags),
	}
	w.Secrets("a group's tags and labels", fmt.Sprint(g.Tags, g.Labels))
	for _, m := range g.Members {
		shown := oracle.Member{
			ID: cmp.Or(m.ID, m.Name), Leaving: m.Leaving, Held: m.HeldSince, Aside: m.Standby, Doomed: m.Doomed, Failed: m.Failed,
			Template: m.Template, Version: m.Version, Content: m.Content, Launched: m.Created,
		}
		if m.ID == "" {
			shown.Launched = time.Now() // it is still to be created
		}
		out.Members = append(out.Members, shown)
		if m.Replaced {
			out.Members = append(out.Members, oracle.Member{ID: m.Name, Launched: time.Now(), Template: g.Template, Version: g.Version,
				Content: g.Content})
		}
		w.Secrets("a machine's tags", fmt.Sprint(m.Tags))
	}
	return out
}

// surgeLeft returns how much of a size that an autoscaler owns was added for a rollout and has not been used up. The tag that records it
// begins with the surge and the size.
func surgeLeft(g sim.Group, recorded string) int {
	numbers := strings.FieldsFunc(recorded, func(r rune) bool { return !unicode.IsDigit(r) })
	surge, size := 0, 0
	if len(numbers) < 2 {
		return 0
	}
	if _, err := fmt.Sscan(numbers[0], &surge); err != nil {
		return 0
	}
	if _, err := fmt.Sscan(numbers[1], &size); err != nil {
		return 0
	}
	return max(0, surge-max(0, size-max(g.Requested, g.Size)))
}
