package model

import (
	"maps"
	"slices"
	"strings"
)

// against are the names in which what is differs from what is wanted, as far as both say something. So nothing that Azure fills in,
// leaves out, or spells in another way makes a difference.
func (s seen) against(wanted seen) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if is, ok := s[name]; ok && !strings.EqualFold(is, wanted[name]) {
			names = append(names, name)
		}
	}
	return names
}

// more are the names of what is there and was not asked for.
func (s seen) more(wanted seen) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(plain)) {
		is, there := s[name]
		if _, asked := wanted[name]; there && !asked && !strings.EqualFold(is, plain[name]) {
			names = append(names, name)
		}
	}
	return names
}

// fewer are the names of what was asked for and is not there, of those that Azure shows wherever they are set.
func (s seen) fewer(wanted seen) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(plain)) {
		asked, is := wanted[name]
		if _, there := s[name]; is && !there && !strings.EqualFold(asked, plain[name]) {
			names = append(names, name)
		}
	}
	return names
}

// judging are the names with one spelling, so that a difference in one of them makes a machine without a tag of another content.
// The others are for people: a machine must not be replaced because Azure shows something in another way than it was asked for.
var judging = []string{"size", "image", "plan", "osDisk.size", "osDisk.caching", "dataDisks", "ssh", "security.encryptionAtHost", "security.type", "identities"}

// judged are those of some names that count.
func judged(names []string) []string {
	var out []string
	for _, name := range names {
		if slices.ContainsFunc(judging, func(of string) bool { return name == of || strings.HasPrefix(name, of+".") }) ||
			strings.HasPrefix(name, "nics.") && strings.HasSuffix(name, ".addresses") || name == "nics" {
			out = append(out, name)
		}
	}
	return out
}

// fieldsOf are the object's fields behind some names, each once.
func fieldsOf(names []string) []string {
	var fields []string
	for _, name := range names {
		for _, part := range parts {
			if name == part.name || strings.HasPrefix(name, part.name+".") {
				fields = append(fields, part.field)
				break
			}
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// content tells apart what is seen where it is unknown what was asked for.
func (s seen) content() string {
	plainly := map[string]string{}
	for name, value := range s {
		plainly[name] = strings.ToLower(value)
	}
	text, err := digestOf(plainly, contentLength)
	if err != nil {
		return seenAlgorithm + ":"
	}
	return seenAlgorithm + ":" + text
}
