package oracle

import "fmt"

// Foreign finds writes of ours that changed a group or a template that does not carry our owner ID.
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
		if after := groups[g.Name]; g.Owner != w.Wanted.Owner && (after.Print != g.Print || len(after.Staying()) != len(g.Staying())) {
			wrong = append(wrong, fmt.Sprintf("%s changed group %s, which is not ours, from %s to %q", w.Call, g.Name, g.Print, after.Print))
		}
	}
	for _, t := range w.Before.Templates {
		if after := templates[t.ID]; t.Owner != w.Wanted.Owner && after.Print != t.Print {
			wrong = append(wrong, fmt.Sprintf("%s changed launch template %s (%s), which is not ours, from %s to %q", w.Call, t.ID, t.Name, t.Print, after.Print))
		}
	}
	return wrong
}
