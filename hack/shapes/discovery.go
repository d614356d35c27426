package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/core/shapes"
)

// discovery is a discovery document.
type discovery struct {
	ServicePath string
	Parameters  map[string]json.RawMessage
	Schemas     map[string]property
	resource
}

type resource struct {
	Methods   map[string]method
	Resources map[string]resource
}

type method struct {
	ID, HTTPMethod, FlatPath string
	Parameters               map[string]struct {
		Location string
		Required bool
	}
	Request, Response struct {
		Ref string `json:"$ref"`
	}
}

// property is an object, a member or what a list or a map is of.
type property struct {
	Type, Format, Description string
	Ref                       string `json:"$ref"`
	ReadOnly                  bool
	Enum                      []string
	Items                     *property
	Values                    *property `json:"additionalProperties"`
	Properties                map[string]property
	// Annotations name the operations that require the member.
	Annotations struct{ Required []string }
}

// readDiscovery reads the file of a discovery document.
func readDiscovery(path string) (*shapes.Service, error) {
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("read the discovery document: %w", err)
	}
	var from discovery
	if err := json.Unmarshal(text, &from); err != nil {
		return nil, fmt.Errorf("decode the discovery document: %w", err)
	}
	to := &shapes.Service{
		Query: slices.Sorted(maps.Keys(from.Parameters)), Operations: map[string]shapes.Operation{}, Types: shapes.Types{},
	}
	from.add("/"+from.ServicePath, to)
	for name, schema := range from.Schemas {
		schema.add(name, to)
	}
	for id, o := range to.Operations {
		slices.Sort(o.Required)
		to.Operations[id] = o
	}
	return to, nil
}

// add adds the operations of a resource and of those below it.
func (r resource) add(path string, to *shapes.Service) {
	for _, m := range r.Methods {
		o := shapes.Operation{Method: m.HTTPMethod, Path: path + m.FlatPath, Body: m.Request.Ref, Answer: m.Response.Ref}
		for name, p := range m.Parameters {
			if p.Location == "query" {
				o.Query = append(o.Query, required(name, p.Required))
			}
		}
		slices.Sort(o.Query)
		to.Operations[m.ID] = o
	}
	for _, below := range r.Resources {
		below.add(path, to)
	}
}

// required returns a name with the mark of what is required.
func required(name string, is bool) string {
	if is {
		return "*" + name
	}
	return name
}

// add adds an object as a type.
func (p property) add(name string, to *shapes.Service) {
	members := map[string]string{}
	to.Types[name] = members
	for member, m := range p.Properties {
		mark := ""
		switch {
		case m.ReadOnly || strings.HasPrefix(m.Description, "Output only"):
			mark = "!"
		case strings.HasPrefix(m.Description, "[Output Only]"):
			mark = "~"
		}
		members[member] = mark + m.kind(name+"."+member, to)
		for _, id := range m.Annotations.Required {
			if o, is := to.Operations[id]; is {
				o.Required = append(o.Required, name+"."+member)
				to.Operations[id] = o
			}
		}
	}
}

// kind returns the kind of a member. An object without a name is added as a type with the path of the member.
func (p property) kind(path string, to *shapes.Service) string {
	switch {
	case p.Ref != "":
		return p.Ref
	case p.Items != nil:
		return "[]" + p.Items.kind(path, to)
	case p.Values != nil:
		return "{}" + p.Values.kind(path, to)
	case len(p.Properties) > 0:
		p.add(path, to)
		return path
	case len(p.Enum) > 0:
		return "=" + strings.Join(p.Enum, "|")
	}
	return p.scalar()
}

// scalar returns the kind of a scalar. Numbers of 64 bits are strings in the document, as they are in bodies.
func (p property) scalar() string {
	switch {
	case strings.HasSuffix(p.Format, "int64"):
		return "int64"
	case p.Type == "boolean":
		return "bool"
	case p.Type == "integer":
		return "int"
	case p.Type == "number", p.Type == "string":
		return p.Type
	}
	return "any"
}
