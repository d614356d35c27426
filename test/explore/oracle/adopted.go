package oracle

import "fmt"

// Adopted finds writes that replace machines of an adopted group although the object asks for machines as they are: the group launches
// others than before, or the cloud begins to replace them. What is removed one by one, Unfounded and Removal judge; and a template that
// another's group launches from is not deleted with the pool that has begun to adopt it.
func Adopted(w Write) []string {
	var wrong []string
	templates := map[string]bool{}
	for _, t := range w.After.Templates {
		templates[t.ID] = true
	}
	for _, t := range w.Before.Templates {
		for _, g := range w.After.Groups {
			if g.Template == t.ID && g.Owner != w.Wanted.Owner && !templates[t.ID] {
				wrong = append(wrong, fmt.Sprintf("%s deleted launch template %s, from which group %s launches, which is not ours", w.Call, t.Name, g.Name))
			}
		}
	}
	if w.Wanted.Adopt == "" || !w.Wanted.Kept || w.Wanted.Deleting {
		return wrong
	}
	if w.Rolls {
		wrong = append(wrong, fmt.Sprintf("%s replaces the machines of group %s, which are as the object asks", w.Call, w.Wanted.Adopt))
	}
	for _, before := range w.Before.Groups {
		for _, after := range w.After.Groups {
			if before.Name == w.Wanted.Adopt && after.Name == before.Name && before.Content != "" && after.Content != before.Content {
				wrong = append(wrong, fmt.Sprintf("%s has group %s launch other machines than it had, which are as the object asks: %s instead of %s",
					w.Call, before.Name, after.Content, before.Content))
			}
		}
	}
	return wrong
}

// adopts reports whether a write did no more to a group than an adoption does that the object asks for: it adds tags.
func (w Write) adopts(before, after Group) bool {
	return before.Owner == "" && before.Name == w.Wanted.Adopt && after.Untagged == before.Untagged && len(after.Staying()) == len(before.Staying()) &&
		keepsTags(before.Tags, after.Tags)
}

// adoptsTemplate reports the same of the launch template of such a group.
func (w Write) adoptsTemplate(before, after Template) bool {
	for _, g := range w.Before.Groups {
		if g.Name == w.Wanted.Adopt && g.Template == before.ID {
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
