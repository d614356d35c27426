package azure

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
)

// document is a JSON object as it goes over the wire.
type document = map[string]any

// dig is what lies at a path of members, nil where there is nothing.
func dig(d document, path string) any {
	var v any = d
	for part := range strings.SplitSeq(path, ".") {
		m, ok := v.(document)
		if !ok {
			return nil
		}
		v = m[part]
	}
	return v
}

// text is the string at a path, "" where there is none.
func text(d document, path string) string {
	s, _ := dig(d, path).(string)
	return s
}

// number is the whole number at a path, and whether there is one.
func number(d document, path string) (int, bool) {
	switch n := dig(d, path).(type) {
	case float64:
		return int(n), true
	case int:
		return n, true
	}
	return 0, false
}

// truth is the boolean at a path, false where there is none.
func truth(d document, path string) bool {
	b, _ := dig(d, path).(bool)
	return b
}

// under is the object at a path, nil where there is none.
func under(d document, path string) document {
	m, _ := dig(d, path).(document)
	return m
}

// items are the elements of the list at a path.
func items(d document, path string) []any {
	l, _ := dig(d, path).([]any)
	return l
}

// objects are the elements of the list at a path that are objects.
func objects(d document, path string) []document {
	var out []document
	for _, v := range items(d, path) {
		if m, ok := v.(document); ok {
			out = append(out, m)
		}
	}
	return out
}

// texts are the elements of the list at a path that are strings.
func texts(d document, path string) []string {
	var out []string
	for _, v := range items(d, path) {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// pairs are the members at a path whose values are strings.
func pairs(d document, path string) map[string]string {
	out := map[string]string{}
	for k, v := range under(d, path) {
		if s, ok := v.(string); ok {
			out[k] = s
		}
	}
	return out
}

// place puts a value at a path and makes the objects above it. Nil takes away what is there.
func place(d document, path string, v any) {
	parts := strings.Split(path, ".")
	for _, part := range parts[:len(parts)-1] {
		next, ok := d[part].(document)
		if !ok {
			if v == nil {
				return
			}
			next = document{}
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

// preset puts a value at a path where there is none.
func preset(d document, path string, v any) {
	if dig(d, path) == nil {
		place(d, path, v)
	}
}

// copied is a deep copy.
func copied[T any](v T) T {
	c, _ := duplicate(v).(T)
	return c
}

func duplicate(v any) any {
	switch t := v.(type) {
	case document:
		if t == nil {
			return t
		}
		out := make(document, len(t))
		for k, e := range t {
			out[k] = duplicate(e)
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = duplicate(e)
		}
		return out
	default:
		return v
	}
}

// merge puts what a PATCH says over what there is: objects member by member, all else as a whole. Null takes away.
func merge(into, from document) {
	for k, v := range from {
		have, isObject := into[k].(document)
		give, both := v.(document)
		switch {
		case isObject && both:
			merge(have, give)
		case v == nil:
			delete(into, k)
		default:
			into[k] = withoutNulls(duplicate(v))
		}
	}
}

// withoutNulls takes all members off that are null, which stands for what was not sent.
func withoutNulls(v any) any {
	switch t := v.(type) {
	case document:
		for k, e := range t {
			if e == nil {
				delete(t, k)
				continue
			}
			withoutNulls(e)
		}
	case []any:
		for _, e := range t {
			withoutNulls(e)
		}
	}
	return v
}

// same compares two values as documents.
func same(a, b any) bool { return reflect.DeepEqual(a, b) }

// ofStrings makes a document of strings.
func ofStrings(m map[string]string) document {
	out := make(document, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// list makes a JSON list of strings.
func list(s []string) []any {
	out := make([]any, len(s))
	for i, v := range s {
		out[i] = v
	}
	return out
}

// written is a value as JSON, with members in order.
func written(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// cloned is a copy of a map.
func cloned(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return maps.Clone(m)
}
