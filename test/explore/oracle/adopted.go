package oracle

import "fmt"

// Adopted finds writes that replace machines of an adopted group although the object asks for machines as they are: the group launches
// others than before, or the cloud begins to replace them. What is removed one by one, Unfounded and Removal judge; and a template that
// another's group launches from is not deleted with the pool that has begun to adopt it.
func Adopted(w Write) []string {
	wrong := w.neededTemplates()
	if w.Desired.Adopt == "" || !w.Desired.Kept || w.Desired.Deleting {
		return wrong
	}
	if w.Rolls {
		wrong = append(wrong, fmt.Sprintf("%s replaces the machines of group %s, which are as the object asks", w.Call, w.Desired.Adopt))
	}
	before, existed := named(w.Before, w.Desired.Adopt)
	after, exists := named(w.After, w.Desired.Adopt)
	if existed && exists && before.Content != "" && after.Content != before.Content {
		wrong = append(wrong, fmt.Sprintf("%s has group %s launch other machines than it had, which are as the object asks: %s instead of %s",
			w.Call, before.Name, after.Content, before.Content))
	}
	return wrong
}

// named returns the group of a name, if it exists.
func named(c Cloud, name string) (Group, bool) {
	for _, g := range c.Groups {
		if g.Name == name {
			return g, true
		}
	}
	return Group{}, false
}

// neededTemplates finds templates that the write deleted and from which a group launches that is not the pool's.
func (w Write) neededTemplates() []string {
	left, launch := map[string]bool{}, map[string]string{}
	for _, t := range w.After.Templates {
		left[t.ID] = true
	}
	for _, g := range w.After.Groups {
		if g.Owner != w.Desired.Owner {
			launch[g.Template] = g.Name
		}
	}
	var wrong []string
	for _, t := range w.Before.Templates {
		if group := launch[t.ID]; group != "" && !left[t.ID] {
			wrong = append(wrong, fmt.Sprintf("%s deleted launch template %s, from which group %s launches, which is not ours", w.Call,
				t.Name, group))
		}
	}
	return wrong
}

// adopts reports whether a write did no more to a group than an adoption does that the object asks for: it adds tags.
func (w Write) adopts(before, after Group) bool {
	return before.Owner == "" && before.Name == w.Desired.Adopt && after.Untagged == before.Untagged &&
		len(after.Staying()) == len(before.Staying()) &&
		keepsTags(before.Tags, after.Tags)
}

// adoptsTemplate reports the same of the launch template of such a group.
func (w Write) adoptsTemplate(before, after Template) bool {
	for _, g := range w.Before.Groups {
		if g.Name == w.Desired.Adopt && g.Template == before.ID {
			return before.Owner == "" && after.Untagged == before.Untagged && keepsTags(before.Tags, after.Tags)
		}
	}
	return false
}

// keepsTags reports whether all tags that were there are still there.
func keepsTags(before, after map[string]string) bool {
	for key := range before {
		if _, ok := after[key]; !ok {
			return false
		}
	}
	return true
}
