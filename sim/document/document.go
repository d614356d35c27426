// Package document reads and changes JSON objects by the paths of their members, as simulated clouds keep resources that they pass on as
// clients wrote them.
package document

import (
	"encoding/json"
	"maps"
	"reflect"
	"strconv"
	"strings"
)

// Object is a JSON object as it goes over the wire.
type Object = map[string]any

// Dig returns what lies at a path of members, nil for nothing.
func Dig(o Object, path string) any {
	var v any = o
	for part := range strings.SplitSeq(path, ".") {
		m, ok := v.(Object)
		if !ok {
			return nil
		}
		v = m[part]
	}
	return v
}

// Text returns the string at a path, "" for none.
func Text(o Object, path string) string {
	s, _ := Dig(o, path).(string)
	return s
}

// Number returns the whole number at a path, and whether there is one. Some clouds write numbers of 64 bits as strings.
func Number(o Object, path string) (int, bool) {
	switch n := Dig(o, path).(type) {
	case float64:
		return int(n), true
	case int:
		return n, true
	case string:
		v, err := strconv.Atoi(n)
		return v, err == nil
	}
	return 0, false
}

// Truth returns the boolean at a path, false for none.
func Truth(o Object, path string) bool {
	b, _ := Dig(o, path).(bool)
	return b
}

// Under returns the object at a path, nil for none.
func Under(o Object, path string) Object {
	m, _ := Dig(o, path).(Object)
	return m
}

// Items returns the elements of the list at a path.
func Items(o Object, path string) []any {
	l, _ := Dig(o, path).([]any)
	return l
}

// Objects returns the elements of the list at a path that are objects.
func Objects(o Object, path string) []Object { return itemsOf[Object](o, path) }

// Texts returns the elements of the list at a path that are strings.
func Texts(o Object, path string) []string { return itemsOf[string](o, path) }

// itemsOf returns the elements of the list at a path that are of one type.
func itemsOf[T any](o Object, path string) []T {
	var out []T
	for _, v := range Items(o, path) {
		if one, ok := v.(T); ok {
			out = append(out, one)
		}
	}
	return out
}

// Pairs returns the object at a path as a map of strings; members of other types are left out.
func Pairs(o Object, path string) map[string]string {
	out := map[string]string{}
	for k, v := range Under(o, path) {
		if s, ok := v.(string); ok {
			out[k] = s
		}
	}
	return out
}

// OfStrings returns a map of strings as an object.
func OfStrings(m map[string]string) Object {
	out := make(Object, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// List returns strings as a list.
func List(s []string) []any {
	out := make([]any, len(s))
	for i, v := range s {
		out[i] = v
	}
	return out
}

// Written returns a value as JSON, with members in order. Documents come from JSON and can always be written.
func Written(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// Same reports whether two values are equal as JSON.
func Same(a, b any) bool { return reflect.DeepEqual(a, b) }

// Overlaid returns the entries of two maps, those of the second over those of the first.
func Overlaid[V any](under, over map[string]V) map[string]V {
	out := make(map[string]V, len(under)+len(over))
	maps.Copy(out, under)
	maps.Copy(out, over)
	return out
}
