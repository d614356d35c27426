package report

import (
	"cmp"
	"slices"
	"strings"
)

// SplitVersion is the template of a ref and the number of the version in it. The number is empty for a ref that has none: then the whole
// of it is a template's name.
func SplitVersion(ref string) (template, number string) {
	k := strings.LastIndexByte(ref, ':')
	if k <= 0 || k == len(ref)-1 || strings.Trim(ref[k+1:], "0123456789") != "" {
		return ref, ""
	}
	return ref[:k], ref[k+1:]
}

// versions names versions of templates for people: "versions 1, 2 of launch template lt-1". Those without a number are named in full.
func versions(word string, refs []string) string {
	var order, unnumbered []string
	numbers := map[string][]string{}
	for _, ref := range refs {
		template, number := SplitVersion(ref)
		if number == "" {
			unnumbered = append(unnumbered, ref)
			continue
		}
		if numbers[template] == nil {
			order = append(order, template)
		}
		numbers[template] = append(numbers[template], number)
	}
	var parts []string
	for _, template := range order {
		slices.SortFunc(numbers[template], func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
		parts = append(parts, plural("version", numbers[template])+" of "+word+" "+template)
	}
	if len(unnumbered) > 0 {
		parts = append(parts, plural(word, unnumbered))
	}
	return strings.Join(parts, ", ")
}

// plural is a word with what it stands for, at most as many as an event names.
func plural(word string, list []string) string {
	if len(list) > 1 {
		word += "s"
	}
	return word + " " + joined(list)
}
