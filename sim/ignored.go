package sim

import (
	"encoding/json"
	"net/url"
	"strings"
)

// Ignored returns what the faults of a request ignore: all of it, or some fields.
func Ignored(faults []Fault) (all bool, fields []string) {
	for _, f := range faults {
		switch {
		case f.Kind != Ignore:
		case f.Field == "":
			all = true
		default:
			fields = append(fields, f.Field)
		}
	}
	return all, fields
}

// FormHas reports whether a form says anything of a field or of what lies below it.
func FormHas(form url.Values, field string) bool {
	for name := range form {
		if below(name, field) {
			return true
		}
	}
	return false
}

// FormWithout is a form without some fields.
func FormWithout(form url.Values, fields ...string) url.Values {
	out := url.Values{}
	for name, values := range form {
		out[name] = values
		for _, field := range fields {
			if below(name, field) {
				delete(out, name)
			}
		}
	}
	return out
}

// below reports whether a parameter is a field or lies below it.
func below(name, field string) bool { return name == field || strings.HasPrefix(name, field+".") }

// JSONHas reports whether a document says anything of a field: a path of members, which leads into every element of a list.
func JSONHas(body []byte, field string) bool {
	var doc any
	return json.Unmarshal(body, &doc) == nil && walk(doc, strings.Split(field, "."), func(map[string]any, string) {})
}

// JSONWithout is a document without some fields.
func JSONWithout(body []byte, fields ...string) ([]byte, error) {
	var doc any
	if err := json.Unmarshal(body, &doc); err != nil {
		return nil, err
	}
	for _, field := range fields {
		walk(doc, strings.Split(field, "."), func(in map[string]any, name string) { delete(in, name) })
	}
	return json.Marshal(doc)
}

// walk calls do for each place of a path in a document, and reports whether there is one.
func walk(doc any, path []string, do func(in map[string]any, name string)) bool {
	switch node := doc.(type) {
	case []any:
		found := false
		for _, element := range node {
			found = walk(element, path, do) || found
		}
		return found
	case map[string]any:
		next, there := node[path[0]]
		if !there {
			return false
		}
		if len(path) == 1 {
			do(node, path[0])
			return true
		}
		return walk(next, path[1:], do)
	default:
		return false
	}
}
