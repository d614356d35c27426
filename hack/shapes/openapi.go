package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/core/shapes"
)

// openAPI is an OpenAPI document of version 3, or one of version 2 (Swagger), which has its parts at the top.
type openAPI struct {
	BasePath    string
	Paths       map[string]map[string]openOperation
	Parameters  map[string]openParameter
	Responses   map[string]openResponse
	Definitions map[string]*openSchema
	Components  struct {
		Parameters map[string]openParameter
		Responses  map[string]openResponse
		Schemas    map[string]*openSchema
	}
	names map[string]string // the type's name of each definition
	to    shapes.Types
}

type openOperation struct {
	OperationID string
	Parameters  []openParameter
	RequestBody openResponse
	Responses   map[string]openResponse
}

type openParameter struct {
	Ref      string `json:"$ref"`
	Name, In string
	Required bool
	// Schema is that of a parameter of version 2 that is the body.
	Schema *openSchema
}

// openResponse is an answer, or a body of version 3.
type openResponse struct {
	Ref     string `json:"$ref"`
	Schema  *openSchema
	Content map[string]struct{ Schema *openSchema }
}

type openSchema struct {
	Ref           string `json:"$ref"`
	Type          string
	Enum          []any
	Items         *openSchema
	Properties    map[string]*openSchema
	Values        json.RawMessage `json:"additionalProperties"`
	Required      []string
	ReadOnly      bool
	AllOf         []*openSchema
	Discriminator any
}

// readOpenAPI reads the file of an OpenAPI document.
func readOpenAPI(file string) (*shapes.Service, error) {
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	return fromOpenAPI(text)
}

func fromOpenAPI(text []byte) (*shapes.Service, error) {
	d := openAPI{to: shapes.Types{}}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("decode the OpenAPI document: %w", err)
	}
	if d.Definitions == nil {
		d.Parameters, d.Responses, d.Definitions = d.Components.Parameters, d.Components.Responses, d.Components.Schemas
	}
	d.names = shortNames(slices.Sorted(maps.Keys(d.Definitions)))
	operations := map[string]shapes.Operation{}
	for at, verbs := range d.Paths {
		for verb, o := range verbs {
			operations[o.OperationID] = d.operation(strings.ToUpper(verb), strings.TrimSuffix(d.BasePath, "/")+at, o)
		}
	}
	return &shapes.Service{Operations: operations, Types: d.to}, nil
}

// shortNames names each definition by the last part of its qualified name. Where two have the same, the one that is nested deeper keeps one
// part more.
func shortNames(definitions []string) map[string]string {
	slices.SortStableFunc(definitions, func(a, b string) int { return strings.Count(a, ".") - strings.Count(b, ".") })
	names, taken := map[string]string{}, map[string]bool{}
	for _, definition := range definitions {
		from := strings.LastIndexByte(definition, '.')
		for from > 0 && taken[definition[from+1:]] {
			from = strings.LastIndexByte(definition[:from], '.')
		}
		names[definition] = definition[from+1:]
		taken[names[definition]] = true
	}
	return names
}

func (d *openAPI) operation(verb, at string, from openOperation) shapes.Operation {
	o := shapes.Operation{Method: verb, Path: at, Body: d.body(from.RequestBody, from.OperationID)}
	for _, p := range from.Parameters {
		if p.Ref != "" {
			p = d.Parameters[path.Base(p.Ref)]
		}
		switch p.In {
		case "query":
			o.Query = append(o.Query, required(p.Name, p.Required))
		case "header":
			o.Headers = append(o.Headers, required(http.CanonicalHeaderKey(p.Name), p.Required))
		case "body":
			o.Body = d.kind(p.Schema, from.OperationID)
		}
	}
	for _, status := range slices.Sorted(maps.Keys(from.Responses)) {
		code, err := strconv.Atoi(status)
		if err != nil || code >= http.StatusBadRequest {
			continue
		}
		o.Success = append(o.Success, code)
		if answer := d.body(from.Responses[status], from.OperationID+".answer"); answer != "" {
			o.Answer = answer
		}
	}
	slices.Sort(o.Query)
	slices.Sort(o.Headers)
	return o
}

// body returns the kind of the body of a request or an answer, "" for none. The name is that of the operation.
func (d *openAPI) body(r openResponse, name string) string {
	if r.Ref != "" {
		r = d.Responses[path.Base(r.Ref)]
	}
	if content, is := r.Content["application/json"]; is {
		r.Schema = content.Schema
	}
	if r.Schema == nil {
		return ""
	}
	return d.kind(r.Schema, name)
}

// kind returns the kind of a value. An object without a name is added as a type with the path of the member.
func (d *openAPI) kind(s *openSchema, at string) string {
	if s.Ref != "" {
		name := path.Base(s.Ref)
		if s = d.Definitions[name]; s == nil {
			return "any"
		}
		at = d.names[name]
	}
	if values := s.values(); values != nil {
		return "{}" + d.kind(values, at)
	}
	switch {
	case s.Items != nil:
		return "[]" + d.kind(s.Items, at)
	case len(s.Properties)+len(s.AllOf) > 0:
		if d.to[at] == nil {
			d.to[at] = map[string]string{}
			d.add(s, at)
			d.addKinds(at)
		}
		return at
	case s.Type == "string" && len(s.Enum) > 0:
		return "=" + s.enumeration()
	}
	if kind, is := openScalars[s.Type]; is {
		return kind
	}
	return "any"
}

var openScalars = map[string]string{"string": "string", "boolean": "bool", "integer": "int", "number": "number"}

func (s *openSchema) enumeration() string {
	var values []string
	for _, v := range s.Enum {
		if text, is := v.(string); is {
			values = append(values, text)
		}
	}
	return strings.Join(values, "|")
}

// values returns the schema of a map's entries, nil for what is none. Some documents have a member instead whose name is that of a key in
// angle brackets.
func (s *openSchema) values() *openSchema {
	for name, member := range s.Properties {
		if strings.HasPrefix(name, "<") {
			return member
		}
	}
	out := &openSchema{}
	if len(s.Values) == 0 || len(s.Properties) > 0 || json.Unmarshal(s.Values, out) != nil { // additionalProperties may be a boolean
		return nil
	}
	return out
}

// add adds the members of an object, and of what it extends, to a type.
func (d *openAPI) add(s *openSchema, name string) {
	for _, part := range s.AllOf {
		if part.Ref != "" {
			part = d.Definitions[path.Base(part.Ref)]
		}
		if part != nil {
			d.add(part, name)
		}
	}
	for member, m := range s.Properties {
		mark := ""
		if slices.Contains(s.Required, member) {
			mark = "*"
		}
		if m.ReadOnly {
			mark += "!"
		}
		d.to[name][member] = mark + d.kind(m, name+"."+member)
	}
}

// addKinds adds to a type whose objects are of several kinds, told by the value of a member, the members of all of them; none of those is
// required.
func (d *openAPI) addKinds(name string) {
	if base := d.Definitions[name]; base == nil || base.Discriminator == nil {
		return
	}
	for _, other := range slices.Sorted(maps.Keys(d.Definitions)) {
		extends := slices.ContainsFunc(d.Definitions[other].AllOf, func(part *openSchema) bool { return path.Base(part.Ref) == name })
		if !extends {
			continue
		}
		for member, kind := range d.to[d.kind(&openSchema{Ref: "#/" + other}, "")] {
			if _, own := d.to[name][member]; !own {
				d.to[name][member] = strings.TrimPrefix(kind, "*")
			}
		}
	}
}
