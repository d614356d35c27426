// Package fields holds what a driver knows of the fields of a specification, a row a field: its path, its place in the cloud's document,
// what the cloud does with a change, how values compare, and what one request changes together. Drift, what can't be changed, what replaces
// machines, and the fields of refusals come from the rows.
package fields

import (
	"cmp"
	"slices"
	"strings"
)

// Effect is the cloud's reaction to a changed field of an existing group.
type Effect int

// The effects.
const (
	// InPlace: the cloud changes the group, and its machines while they run where the field concerns them.
	InPlace Effect = iota
	// Rolls: the cloud replaces the machines.
	Rolls
	// Fixed: the cloud takes no change.
	Fixed
)

// The fields of the MachinePool that a group is made from too.
const (
	Version  = "MachinePool spec.template.spec.version"
	Replicas = "MachinePool spec.replicas"
)

// Field is one field of a specification. D is the cloud's document of a group, R the request that changes it.
type Field[D, R any] struct {
	// Name of the field in the document; of a part of a field, the path to it.
	Name string
	// Place is its path in the document, for readers, where that is not the name.
	Place string
	// Spec is the path of the field in the specification, from spec on; empty where only raw documents of the cloud have it. Alias is that
	// of an older field with the same meaning.
	Spec, Alias string
	Effect      Effect
	// Doc tells readers the outcome of a change; empty for that of the effect.
	Doc string
	// Compare tells when two values mean the same, and Owned which entries of a list or map are not Muster's.
	Compare Comparison
	Owned   ServiceOwned
	// Default is the value of a document that does not show the field; nil where that is unknown.
	Default any
	// Advisory is true if the cloud may show a value otherwise than it was written: a difference is reported, and replaces no machine.
	Advisory bool
	// Codes are the cloud's error codes that are about the field.
	Codes []string
	// Method is the request that changes the field, where the cloud has several; empty for its usual one.
	Method string
	// With is the field that goes first in the request which changes this one too; empty where it is changed alone.
	With string
	// Value returns the field as a value that can be compared and encoded; nil where a document does not have it.
	Value func(D) any
	// Differs reports whether a document is otherwise than is wanted, where values do not suffice for it.
	Differs func(want, is D) bool
	// Put puts the wanted field into a request; nil for fields that take no change or have a method of their own.
	Put func(r R, want, is D)
	// Copy gives one document the field of another; nil where no request leaves the field as it is.
	Copy func(to, from D)
}

// Row holds the documented part of a Field.
type Row struct {
	Name, Place, Spec, Alias string
	Effect                   Effect
	Doc                      string
	Owned                    ServiceOwned
}

// first returns the name of the field that stands for a request.
func (f Field[D, R]) first() string {
	if f.With != "" {
		return f.With
	}
	return f.Name
}

// Table is the fields of a kind in the order in which they are changed.
type Table[D, R any] []Field[D, R]

// Differing returns the fields of some effects that differ, in their order.
func (t Table[D, R]) Differing(want, is D, effects ...Effect) Table[D, R] {
	var out Table[D, R]
	for _, f := range t {
		if slices.Contains(effects, f.Effect) && t.differs(f, want, is) {
			out = append(out, f)
		}
	}
	return out
}

// differs reports whether a document is otherwise than is wanted. A field that is not wanted does not differ.
func (t Table[D, R]) differs(f Field[D, R], want, is D) bool {
	switch {
	case f.Differs != nil:
		return f.Differs(want, is)
	case f.Value == nil:
		return false
	}
	w := f.Value(want)
	return w != nil && !t.same(f, w, f.Value(is))
}

// Of returns the row of a name. A field without a row can't be changed.
func (t Table[D, R]) Of(name string) Field[D, R] {
	if i := t.at(name); i >= 0 {
		return t[i]
	}
	return Field[D, R]{Name: name, Effect: Fixed}
}

// OfSpec returns the row of a path in the specification. A path without a row names no field of the document.
func (t Table[D, R]) OfSpec(path string) Field[D, R] {
	if i := slices.IndexFunc(t, func(f Field[D, R]) bool { return f.Spec == path }); i >= 0 {
		return t[i]
	}
	return Field[D, R]{Spec: path, Effect: Fixed}
}

// OfCode returns the name of the field that an error code is about; empty for none.
func (t Table[D, R]) OfCode(code string) string {
	for _, f := range t {
		if slices.Contains(f.Codes, code) {
			return f.Name
		}
	}
	return ""
}

// Rows returns the documented parts of the fields.
func (t Table[D, R]) Rows() []Row {
	out := make([]Row, 0, len(t))
	for _, f := range t {
		out = append(out, Row{Name: f.Name, Place: f.Place, Spec: f.Spec, Alias: f.Alias, Effect: f.Effect, Doc: f.Doc, Owned: f.Owned})
	}
	return out
}

// Together returns those of some fields that one request changes: the first, and what goes with it.
func (t Table[D, R]) Together() Table[D, R] {
	var out Table[D, R]
	for _, f := range t {
		if f.first() == t[0].first() {
			out = append(out, f)
		}
	}
	return out
}

// Without returns the fields but those of some names.
func (t Table[D, R]) Without(names ...string) Table[D, R] {
	return slices.DeleteFunc(slices.Clone(t), func(f Field[D, R]) bool { return slices.Contains(names, f.Name) })
}

// Specs returns the paths of the fields in the specification, each once; the names of those that it does not have.
func (t Table[D, R]) Specs() []string {
	var out []string
	for _, f := range t {
		if path := cmp.Or(f.Spec, f.Name); !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// Repairing returns the fields of some paths, as Specs returns them, that are put into a request.
func (t Table[D, R]) Repairing(paths []string) Table[D, R] {
	return slices.DeleteFunc(slices.Clone(t), func(f Field[D, R]) bool {
		return f.Put == nil || !slices.Contains(paths, cmp.Or(f.Spec, f.Name))
	})
}

// Has reports whether a field of that name is in the table.
func (t Table[D, R]) Has(name string) bool { return t.at(name) >= 0 }

// Ahead reports whether one field is changed by an earlier request than another. Both must be in the table.
func (t Table[D, R]) Ahead(name, other string) bool {
	place := func(name string) int { return t.at(t[t.at(name)].first()) }
	return place(name) < place(other)
}

// at returns the index of the row of a name, -1 for none. Rows are large, and are not copied for it.
func (t Table[D, R]) at(name string) int {
	for i := range t {
		if t[i].Name == name {
			return i
		}
	}
	return -1
}

// Put puts all fields into a request.
func (t Table[D, R]) Put(r R, want, is D) {
	for _, f := range t {
		f.Put(r, want, is)
	}
}

// Rolling returns the fields whose change replaces machines, with the values that one document has for those that another one names.
func (t Table[D, R]) Rolling(named, of D) map[string]any {
	out := map[string]any{}
	for _, f := range t {
		if f.Effect == Rolls && f.Value != nil && f.Value(named) != nil {
			out[f.Name] = f.Value(of)
		}
	}
	return out
}

// SpecOf returns the path in the specification of the field of a name, in whatever case; empty for none.
func (t Table[D, R]) SpecOf(name string) string {
	for _, f := range t {
		if strings.EqualFold(f.Name, name) {
			return f.Spec
		}
	}
	return ""
}
