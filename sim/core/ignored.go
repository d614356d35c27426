package core

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim"
)

// ignored returns what the faults of a request ignore: all of it, or some fields.
func ignored(faults []sim.Fault) (all bool, fields []string) {
	for _, f := range faults {
		switch {
		case f.Kind != sim.Ignore:
		case f.Field == "":
			all = true
		default:
			fields = append(fields, f.Field)
		}
	}
	return all, fields
}

// Fields gives access to the fields of a request.
type Fields interface {
	// Has reports whether the request sets a field or a field below it.
	Has(field string) bool
	// Drop removes fields from the request.
	Drop(fields []string) error
}

// Form is a form of which all parameters are fields.
type Form struct{ Values *url.Values }

// Has reports whether the form sets a field or a field below it.
func (f Form) Has(field string) bool {
	for name := range *f.Values {
		if below(name, field) {
			return true
		}
	}
	return false
}

// Drop removes fields from the form, with all fields below them.
func (f Form) Drop(fields []string) error {
	out := url.Values{}
	for name, values := range *f.Values {
		if !slices.ContainsFunc(fields, func(field string) bool { return below(name, field) }) {
			out[name] = values
		}
	}
	*f.Values = out
	return nil
}

// below reports whether a parameter is a field or lies below it.
func below(name, field string) bool { return name == field || strings.HasPrefix(name, field+".") }

// JSON is a document whose fields are paths of members, which lead into every element of a list.
type JSON struct{ Text *[]byte }

// Has reports whether the document says anything of a field.
func (j JSON) Has(field string) bool {
	var doc any
	return json.Unmarshal(*j.Text, &doc) == nil && walk(doc, strings.Split(field, "."), func(map[string]any, string) {})
}

// Drop takes fields out of the document.
func (j JSON) Drop(fields []string) error {
	var doc any
	if err := json.Unmarshal(*j.Text, &doc); err != nil {
		return err
	}
	for _, field := range fields {
		walk(doc, strings.Split(field, "."), func(in map[string]any, name string) { delete(in, name) })
	}
	text, err := json.Marshal(doc)
	if err == nil {
		*j.Text = text
	}
	return err
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

// Ignoring returns a rule for each field, "" being the whole request, that ignores it of an operation without end.
func Ignoring(service, action string, fields ...string) []sim.Fault {
	out := make([]sim.Fault, len(fields))
	for i, field := range fields {
		out[i] = sim.Fault{Kind: sim.Ignore, Service: service, Action: action, Field: field, Name: "ignores " + action + " " + field}
	}
	return out
}
