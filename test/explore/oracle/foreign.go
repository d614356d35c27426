package oracle

import (
	"fmt"
	"slices"
)

// Foreign finds writes by Muster that changed a group, a template or a role that does not carry the pool's owner ID.
func Foreign(w Write) []string {
	var wrong []string
	groups, templates := map[string]Group{}, map[string]Template{}
	for _, g := range w.After.Groups {
		groups[g.Name] = g
	}
	for _, t := range w.After.Templates {
		templates[t.ID] = t
	}
	for _, g := range w.Before.Groups {
		if after := groups[g.Name]; g.Owner != w.Desired.Owner && (after.Print != g.Print || len(after.Staying()) != len(g.Staying())) &&
			!w.adopts(g, after) {
			wrong = append(wrong, fmt.Sprintf("%s changed group %s, which is not ours, from %s to %q", w.Call, g.Name, g.Print, after.Print))
		}
	}
	for _, t := range w.Before.Templates {
		if after := templates[t.ID]; t.Owner != w.Desired.Owner && after.Print != t.Print && !w.adoptsTemplate(t, after) {
			wrong = append(wrong, fmt.Sprintf("%s changed launch template %s (%s), which is not ours, from %s to %q", w.Call, t.ID, t.Name, t.Print,
				after.Print))
		}
	}
	return append(append(wrong, second(w)...), foreignRoles(w)...)
}

// second finds a group, a template or a role of the pool that was created although the object names a group that is not the pool's.
func second(w Write) []string {
	named := slices.ContainsFunc(w.Before.Groups, func(g Group) bool { return g.Name == w.Desired.Named && g.Owner != w.Desired.Owner })
	if w.Desired.Named == "" || !named {
		return nil
	}
	var wrong []string
	for _, g := range w.After.Groups {
		if g.Owner == w.Desired.Owner && !slices.ContainsFunc(w.Before.Groups, func(b Group) bool { return b.Name == g.Name }) {
			wrong = append(wrong, fmt.Sprintf("%s created group %s beside %s, which the object names and which is not ours", w.Call, g.Name,
				w.Desired.Named))
		}
	}
	for _, t := range w.After.Templates {
		if t.Owner == w.Desired.Owner && !slices.ContainsFunc(w.Before.Templates, func(b Template) bool { return b.ID == t.ID }) {
			wrong = append(wrong, fmt.Sprintf("%s created launch template %s although the object names group %s, which is not ours", w.Call, t.Name,
				w.Desired.Named))
		}
	}
	return append(wrong, secondRole(w)...)
}

// secondRole finds a role of the pool that was created for it.
func secondRole(w Write) []string {
	var wrong []string
	for _, r := range w.After.Roles {
		if r.Owner == w.Desired.Owner && !slices.ContainsFunc(w.Before.Roles, func(b Role) bool { return b.Name == r.Name }) {
			wrong = append(wrong, fmt.Sprintf("%s created role %s although the object names group %s, which is not ours", w.Call, r.Name,
				w.Desired.Named))
		}
	}
	return wrong
}

// foreignRoles finds changed roles of others, and removed policies that others had attached to the pool's role.
func foreignRoles(w Write) []string {
	var wrong []string
	roles := map[string]Role{}
	for _, r := range w.After.Roles {
		roles[r.Name] = r
	}
	for _, before := range w.Before.Roles {
		after := roles[before.Name]
		switch {
		case before.Owner != w.Desired.Owner && after.Print != before.Print:
			wrong = append(wrong, fmt.Sprintf("%s changed role %s, which is not ours, from %s to %q", w.Call, before.Name, before.Print,
				after.Print))
		case before.Owner == w.Desired.Owner && len(after.Theirs) < len(before.Theirs):
			wrong = append(wrong, fmt.Sprintf("%s detached from role %s what others had attached: %v are left of %v", w.Call, before.Name,
				after.Theirs, before.Theirs))
		}
	}
	return wrong
}
