package specs

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// openAPI is the part of an OpenAPI document that says what requests are.
type openAPI struct {
	Paths      map[string]map[string]openOperation
	Components struct{ Schemas map[string]*openSchema }
}

type openOperation struct {
	OperationID string
	Parameters  []struct {
		Name, In string
		Required bool
	}
	RequestBody struct {
		Content map[string]struct{ Schema *openSchema }
	}
	Responses map[string]json.RawMessage
}

type openSchema struct {
	Ref          string `json:"$ref"`
	Type, Format string
	Enum         []string
	Items        *openSchema
	Properties   map[string]*openSchema
	Required     []string
}

// FromOpenAPI returns what an OpenAPI document says of requests, in the form of discovery documents and without any text.
func FromOpenAPI(text []byte) ([]byte, error) {
	var from openAPI
	if err := json.Unmarshal(text, &from); err != nil {
		return nil, fmt.Errorf("decode an OpenAPI document: %w", err)
	}
	out := document{Schemas: map[string]*schema{}, Nulls: true, resource: resource{Methods: map[string]*method{}}}
	for path, operations := range from.Paths {
		for verb, o := range operations {
			m := &method{ID: o.OperationID, HTTPMethod: strings.ToUpper(verb), FlatPath: strings.TrimPrefix(path, "/"),
				Parameters: map[string]parameter{}}
			for _, p := range o.Parameters {
				m.Parameters[p.Name] = parameter{p.In, p.Required}
			}
			for status := range o.Responses {
				m.Success, _ = strconv.Atoi(status) // the documents have one each
			}
			if body := o.RequestBody.Content["application/json"].Schema; body != nil {
				m.Request.Ref = o.OperationID
				out.Schemas[o.OperationID] = from.schema(body, o.OperationID)
			}
			out.Methods[o.OperationID] = m
		}
	}
	return json.MarshalIndent(out, "", " ")
}

// schema returns a schema whose references are resolved; the operation is the one that needs what the schema requires.
func (d *openAPI) schema(s *openSchema, operation string) *schema {
	if name, is := strings.CutPrefix(s.Ref, "#/components/schemas/"); is {
		s = d.Components.Schemas[name]
	}
	out := &schema{Type: s.Type, Format: s.Format, Enum: s.Enum}
	if s.Items != nil {
		out.Items = d.schema(s.Items, operation)
	}
	for name, member := range s.Properties {
		below := d.schema(member, operation)
		if strings.HasPrefix(name, "<") { // the name of a key that users choose
			out.Values = below
			continue
		}
		if out.Properties == nil {
			out.Properties = map[string]*schema{}
		}
		out.Properties[name] = below
	}
	for _, name := range s.Required {
		out.Properties[name].Annotations.Required = []string{operation}
	}
	return out
}
