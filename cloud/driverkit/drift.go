package driverkit

import (
	"maps"
	"slices"
)

// Field is one field of the specification, compared with what the cloud shows.
type Field struct {
	// Name is the field's path, as messages name it.
	Name string
	// Differs is true if the cloud shows the field otherwise than it is wanted.
	Differs bool
}

// Differing returns the names of the fields that differ, in their order. It is nil if none does.
func Differing(fields ...Field) []string {
	var names []string
	for _, f := range fields {
		if f.Differs {
			names = append(names, f.Name)
		}
	}
	return names
}

// Changed returns, in order, the names of the parts that two descriptions of an object both have, with values that are not the same. A part
// that only one of them has is left out: the cloud may have chosen it, or may not show it.
func Changed[M ~map[string]V, V any](is, want M, same func(a, b V) bool) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if value, ok := is[name]; ok && !same(value, want[name]) {
			names = append(names, name)
		}
	}
	return names
}

// Beyond returns, in order, the names of the parts that a description has and another lacks.
func Beyond[M ~map[string]V, V any](is, other M) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if _, ok := other[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

// FieldsOf returns the fields of the specification that parts come from, in order and each once. A part for which field returns an empty
// path is left out.
func FieldsOf(names []string, field func(name string) string) []string {
	var fields []string
	for _, name := range names {
		if path := field(name); path != "" {
			fields = append(fields, path)
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}
