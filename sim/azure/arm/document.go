package arm

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
)

// Document is a JSON object as it goes over the wire.
type Document = map[string]any

// Dig is what lies at a path of members, nil where there is nothing.
func Dig(d Document, path string) any {
	var v any = d
	for part := range strings.SplitSeq(path, ".") {
		m, ok := v.(Document)
		if !ok {
			return nil
		}
		v = m[part]
	}
	return v
}

// Text is the string at a path, "" where there is none.
func Text(d Document, path string) string {
	s, _ := Dig(d, path).(string)
	return s
}

// Number is the whole number at a path, and whether there is one.
func Number(d Document, path string) (int, bool) {
	switch n := Dig(d, path).(type) {
	case float64:
		return int(n), true
	case int:
		return n, true
	}
	return 0, false
}

// Truth is the boolean at a path, false where there is none.
func Truth(d Document, path string) bool {
	b, _ := Dig(d, path).(bool)
	return b
}

// Under is the object at a path, nil where there is none.
func Under(d Document, path string) Document {
	m, _ := Dig(d, path).(Document)
	return m
}

// Items are the elements of the list at a path.
func Items(d Document, path string) []any {
	l, _ := Dig(d, path).([]any)
	return l
}

// Objects are the elements of the list at a path that are objects.
func Objects(d Document, path string) []Document {
	var out []Document
	for _, v := range Items(d, path) {
		if m, ok := v.(Document); ok {
			out = append(out, m)
		}
	}
	return out
}

// Texts are the elements of the list at a path that are strings.
func Texts(d Document, path string) []string {
	var out []string
	for _, v := range Items(d, path) {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Pairs are the members at a path whose values are strings.
func Pairs(d Document, path string) map[string]string {
	out := map[string]string{}
	for k, v := range Under(d, path) {
		if s, ok := v.(string); ok {
			out[k] = s
		}
	}
	return out
}

// Place puts a value at a path and makes the objects above it. Nil takes away what is there.
func Place(d Document, path string, v any) {
	parts := strings.Split(path, ".")
	for _, part := range parts[:len(parts)-1] {
		next, ok := d[part].(Document)
		if !ok {
			if v == nil {
				return
			}
			next = Document{}
			d[part] = next
		}
		d = next
	}
	last := parts[len(parts)-1]
	if v == nil {
		delete(d, last)
		return
	}
	d[last] = v
}

// Preset puts a value at a path where there is none.
func Preset(d Document, path string, v any) {
	if Dig(d, path) == nil {
		Place(d, path, v)
	}
}

// Copied is a deep copy.
func Copied[T any](v T) T {
	c, _ := Duplicate(v).(T)
	return c
}

// Duplicate is a deep copy of any value of a document.
func Duplicate(v any) any {
	switch t := v.(type) {
	case Document:
		if t == nil {
			return t
		}
		out := make(Document, len(t))
		for k, e := range t {
			out[k] = Duplicate(e)
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = Duplicate(e)
		}
		return out
	default:
		return v
	}
}

// Merge puts what a PATCH says over what there is: objects member by member, all else as a whole. Null takes away.
func Merge(into, from Document) {
	for k, v := range from {
		have, isObject := into[k].(Document)
		give, both := v.(Document)
		switch {
		case isObject && both:
			Merge(have, give)
		case v == nil:
			delete(into, k)
		default:
			into[k] = WithoutNulls(Duplicate(v))
		}
	}
}

// WithoutNulls takes all members off that are null, which stands for what was not sent.
func WithoutNulls(v any) any {
	switch t := v.(type) {
	case Document:
		for k, e := range t {
			if e == nil {
				delete(t, k)
				continue
			}
			WithoutNulls(e)
		}
	case []any:
		for _, e := range t {
			WithoutNulls(e)
		}
	}
	return v
}

// Same compares two values as documents.
func Same(a, b any) bool { return reflect.DeepEqual(a, b) }

// OfStrings makes a document of strings.
func OfStrings(m map[string]string) Document {
	out := make(Document, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// List makes a JSON list of strings.
func List(s []string) []any {
	out := make([]any, len(s))
	for i, v := range s {
		out[i] = v
	}
	return out
}

// Written is a value as JSON, with members in order.
func Written(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// Cloned is a copy of a map.
func Cloned(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return maps.Clone(m)
}
