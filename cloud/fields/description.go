package fields

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Description holds the values that a document shows, as texts by the names of their fields. A value within a field, such as the size of
// one of several disks, has the name of the field, a dot and its own name.
type Description map[string]string

// Describe returns the values that a document shows. The value of a field is a map of texts where it has others within it; the text of an
// empty name is that of the field itself.
func (t Table[D, R]) Describe(d D) Description {
	out := Description{}
	for _, f := range t {
		if f.Value == nil {
			continue
		}
		switch value := f.Value(d).(type) {
		case nil:
		case map[string]string:
			for name, text := range value {
				out[strings.TrimSuffix(f.Name+"."+name, ".")] = text
			}
		default:
			out[f.Name] = textOf(value)
		}
	}
	return out
}

// textOf returns a value as a text.
func textOf(value any) string {
	if text, is := value.(string); is {
		return text
	}
	return fmt.Sprint(value)
}

// Completed returns a description with the defaults of the fields that it does not show.
func (t Table[D, R]) Completed(d Description) Description {
	out := maps.Clone(d)
	for _, f := range t {
		if _, shown := d[f.Name]; !shown && f.Default != nil {
			out[f.Name] = textOf(f.Default)
		}
	}
	return out
}

// Changed returns, in order, the names under which two descriptions both have values, which are not the same, of fields of some effects. A
// value that only one of them has is left out: the cloud may have chosen it, or may not show it.
func (t Table[D, R]) Changed(want, is Description, effects ...Effect) []string {
	var names []string
	for name, value := range want {
		shows, shown := is[name]
		if !shown || shows == value {
			continue // at rest most values are equal, and need no row
		}
		if f := t.Whole(name); slices.Contains(effects, f.Effect) && !t.same(f, value, shows) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Whole returns the row of a name in a description: of the field that has the name, or that the named value is within.
func (t Table[D, R]) Whole(name string) Field[D, R] {
	for whole := name; whole != ""; whole = whole[:max(0, strings.LastIndexByte(whole, '.'))] {
		if i := t.at(whole); i >= 0 {
			return t[i]
		}
	}
	return Field[D, R]{Name: name, Effect: Fixed}
}

// SpecsOf returns the paths in the specification of names in a description, in order and each once.
func (t Table[D, R]) SpecsOf(names []string) []string {
	var out []string
	for _, name := range names {
		out = append(out, t.Whole(name).Spec)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
