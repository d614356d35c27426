package fields

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ServiceOwned identifies the entries of a list or map that the service or another client adds. They are no drift, whether present or not,
// and a write of the whole list or map keeps those that exist.
type ServiceOwned struct {
	// Domains precede the slash in the names of such entries; subdomains count.
	Domains []string
	// Prefixes begin their names.
	Prefixes []string
	// Recorded is the tag in which Muster records its own entries: all others are not Muster's.
	Recorded string
	// None is true if all entries are Muster's.
	None bool
}

// Known reports whether the owner of a row's entries is known. It is for each row of a list or map.
func (s ServiceOwned) Known() bool {
	return s.None || s.Recorded != "" || len(s.Domains)+len(s.Prefixes) > 0
}

// Owns reports whether the service writes the entry of that name by itself.
func (s ServiceOwned) Owns(name string) bool {
	domain, _, divided := strings.Cut(name, "/")
	return divided && slices.ContainsFunc(s.Domains, func(d string) bool { return domain == d || strings.HasSuffix(domain, "."+d) }) ||
		slices.ContainsFunc(s.Prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// Without returns the entries of a map that the service does not own.
func Without[V any](s ServiceOwned, m map[string]V) map[string]V {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]V{}
	}
	maps.DeleteFunc(out, func(name string, _ V) bool { return s.Owns(name) })
	return out
}

// With returns what is written to have the wanted entries: these, and those that are there and that the service owns.
func With[V any](s ServiceOwned, wanted, is map[string]V) map[string]V {
	out := maps.Clone(is)
	if out == nil {
		out = map[string]V{}
	}
	maps.DeleteFunc(out, func(name string, _ V) bool { return !s.Owns(name) })
	maps.Copy(out, wanted)
	return out
}

// Changes returns the wanted entries that are missing or differ, and the sorted names of the entries to remove: Muster has recorded them as
// its own, and they are no longer wanted.
func Changes(want, is map[string]string, recorded func(name string) bool) (put map[string]string, remove []string) {
	put = map[string]string{}
	for name, value := range want {
		if found, ok := is[name]; !ok || found != value {
			put[name] = value
		}
	}
	for name := range is {
		if _, wanted := want[name]; !wanted && recorded(name) {
			remove = append(remove, name)
		}
	}
	slices.Sort(remove)
	return put, remove
}

// texts returns the entries of a list as sorted texts, without those that the service owns.
func (s ServiceOwned) texts(list any) []string {
	var out []string
	switch items := list.(type) {
	case []string:
		out = slices.Clone(items)
	case []any:
		for _, item := range items {
			out = append(out, fmt.Sprint(item))
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(out, s.Owns)
}
