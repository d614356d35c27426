package model

import (
	"slices"
	"strings"

	"github.com/muster-project/muster/cloud/driverkit"
)

// against returns the names in which what is seen differs from what is wanted, as far as both have them. So nothing that Azure fills in,
// leaves out, or spells in another letter case makes a difference.
func (s seen) against(wanted seen) []string { return driverkit.Changed(s, wanted, strings.EqualFold) }

// more returns the names of what is there and was not asked for.
func (s seen) more(wanted seen) []string { return s.unlikePlain(driverkit.Beyond(s, wanted)) }

// fewer returns the names of what was asked for and is not there, of those that Azure shows wherever they are set.
func (s seen) fewer(wanted seen) []string { return wanted.unlikePlain(driverkit.Beyond(wanted, s)) }

// unlikePlain returns those of some names that Azure shows only where a user has set them, with another value than the plain one.
func (s seen) unlikePlain(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		value, known := plain[name]
		return !known || strings.EqualFold(s[name], value)
	})
}

// judging are the names with one spelling, so that a difference in one of them makes a machine without a tag of another content.
// The others are for people: a machine must not be replaced because Azure shows something in another way than it was asked for.
var judging = []string{"size", "image", "plan", "osDisk.size", "osDisk.caching", "dataDisks", "ssh", "security.encryptionAtHost",
	"security.type", "identities"}

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

// fieldsOf returns the object's fields behind some names, each once.
func fieldsOf(names []string) []string { return driverkit.FieldsOf(names, fieldOf) }

// fieldOf returns the object's field behind a name; empty if there is none.
func fieldOf(name string) string {
	for _, part := range parts {
		if name == part.name || strings.HasPrefix(name, part.name+".") {
			return part.field
		}
	}
	return ""
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
