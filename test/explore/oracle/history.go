package oracle

import "fmt"

// History finds writes by Muster that delete a version of the pool's template which is to stay: the default, the newest, one that a group
// or a machine is launched from, or the last one of a content among the newest that are to be kept. Of a pool that is being deleted all go
// that nothing is launched from, one by one where each is a template by itself.
func History(w Write) []string {
	var wrong []string
	for _, before := range w.Before.Templates {
		if before.Owner != w.Desired.Owner {
			continue
		}
		for _, after := range w.After.Templates {
			if after.ID == before.ID {
				wrong = append(wrong, w.pruned(before, after)...)
			}
		}
	}
	return wrong
}

// pruned finds violations in the deletion of a template's versions.
func (w Write) pruned(before, after Template) []string {
	left, contents := map[int64]bool{}, map[string]bool{}
	for _, v := range after.Versions {
		left[v.Number], contents[v.Content] = true, true
	}
	if len(before.Versions) == 0 || len(left) >= len(before.Versions) {
		return nil
	}
	used := inUse(w.Before.Groups, before.ID, func(m Member) bool { return w.At.Sub(m.Launched) > w.Unseen })
	kept := before.kept(w.Desired.Keep)
	var wrong []string
	for k, v := range before.Versions {
		why := w.needed(v, k == 0, used[v.Number])
		if why == "" && kept[v.Content] && !contents[v.Content] && !w.Desired.Deleting {
			why = fmt.Sprintf("the last one of its content, which is among the newest %d", w.Desired.Keep)
		}
		if why != "" && !left[v.Number] {
			wrong = append(wrong, fmt.Sprintf("%s deleted version %d of launch template %s, %s", w.Call, v.Number, before.Name, why))
		}
	}
	return wrong
}

// needed returns why a version of the pool's template must stay, whatever its content.
func (w Write) needed(v Version, newest, used bool) string {
	switch {
	case used:
		return "from which machines are launched"
	case w.Desired.Deleting:
		return ""
	case v.Default:
		return "which is the default"
	case newest:
		return "which is the newest"
	}
	return ""
}

// inUse returns the versions of a template that groups and the machines name that can be seen.
func inUse(groups []Group, template string, seen func(Member) bool) map[int64]bool {
	used := map[int64]bool{}
	for _, g := range groups {
		if g.Template == template {
			used[g.Version] = true
		}
		for _, m := range g.Members {
			if m.Template == template && seen(m) {
				used[m.Version] = true
			}
		}
	}
	return used
}

// kept returns the contents that a template's newest versions have, as many as are to be kept.
func (t Template) kept(keep int) map[string]bool {
	contents := map[string]bool{}
	for _, v := range t.Versions {
		if !contents[v.Content] && len(contents) >= keep {
			break
		}
		contents[v.Content] = true
	}
	return contents
}

// Spare returns the versions of a template that are not in use and exceed its history: one version is kept of each content, for as many of
// the newest contents as configured.
func (t Template) Spare(groups []Group, keep int) []int64 {
	used := inUse(groups, t.ID, func(Member) bool { return true })
	held := map[string]bool{}
	for k, v := range t.Versions {
		if k == 0 || used[v.Number] {
			held[v.Content] = true
		}
	}
	kept := t.kept(keep)
	var spare []int64
	for k, v := range t.Versions {
		switch {
		case k == 0 || used[v.Number] || v.Default:
		case kept[v.Content] && !held[v.Content]:
			held[v.Content] = true
		default:
			spare = append(spare, v.Number)
		}
	}
	return spare
}
